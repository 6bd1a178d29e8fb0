//! Volumes and claims of the pod.

use std::fmt;

use k8s_openapi::api::core::v1::{
    HostPathVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec,
    PersistentVolumeSpec, PersistentVolumeStatus, Pod as ApiPod, VolumeResourceRequirements,
};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of storage classes that are tried for a claim.
const MAX_CLASSES: usize = 4;
/// The annotation of the default storage class.
const DEFAULT_CLASS_ANNOTATION: &str = "storageclass.kubernetes.io/is-default-class";
/// The annotation of a bound claim.
const BOUND_ANNOTATION: &str = "pv.kubernetes.io/bind-completed";

/// Creates a missing PersistentVolumeClaim of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateClaim {
    /// Name of the claim.
    pub claim: String,
    /// Its storage class, possibly empty.
    pub storage_class: String,
}

/// Creates a PersistentVolume for a claim of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateVolume {
    /// Name of the claim.
    pub claim: String,
    /// The claim's storage class, possibly empty.
    pub storage_class: String,
    /// The claim's size.
    pub size: String,
}

/// Returns the names of the claims that a pod names.
fn claims(pod: &ApiPod) -> Vec<String> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.filter_map(|volume| Some(volume.persistent_volume_claim.as_ref()?.claim_name.clone())).collect()
}

fn key(pod: &ApiPod, claim: &str) -> Key {
    Key::new("PersistentVolumeClaim", schedc_objects::namespace(&pod.metadata), claim)
}

fn claim(fork: &Fork<'_>, pod: &ApiPod, name: &str) -> Option<PersistentVolumeClaim> {
    match fork.get(&key(pod, name)) {
        Some(AnyObject::PersistentVolumeClaim(claim)) => Some(PersistentVolumeClaim::clone(claim)),
        _ => None,
    }
}

fn class(fork: &Fork<'_>, name: &str) -> Option<StorageClass> {
    match fork.get(&Key::cluster("StorageClass", name)) {
        Some(AnyObject::StorageClass(class)) => Some(StorageClass::clone(class)),
        _ => None,
    }
}

fn waits_for_consumer(class: &StorageClass) -> bool {
    class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer")
}

impl CreateClaim {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.subject();
        let is_missing =
            |name: &String| situation.is_pre_filtered(&format!("persistentvolumeclaim {name:?} not found"));
        let mut classes: Vec<(bool, String)> = fork
            .list("StorageClass")
            .filter_map(|object| match object {
                AnyObject::StorageClass(class) => {
                    let annotations = class.metadata.annotations.iter().flatten();
                    let is_default =
                        annotations.into_iter().any(|(key, value)| key == DEFAULT_CLASS_ANNOTATION && value == "true");
                    Some((!is_default, class.metadata.name.clone()?))
                }
                _ => None,
            })
            .collect();
        classes.sort_unstable();
        if classes.is_empty() {
            classes.push((true, String::new()));
        }
        for name in claims(&pod).into_iter().filter(is_missing) {
            for (_, class) in classes.iter().take(MAX_CLASSES) {
                add(CreateClaim { claim: name.clone(), storage_class: class.clone() });
            }
        }
    }
}

impl CreateVolume {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let is_unbound = situation.is_pre_filtered("unbound immediate PersistentVolumeClaims")
            || situation.is_pre_filtered("non-existent persistentvolume")
            || situation.is_pre_filtered("persistentvolume ");
        if !is_unbound && !situation.has("VolumeBinding") {
            return;
        }
        let pod = fork.subject();
        for name in claims(&pod) {
            let Some(spec) = claim(fork, &pod, &name).map(|claim| claim.spec.unwrap_or_default()) else { continue };
            let volume = spec.volume_name.as_deref().filter(|name| !name.is_empty());
            if volume.is_some_and(|volume| fork.get(&Key::cluster("PersistentVolume", volume)).is_some()) {
                continue;
            }
            let requests = spec.resources.and_then(|resources| resources.requests).unwrap_or_default();
            let size = requests.get("storage").map_or_else(|| "1Gi".to_owned(), |size| size.0.clone());
            add(CreateVolume { claim: name, storage_class: spec.storage_class_name.unwrap_or_default(), size });
        }
    }
}

impl Change for CreateClaim {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let pod = fork.subject();
        if claim(fork, &pod, &self.claim).is_some() {
            return false;
        }
        let requests = [("storage".to_owned(), Quantity("1Gi".to_owned()))].into();
        fork.set(PersistentVolumeClaim {
            metadata: ObjectMeta {
                name: Some(self.claim.clone()),
                namespace: Some(schedc_objects::namespace(&pod.metadata).to_owned()),
                ..ObjectMeta::default()
            },
            spec: Some(PersistentVolumeClaimSpec {
                access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
                storage_class_name: Some(self.storage_class.clone()),
                resources: Some(VolumeResourceRequirements { requests: Some(requests), limits: None }),
                ..PersistentVolumeClaimSpec::default()
            }),
            status: None,
        });
        true
    }

    fn disturbance(&self) -> u32 {
        12
    }
}

impl Change for CreateVolume {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let pod = fork.subject();
        let Some(mut claim) = claim(fork, &pod, &self.claim) else { return false };
        let class = class(fork, &self.storage_class);
        let claim_spec = claim.spec.get_or_insert_default();
        let named = claim_spec.volume_name.clone().filter(|name| !name.is_empty());
        // A claim whose class waits for a consumer is bound only when the pod is scheduled.
        let is_bound_now = named.is_some() || class.is_none_or(|class| !waits_for_consumer(&class));
        let name = named.unwrap_or_else(|| format!("for-{}", self.claim));
        let key = Key::cluster("PersistentVolume", name.as_str());
        if fork.get(&key).is_some() {
            return false;
        }
        let reference = ObjectReference {
            kind: Some("PersistentVolumeClaim".to_owned()),
            namespace: Some(schedc_objects::namespace(&claim.metadata).to_owned()),
            name: claim.metadata.name.clone(),
            uid: claim.metadata.uid.clone(),
            ..ObjectReference::default()
        };
        fork.set(PersistentVolume {
            metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() },
            spec: Some(PersistentVolumeSpec {
                capacity: Some([("storage".to_owned(), Quantity(self.size.clone()))].into()),
                access_modes: claim_spec.access_modes.clone(),
                storage_class_name: claim_spec.storage_class_name.clone(),
                volume_mode: claim_spec.volume_mode.clone(),
                claim_ref: is_bound_now.then_some(reference),
                host_path: Some(HostPathVolumeSource { path: format!("/{name}"), type_: None }),
                ..PersistentVolumeSpec::default()
            }),
            status: Some(PersistentVolumeStatus {
                phase: Some(if is_bound_now { "Bound" } else { "Available" }.to_owned()),
                ..PersistentVolumeStatus::default()
            }),
        });
        if is_bound_now {
            claim_spec.volume_name = Some(name);
            claim.status.get_or_insert_default().phase = Some("Bound".to_owned());
            claim.metadata.annotations.get_or_insert_default().insert(BOUND_ANNOTATION.to_owned(), "yes".to_owned());
            fork.set(claim);
        }
        true
    }

    fn disturbance(&self) -> u32 {
        14
    }
}

impl fmt::Display for CreateClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "create the PersistentVolumeClaim {}", self.claim)?;
        if self.storage_class.is_empty() { Ok(()) } else { write!(f, " of storage class {}", self.storage_class) }
    }
}

impl fmt::Display for CreateVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CreateVolume { claim, storage_class, size } = self;
        write!(f, "create a PersistentVolume of {size}")?;
        if !storage_class.is_empty() {
            write!(f, " of storage class {storage_class}")?;
        }
        write!(f, " for claim {claim}")
    }
}
