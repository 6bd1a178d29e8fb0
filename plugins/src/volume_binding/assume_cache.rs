//! What placed pods' claims will be bound to, before the cluster says so: kube-scheduler's assume caches.

use std::hash::Hash;
use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{ClaimRef, PersistentVolume, PersistentVolumeClaim};

use crate::indexes::{ClaimKey, Volumes};

/// Changed volumes and claims, laid over those that the cluster has.
#[derive(Debug, Default)]
pub(super) struct AssumeCache {
    volumes: Map<Symbol, Assumption<PersistentVolume>>,
    claims: Map<ClaimKey, Assumption<PersistentVolumeClaim>>,
    /// So many entries are looked through before there may be more: half of them may be out of date.
    cleanup_threshold: usize,
}

/// An object as it is assumed to be. Void once the cluster has another version of it.
#[derive(Debug)]
struct Assumption<T> {
    version: Arc<T>,
    assumed: Arc<T>,
}

impl AssumeCache {
    /// A volume of the cluster, or what is assumed of it.
    pub(super) fn volume<'a>(&'a self, current: &'a Arc<PersistentVolume>) -> &'a Arc<PersistentVolume> {
        latest(&self.volumes, &current.name, current)
    }

    /// A claim of the cluster, or what is assumed of it.
    pub(super) fn claim<'a>(&'a self, current: &'a Arc<PersistentVolumeClaim>) -> &'a Arc<PersistentVolumeClaim> {
        latest(&self.claims, &(current.namespace, current.name), current)
    }

    /// The volume goes to the claim. Nothing if it does already.
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

    /// The claim's volume is made for a node. Nothing if it is already.
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

    /// What [`AssumeCache::bind`] gave does not hold after all.
    pub(super) fn revert_volume(&mut self, assumed: &Arc<PersistentVolume>) {
        revert(&mut self.volumes, &assumed.name, assumed);
    }

    /// What [`AssumeCache::provision`] gave does not hold after all.
    pub(super) fn revert_claim(&mut self, assumed: &Arc<PersistentVolumeClaim>) {
        revert(&mut self.claims, &(assumed.namespace, assumed.name), assumed);
    }

    /// Number of entries, void ones included.
    pub(super) fn len(&self) -> usize {
        self.volumes.len() + self.claims.len()
    }

    /// Drops what is void, each time that the number of entries has doubled.
    fn drop_outdated(&mut self, cluster: &Volumes) {
        const MIN_CLEANUP: usize = 64;
        if self.len() < self.cleanup_threshold.max(MIN_CLEANUP) {
            return;
        }
        let holds = |name: &Symbol, assumption: &mut Assumption<PersistentVolume>| {
            cluster.volume(*name).is_some_and(|current| Arc::ptr_eq(current, &assumption.version))
        };
        self.volumes.retain(holds);
        let holds = |&(namespace, name): &ClaimKey, assumption: &mut Assumption<PersistentVolumeClaim>| {
            cluster.claim(namespace, name).is_some_and(|current| Arc::ptr_eq(current, &assumption.version))
        };
        self.claims.retain(holds);
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
