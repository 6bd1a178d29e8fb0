//! The pods and claims of a workload, as its controller creates them.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use schedc_objects::manifests::{Problem, SourceLocation};
use serde_json::{Value, json};

use schedc_objects::AnyObject;

/// The number of pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replicas {
    /// This many pods.
    Number(usize),
    /// A pod on each node that a DaemonSet selects.
    EachNode,
}

/// A pod, or a workload with its pod template.
#[derive(Clone, Debug)]
pub(crate) struct SubmittedWorkload {
    /// Kind, such as `Deployment`.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name, or a prefix of it.
    pub name: String,
    /// Location of the manifest.
    pub place: SourceLocation,
    /// Number of pods.
    pub replicas: Replicas,
    /// Whether the pods of a Job have an index.
    pub(super) is_indexed: bool,
    /// Ordinal of the first pod of a StatefulSet; 0 for other kinds.
    pub(super) first_ordinal: usize,
    pub(super) selector: Option<Value>,
    pub(super) template_path: &'static str,
    pub(super) template: Pod,
    pub(super) claims: Vec<PersistentVolumeClaim>,
}

/// Returns namespace and name of an object.
pub(super) fn name_of(metadata: &ObjectMeta) -> (String, String) {
    (schedc_objects::namespace(metadata).to_owned(), metadata.name.clone().unwrap_or_default())
}

impl SubmittedWorkload {
    /// Returns kind and name, such as `Deployment shop/web`.
    pub(crate) fn title(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }

    /// Returns the template of the pods.
    pub(crate) fn template(&self) -> &Pod {
        &self.template
    }

    /// Returns the template of the pods, for changes.
    pub(crate) fn template_mut(&mut self) -> &mut Pod {
        &mut self.template
    }

    /// Replaces the name of a Pod manifest by a prefix, so that each of its pods gets a generated name.
    pub(crate) fn generate_names(&mut self) {
        let metadata = &mut self.template.metadata;
        if let Some(name) = metadata.name.take() {
            metadata.generate_name = Some(format!("{name}-"));
        }
    }

    /// Returns a problem of this workload.
    pub(crate) fn problem(&self, field: &str, message: impl Into<String>) -> Problem {
        Problem {
            place: self.place.clone(),
            object: Some(self.title()),
            field: Some(field.to_owned()),
            message: message.into(),
        }
    }

    /// Converts a problem of a pod to a problem of its template.
    pub(super) fn own_problem(&self, problem: Problem) -> Problem {
        let field = match (self.template_path, problem.field) {
            ("", field) => field,
            (path, Some(field)) => Some(format!("{path}.{field}")),
            (path, None) => Some(path.to_owned()),
        };
        Problem { object: Some(self.title()), field, ..problem }
    }

    /// Returns the controller of the pods: API version, kind and name; `None` for a Pod manifest. The pods of a
    /// Deployment belong to its ReplicaSet, and those of a CronJob to its Job.
    fn owner(&self) -> Option<(&'static str, &'static str, String)> {
        Some(match self.kind.as_str() {
            "ReplicationController" => ("v1", "ReplicationController", self.name.clone()),
            "ReplicaSet" => ("apps/v1", "ReplicaSet", self.name.clone()),
            "StatefulSet" => ("apps/v1", "StatefulSet", self.name.clone()),
            "DaemonSet" => ("apps/v1", "DaemonSet", self.name.clone()),
            "Deployment" => ("apps/v1", "ReplicaSet", format!("{}-{}", self.name, self.template_hash())),
            "Job" => ("batch/v1", "Job", self.name.clone()),
            // The CronJob controller appends the time of the run in minutes, not 1.
            "CronJob" => ("batch/v1", "Job", format!("{}-1", self.name)),
            _ => return None,
        })
    }

    /// Returns a hash of the template, in place of the hash that the Deployment controller computes.
    fn template_hash(&self) -> String {
        let text = serde_json::to_string(&self.template).unwrap_or_default();
        let fnv = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        format!("{fnv:08x}")
    }

    /// Returns the objects of this workload that other components read. For example, the ReplicaSet of a Deployment
    /// determines the expected pods of a disruption budget.
    pub(crate) fn controllers(&self) -> Vec<AnyObject> {
        let Some((version, kind, name)) = self.owner() else { return Vec::new() };
        let replicas = match self.replicas {
            Replicas::Number(number) => number,
            Replicas::EachNode => return Vec::new(),
        };
        let object = |kind: &str, name: &str, owners: Value| {
            json!({
                "apiVersion": version, "kind": kind,
                "metadata": {
                    "namespace": self.namespace, "name": name, "uid": self.uid(kind, name), "ownerReferences": owners,
                },
                "spec": {"replicas": replicas, "selector": self.selector},
            })
        };
        let mut objects = Vec::new();
        let owners = match self.kind.as_str() {
            "Deployment" => {
                objects.push(("Deployment", object("Deployment", &self.name, json!([]))));
                json!([{
                    "apiVersion": "apps/v1", "kind": "Deployment", "name": self.name, "controller": true,
                    "uid": self.uid("Deployment", &self.name),
                }])
            }
            _ => json!([]),
        };
        objects.push((kind, object(kind, &name, owners)));
        // Objects of kinds that schedulers ignore, such as Job, are left out. No object is invalid.
        let read = |(kind, value)| AnyObject::from_json(version, kind, value).ok().flatten();
        objects.into_iter().filter_map(read).collect()
    }

    fn uid(&self, kind: &str, name: &str) -> String {
        format!("{kind}/{}/{name}", self.namespace)
    }

    /// Returns a pod, before the defaults of an API server.
    pub(super) fn pod(&self, ordinal: usize) -> Pod {
        let mut pod = self.template.clone();
        let metadata = &mut pod.metadata;
        metadata.namespace = Some(self.namespace.clone());
        let Some((api_version, kind, owner)) = self.owner() else { return pod };
        let uid = self.uid(kind, &owner);
        metadata.name = None;
        metadata.generate_name = Some(format!("{owner}-"));
        let labels = metadata.labels.get_or_insert_default();
        let mut label = |key: &str, value: String| labels.insert(key.to_owned(), value);
        match self.kind.as_str() {
            "StatefulSet" => {
                let name = self.ordinal_name(ordinal);
                label("statefulset.kubernetes.io/pod-name", name.clone());
                label("apps.kubernetes.io/pod-index", (self.first_ordinal + ordinal).to_string());
                metadata.name = Some(name);
                metadata.generate_name = None;
            }
            "Deployment" => _ = label("pod-template-hash", self.template_hash()),
            "Job" | "CronJob" => {
                for key in ["batch.kubernetes.io/job-name", "job-name"] {
                    label(key, owner.clone());
                }
                for key in ["batch.kubernetes.io/controller-uid", "controller-uid"] {
                    label(key, uid.replace('/', "."));
                }
                if self.is_indexed {
                    label("batch.kubernetes.io/job-completion-index", ordinal.to_string());
                }
            }
            _ => {}
        }
        metadata.owner_references = Some(vec![OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: owner,
            uid,
            controller: Some(true),
            block_owner_deletion: Some(true),
        }]);
        if !self.claims.is_empty() {
            self.add_claims(&mut pod, ordinal);
        }
        pod
    }

    fn ordinal_name(&self, ordinal: usize) -> String {
        format!("{}-{}", self.name, self.first_ordinal + ordinal)
    }

    fn claim_name(&self, claim: &PersistentVolumeClaim, ordinal: usize) -> String {
        format!("{}-{}", claim.metadata.name.as_deref().unwrap_or_default(), self.ordinal_name(ordinal))
    }

    /// Adds a volume for each of the pod's claims.
    fn add_claims(&self, pod: &mut Pod, ordinal: usize) {
        let volumes = pod.spec.get_or_insert_default().volumes.get_or_insert_default();
        for claim in &self.claims {
            let name = claim.metadata.name.clone().unwrap_or_default();
            volumes.retain(|volume| volume.name != name);
            volumes.push(Volume {
                name,
                persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                    claim_name: self.claim_name(claim, ordinal),
                    ..PersistentVolumeClaimVolumeSource::default()
                }),
                ..Volume::default()
            });
        }
    }

    /// Returns the claims of a StatefulSet's pod.
    pub(super) fn claims(&self, ordinal: usize) -> Vec<PersistentVolumeClaim> {
        let claim = |template: &PersistentVolumeClaim| {
            let mut claim = template.clone();
            claim.metadata.name = Some(self.claim_name(template, ordinal));
            claim.metadata.namespace = Some(self.namespace.clone());
            claim
        };
        self.claims.iter().map(claim).collect()
    }
}
