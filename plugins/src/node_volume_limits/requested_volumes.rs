//! The volumes of the pod.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Pod, Volume};
use smallvec::SmallVec;

use super::{CountableVolumes, NO_NAME, not_owner};
use crate::indexes::{AttachedVolumes, CountedVolume};

/// Reason why volumes cannot be counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) text: Arc<str>,
    /// Whether the pod is unschedulable; otherwise the attempt fails.
    pub(super) unresolvable: bool,
}

/// The counted volumes of the pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RequestedVolumes {
    /// The distinct volumes.
    pub(super) volumes: SmallVec<[CountedVolume; 2]>,
    /// The number of volumes of each driver.
    pub(super) drivers: SmallVec<[(Symbol, i64); 2]>,
    /// Failure on nodes with a CSINode. Only there, in-tree volumes are translated.
    failure: Option<Failure>,
    /// Failure on nodes without a CSINode.
    failure_without_csi_node: Option<Failure>,
}

impl RequestedVolumes {
    /// Reads the pod's volumes in order. The first invalid volume determines the failure (`filterAttachableVolumes`).
    pub(super) fn read(pod: &CountableVolumes, index: &AttachedVolumes, interner: &Interner) -> Self {
        let mut requested = RequestedVolumes::default();
        for volume in &pod.volumes {
            let failure = match volume {
                Volume::InTree { csi: Ok(csi) } => {
                    requested.volumes.extend(csi.map(CountedVolume::Csi));
                    continue;
                }
                Volume::InTree { csi: Err(text) } => Failure { text: text.clone(), unresolvable: false },
                _ => match claim_failure(pod.namespace, volume, index, interner) {
                    Some(failure) => {
                        requested.failure_without_csi_node.get_or_insert_with(|| failure.clone());
                        failure
                    }
                    None => {
                        let claim = volume.claim().unwrap_or(Symbol::EMPTY);
                        requested.volumes.extend(index.counted(pod.namespace, claim));
                        continue;
                    }
                },
            };
            requested.failure.get_or_insert(failure);
        }
        requested.volumes.sort_unstable();
        requested.volumes.dedup();
        for volume in &requested.volumes {
            match requested.drivers.iter_mut().find(|(driver, _)| *driver == volume.driver()) {
                Some((_, count)) => *count += 1,
                None => requested.drivers.push((volume.driver(), 1)),
            }
        }
        requested
    }

    /// Returns why the pod's volumes cannot be counted on a node.
    pub(super) fn failure(&self, has_csi_node: bool) -> Option<&Failure> {
        if has_csi_node { self.failure.as_ref() } else { self.failure_without_csi_node.as_ref() }
    }

    /// Returns whether there are nodes on which the volumes cannot be counted.
    pub(super) fn fails(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns whether no node can ever be full for the pod, regardless of added pods.
    pub(super) fn is_unlimited(&self, index: &AttachedVolumes) -> bool {
        !index.any_limit() && !self.fails()
    }

    /// Returns whether the pod has volumes of a driver.
    pub(super) fn has_driver(&self, driver: Symbol) -> bool {
        self.drivers.iter().any(|(requested, _)| *requested == driver)
    }
}

/// Returns the error in the claim of a volume of the pod.
fn claim_failure(namespace: Symbol, volume: &Volume, index: &AttachedVolumes, interner: &Interner) -> Option<Failure> {
    let name = volume.claim()?;
    if index.claim(namespace, name).is_none() && name != Symbol::EMPTY {
        let (namespace, name) = (interner.resolve(namespace), interner.resolve(name));
        let text = format!("looking up PVC {namespace}/{name}: persistentvolumeclaim {name:?} not found");
        return Some(Failure { text: text.into(), unresolvable: true });
    }
    let text = owner_failure(namespace, volume, index, interner)?;
    Some(Failure { text, unresolvable: false })
}

/// Returns the error in the ownership of a volume's claim.
fn owner_failure(namespace: Symbol, volume: &Volume, index: &AttachedVolumes, interner: &Interner) -> Option<Arc<str>> {
    let name = volume.claim()?;
    if name == Symbol::EMPTY {
        return Some(NO_NAME.into());
    }
    let Volume::Ephemeral { pod, pod_name, .. } = volume else { return None };
    let owner = index.claim(namespace, name)?.controller.as_ref();
    (owner != Some(pod)).then(|| not_owner(interner, namespace, name, *pod_name))
}

/// Returns why the volumes of a running pod cannot be counted. Claims that do not exist are ignored.
pub(super) fn running_pod_failure(pod: &Pod, index: &AttachedVolumes, interner: &Interner) -> Option<Arc<str>> {
    pod.spec.volumes.iter().find_map(|volume| match volume {
        Volume::InTree { csi: Err(text) } => Some(text.clone()),
        _ => owner_failure(pod.spec.namespace, volume, index, interner),
    })
}
