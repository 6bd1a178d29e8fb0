//! The pods that have a node.

use std::hash::Hasher;
use std::sync::Arc;

use hashbrown::HashTable;

use super::PodState;
use crate::intern::Symbol;
use crate::map::FixedHasher;
use crate::model::{Pod, Uid};

/// A pod on a node.
pub(super) struct Placed {
    pub(super) pod: Arc<Pod>,
    pub(super) node: Symbol,
    pub(super) state: PodState,
}

/// All of them, by uid, which is in the pod and nowhere else.
#[derive(Default)]
pub(super) struct Placements {
    by_uid: HashTable<Placed>,
}

#[inline]
fn hash(uid: &Uid) -> u64 {
    let mut hasher = FixedHasher::default();
    hasher.write(uid.0.as_bytes());
    hasher.finish()
}

impl Placements {
    #[inline]
    pub(super) fn get(&self, uid: &Uid) -> Option<&Placed> {
        self.by_uid.find(hash(uid), |placed| placed.pod.uid == *uid)
    }
    pub(super) fn get_mut(&mut self, uid: &Uid) -> Option<&mut Placed> {
        self.by_uid.find_mut(hash(uid), |placed| placed.pod.uid == *uid)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Placed> {
        self.by_uid.iter()
    }

    /// Takes a pod in. Returns what was known of it.
    pub(super) fn insert(&mut self, placed: Placed) -> Option<Placed> {
        match self.get_mut(&placed.pod.uid) {
            Some(known) => Some(std::mem::replace(known, placed)),
            None => {
                self.by_uid.insert_unique(hash(&placed.pod.uid), placed, |placed| hash(&placed.pod.uid));
                None
            }
        }
    }

    /// The same for one that is not there yet: else nothing changes, and it returns false.
    #[inline]
    pub(super) fn insert_new(&mut self, placed: Placed) -> bool {
        let uid = &placed.pod.uid;
        let hash_of_uid = hash(uid);
        if self.by_uid.find(hash_of_uid, |known| known.pod.uid == *uid).is_some() {
            return false;
        }
        self.by_uid.insert_unique(hash_of_uid, placed, |placed| hash(&placed.pod.uid));
        true
    }

    pub(super) fn remove(&mut self, uid: &Uid) -> Option<Placed> {
        let found = self.by_uid.find_entry(hash(uid), |placed| placed.pod.uid == *uid);
        found.ok().map(|found| found.remove().0)
    }
}
