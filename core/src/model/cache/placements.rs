//! Pods that have a node.

use std::sync::Arc;

use hashbrown::HashTable;

use super::PodState;
use crate::model::intern::Symbol;
use crate::model::map::hash_of_uid as hash;
use crate::model::{Pod, Uid};

/// A pod on a node.
pub(super) struct PlacedPod {
    pub(super) pod: Arc<Pod>,
    pub(super) node: Symbol,
    pub(super) state: PodState,
}

/// Proof that a pod has no node, with the hash of its uid. Valid until a pod is inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnplacedPod {
    hash: u64,
}

/// All pods with a node, by uid. The table stores no copy of the uid.
#[derive(Default)]
pub(super) struct Placements {
    by_uid: HashTable<PlacedPod>,
}

impl Placements {
    #[inline]
    pub(super) fn get(&self, uid: &Uid) -> Option<&PlacedPod> {
        self.by_uid.find(hash(uid), |placed| placed.pod.uid == *uid)
    }
    pub(super) fn get_mut(&mut self, uid: &Uid) -> Option<&mut PlacedPod> {
        self.by_uid.find_mut(hash(uid), |placed| placed.pod.uid == *uid)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &PlacedPod> {
        self.by_uid.iter()
    }

    /// Inserts a pod. Returns its previous value.
    pub(super) fn insert(&mut self, placed: PlacedPod) -> Option<PlacedPod> {
        match self.get_mut(&placed.pod.uid) {
            Some(known) => Some(std::mem::replace(known, placed)),
            None => {
                self.by_uid.insert_unique(hash(&placed.pod.uid), placed, |placed| hash(&placed.pod.uid));
                None
            }
        }
    }

    /// Returns the proof that a pod has no node; `None` if it has one.
    #[inline]
    pub(super) fn unplaced(&self, uid: &Uid) -> Option<UnplacedPod> {
        let hash = hash(uid);
        self.by_uid.find(hash, |placed| placed.pod.uid == *uid).is_none().then_some(UnplacedPod { hash })
    }

    /// Inserts a pod that has no node yet.
    #[inline]
    pub(super) fn insert_unplaced(&mut self, placed: PlacedPod, unplaced: UnplacedPod) {
        debug_assert!(self.unplaced(&placed.pod.uid).is_some_and(|now| now.hash == unplaced.hash));
        self.by_uid.insert_unique(unplaced.hash, placed, |placed| hash(&placed.pod.uid));
    }

    pub(super) fn remove(&mut self, uid: &Uid) -> Option<PlacedPod> {
        let found = self.by_uid.find_entry(hash(uid), |placed| placed.pod.uid == *uid);
        found.ok().map(|found| found.remove().0)
    }
}
