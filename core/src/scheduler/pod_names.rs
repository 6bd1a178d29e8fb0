//! Pods by namespace and name. No two known pods have the same namespace and name.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::model::intern::Symbol;
use crate::model::map::FixedHasher;
use crate::model::{Pod, Uid};

/// The latest received version of each known pod. The table stores no copies of names and uids.
#[derive(Default)]
pub(super) struct PodNames {
    /// Each pod has a part of the hash of its namespace and name. Without the stored hashes, a table that grows would
    /// read all pods.
    pods: HashTable<(u32, Arc<Pod>)>,
}

impl PodNames {
    /// Returns the uid of the pod with this name.
    pub(super) fn get(&self, namespace: Symbol, name: &str) -> Option<&Uid> {
        let hash = hash(namespace, name);
        self.pods.find(wide(hash), has_name(hash, namespace, name)).map(|(_, pod)| &pod.uid)
    }

    /// Inserts a pod, or replaces the one with its name.
    pub(super) fn insert(&mut self, pod: Arc<Pod>) {
        let (namespace, name) = (pod.spec.namespace, &*pod.name);
        let hash = hash(namespace, name);
        match self.pods.find_mut(wide(hash), has_name(hash, namespace, name)) {
            Some((_, known)) => *known = pod,
            None => _ = self.pods.insert_unique(wide(hash), (hash, pod), |&(hash, _)| wide(hash)),
        }
    }

    /// Removes a pod, unless another pod with its name has replaced it.
    pub(super) fn remove(&mut self, pod: &Pod) {
        let hash = hash(pod.spec.namespace, &pod.name);
        let found = self.pods.find_entry(wide(hash), |(_, known)| known.uid == pod.uid);
        if let Ok(found) = found {
            found.remove();
        }
    }

    /// Returns the uids of all pods, unordered.
    pub(super) fn uids(&self) -> impl Iterator<Item = &Uid> {
        self.pods.iter().map(|(_, pod)| &pod.uid)
    }
}

fn has_name(hash: u32, namespace: Symbol, name: &str) -> impl Fn(&(u32, Arc<Pod>)) -> bool {
    move |(other, pod)| *other == hash && *pod.name == *name && pod.spec.namespace == namespace
}

fn hash(namespace: Symbol, name: &str) -> u32 {
    let mut hasher = FixedHasher::default();
    (namespace, name).hash(&mut hasher);
    hasher.finish() as u32
}

/// Spreads a hash, because the table uses the lowest and the highest bits.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, uid: &str) -> Arc<Pod> {
        Arc::new(Pod { name: name.into(), uid: Uid(uid.into()), ..Pod::default() })
    }

    #[test]
    fn a_recreated_pod_replaces_the_one_with_its_name() {
        let mut names = PodNames::default();
        let [old, new, other] = [pod("web-1", "a"), pod("web-1", "b"), pod("web-2", "c")];
        [&old, &other, &new].into_iter().for_each(|pod| names.insert(pod.clone()));
        names.remove(&old);
        let uid = |name| names.get(Symbol::EMPTY, name).map(|uid| &*uid.0);
        assert_eq!([uid("web-1"), uid("web-2"), uid("web-3")], [Some("b"), Some("c"), None]);
        names.remove(&new);
        assert_eq!((names.get(Symbol::EMPTY, "web-1"), names.uids().count()), (None, 1));
    }
}
