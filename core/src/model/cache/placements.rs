//! Pods that have a node.

use std::sync::Arc;

use hashbrown::HashTable;

use super::PodState;
use crate::model::intern::Symbol;
use crate::model::map::hash_of_uid as hash;
use crate::model::{Pod, Uid};

/// Minimum free places of the table after a pod was added outside of a decision.
const FREE_PLACES: usize = 64;

/// A pod on a node.
pub(super) struct PlacedPod {
    pub(super) pod: Arc<Pod>,
    pub(super) node: Symbol,
    pub(super) state: PodState,
}

/// A pod with the hash of its uid: a growing table does not read the pods.
struct Place {
    hash: u64,
    placed: PlacedPod,
}

impl Place {
    #[inline]
    fn is_of(&self, hash: u64, uid: &Uid) -> bool {
        self.hash == hash && self.placed.pod.uid == *uid
    }
}

/// Proof that a pod has no node, with the hash of its uid. Valid until a pod is inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnplacedPod {
    hash: u64,
}

/// All pods with a node, by uid. The table stores no copy of the uid.
#[derive(Default)]
pub(super) struct Placements {
    by_uid: HashTable<Place>,
}

impl Placements {
    #[inline]
    pub(super) fn get(&self, uid: &Uid) -> Option<&PlacedPod> {
        let hash = hash(uid);
        self.by_uid.find(hash, |place| place.is_of(hash, uid)).map(|place| &place.placed)
    }
    pub(super) fn get_mut(&mut self, uid: &Uid) -> Option<&mut PlacedPod> {
        let hash = hash(uid);
        self.by_uid.find_mut(hash, |place| place.is_of(hash, uid)).map(|place| &mut place.placed)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &PlacedPod> {
        self.by_uid.iter().map(|place| &place.placed)
    }

    /// Inserts a pod. Returns its previous value. Called outside of decisions: then the table need not grow in the next
    /// ones.
    pub(super) fn insert(&mut self, placed: PlacedPod) -> Option<PlacedPod> {
        let hash = hash(&placed.pod.uid);
        let known = self.by_uid.find_mut(hash, |place| place.is_of(hash, &placed.pod.uid));
        let old = match known {
            Some(known) => Some(std::mem::replace(&mut known.placed, placed)),
            None => {
                self.insert_new(hash, placed);
                None
            }
        };
        self.by_uid.reserve(FREE_PLACES, |place| place.hash);
        old
    }

    /// Returns the proof that a pod has no node; `None` if it has one.
    #[inline]
    pub(super) fn unplaced(&self, uid: &Uid) -> Option<UnplacedPod> {
        let hash = hash(uid);
        // Usually, no pod has the same hash, and no uid is compared.
        let is_unplaced = self.by_uid.find(hash, |place| place.hash == hash).is_none() || self.get(uid).is_none();
        is_unplaced.then_some(UnplacedPod { hash })
    }

    /// Inserts a pod that has no node yet.
    #[inline]
    pub(super) fn insert_unplaced(&mut self, placed: PlacedPod, unplaced: UnplacedPod) {
        debug_assert!(self.unplaced(&placed.pod.uid).is_some_and(|now| now.hash == unplaced.hash));
        self.insert_new(unplaced.hash, placed);
    }

    #[inline]
    fn insert_new(&mut self, hash: u64, placed: PlacedPod) {
        self.by_uid.insert_unique(hash, Place { hash, placed }, |place| place.hash);
    }

    pub(super) fn remove(&mut self, uid: &Uid) -> Option<PlacedPod> {
        let hash = hash(uid);
        let found = self.by_uid.find_entry(hash, |place| place.is_of(hash, uid));
        found.ok().map(|found| found.remove().0.placed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(uid: usize) -> PlacedPod {
        let pod = Arc::new(Pod { uid: Uid(uid.to_string().into()), ..Pod::default() });
        PlacedPod { pod, node: Symbol::EMPTY, state: PodState::Bound }
    }

    #[test]
    fn the_table_does_not_grow_in_a_decision_after_another_pod_was_added() {
        let mut placements = Placements::default();
        for uid in 0..2000 {
            let pod = placed(2 * uid);
            assert!(placements.insert(placed(2 * uid + 1)).is_none());
            let unplaced = placements.unplaced(&pod.pod.uid).unwrap();
            let capacity = placements.by_uid.capacity();
            placements.insert_unplaced(pod, unplaced);
            assert_eq!(placements.by_uid.capacity(), capacity);
        }
        assert!((0..4000).all(|uid| placements.get(&placed(uid).pod.uid).is_some()));
        assert!(placements.unplaced(&placed(7).pod.uid).is_none());
    }

    #[test]
    fn pods_with_equal_hashes_are_distinguished() {
        let (one, other) = (placed(1), placed(2));
        let (uid, hash) = (one.pod.uid.clone(), hash(&other.pod.uid));
        let mut placements = Placements::default();
        placements.insert_new(hash, one);
        assert!(placements.unplaced(&other.pod.uid).is_some() && placements.get(&other.pod.uid).is_none());
        assert!(placements.by_uid.find(hash, |place| place.is_of(hash, &uid)).is_some());
    }
}
