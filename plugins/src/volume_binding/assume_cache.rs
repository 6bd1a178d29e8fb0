//! Assumed bindings of placed pods' claims until the cluster has them: kube-scheduler's assume caches.

use std::hash::Hash;
use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{ClaimRef, PersistentVolume, PersistentVolumeClaim};

use crate::indexes::{ClaimKey, Volumes};

/// Assumed states of volumes and claims, which override those of the cluster.
#[derive(Debug, Default)]
pub(super) struct AssumeCache {
    volumes: Map<Symbol, Assumption<PersistentVolume>>,
    claims: Map<ClaimKey, Assumption<PersistentVolumeClaim>>,
    /// Number of entries at which outdated entries are removed: twice the number after the last removal, but at least
    /// 64.
    cleanup_threshold: usize,
}

/// An assumed object. It is outdated when the cluster has another version of the object than `version`.
#[derive(Debug)]
struct Assumption<T> {
    version: Arc<T>,
    assumed: Arc<T>,
}

impl AssumeCache {
    /// Returns a volume, as assumed or as in the cluster.
    pub(super) fn volume<'a>(&'a self, current: &'a Arc<PersistentVolume>) -> &'a Arc<PersistentVolume> {
        latest(&self.volumes, &current.name, current)
    }

    /// Returns a claim, as assumed or as in the cluster.
    pub(super) fn claim<'a>(&'a self, current: &'a Arc<PersistentVolumeClaim>) -> &'a Arc<PersistentVolumeClaim> {
        latest(&self.claims, &(current.namespace, current.name), current)
    }

    /// Assumes that the volume is bound to the claim. Returns `None` if it already is, or if the volume does not exist.
    pub(super) fn bind(
        &mut self,
        cluster: &Volumes,
        volume: &PersistentVolume,
        claim: &PersistentVolumeClaim,
    ) -> Option<Arc<PersistentVolume>> {
        let wanted = ClaimRef { namespace: claim.namespace, name: claim.name, uid: Some(claim.uid.clone()) };
        if volume.claim.as_ref() == Some(&wanted) {
            return None;
        }
        let version = cluster.volume(volume.name)?.clone();
        let assumed = Arc::new(PersistentVolume { claim: Some(wanted), ..volume.clone() });
        self.drop_outdated(cluster);
        self.volumes.insert(volume.name, Assumption { version, assumed: assumed.clone() });
        Some(assumed)
    }

    /// Assumes that the claim's volume is provisioned for a node. Returns `None` if the claim already has this selected
    /// node, or does not exist.
    pub(super) fn provision(
        &mut self,
        cluster: &Volumes,
        claim: &PersistentVolumeClaim,
        node: Symbol,
    ) -> Option<Arc<PersistentVolumeClaim>> {
        let (namespace, name) = (claim.namespace, claim.name);
        let version = cluster.claim(namespace, name)?.clone();
        if self.claim(&version).selected_node == Some(node) {
            return None;
        }
        let assumed = Arc::new(PersistentVolumeClaim { selected_node: Some(node), ..claim.clone() });
        self.drop_outdated(cluster);
        self.claims.insert((namespace, name), Assumption { version, assumed: assumed.clone() });
        Some(assumed)
    }

    /// Reverts an assumption of [`AssumeCache::bind`].
    pub(super) fn revert_volume(&mut self, assumed: &Arc<PersistentVolume>) {
        revert(&mut self.volumes, &assumed.name, assumed);
    }

    /// Reverts an assumption of [`AssumeCache::provision`].
    pub(super) fn revert_claim(&mut self, assumed: &Arc<PersistentVolumeClaim>) {
        revert(&mut self.claims, &(assumed.namespace, assumed.name), assumed);
    }

    /// Returns the number of entries, including outdated ones.
    pub(super) fn len(&self) -> usize {
        self.volumes.len() + self.claims.len()
    }

    /// Removes outdated entries, whenever the number of entries has doubled.
    fn drop_outdated(&mut self, cluster: &Volumes) {
        const MIN_CLEANUP: usize = 64;
        if self.len() < self.cleanup_threshold.max(MIN_CLEANUP) {
            return;
        }
        let is_current = |name: &Symbol, assumption: &mut Assumption<PersistentVolume>| {
            cluster.volume(*name).is_some_and(|current| Arc::ptr_eq(current, &assumption.version))
        };
        self.volumes.retain(is_current);
        let is_current = |&(namespace, name): &ClaimKey, assumption: &mut Assumption<PersistentVolumeClaim>| {
            cluster.claim(namespace, name).is_some_and(|current| Arc::ptr_eq(current, &assumption.version))
        };
        self.claims.retain(is_current);
        self.cleanup_threshold = 2 * self.len();
    }
}

fn latest<'a, K: Eq + Hash, T>(assumptions: &'a Map<K, Assumption<T>>, key: &K, current: &'a Arc<T>) -> &'a Arc<T> {
    match assumptions.get(key) {
        Some(assumption) if Arc::ptr_eq(&assumption.version, current) => &assumption.assumed,
        _ => current,
    }
}

fn revert<K: Eq + Hash, T>(assumptions: &mut Map<K, Assumption<T>>, key: &K, assumed: &Arc<T>) {
    if assumptions.get(key).is_some_and(|assumption| Arc::ptr_eq(&assumption.assumed, assumed)) {
        assumptions.remove(key);
    }
}
