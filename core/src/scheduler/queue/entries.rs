//! Storage of the queue's pods: each has one slot, which is stable while the pod is known.

use std::ops::{Index, IndexMut};

use hashbrown::HashTable;
use slab::Slab;

use super::QueuePlace;
use crate::model::Uid;
use crate::model::map::hash_of_uid;
use crate::plugin_api::extension_points::QueuedPod;

/// A slot of the queue.
pub(super) type Slot = u32;

/// A pod in the queue. There may be millions: an entry fits into one cache line.
pub(super) struct Entry {
    pub(super) queued: QueuedPod,
    /// For a pod in a heap, the number of its arrival. For a pod in flight, the number of its attempt.
    pub(super) ticket: u64,
    /// Start of the window in which its backoff ends; `i64::MIN` if there is no backoff.
    pub(super) ready: i64,
    /// Time when it was last parked. Exception: for a pod that is not gated and has never failed, the time since when
    /// it can be attempted.
    pub(super) since: i64,
    pub(super) profile: u16,
    /// The group of its rejectors and gate.
    pub(super) group: u32,
    /// Its position in the heap or in the list of its group.
    pub(super) at: u32,
    /// Number of failed attempts with rejectors, at most 255: backoff stops growing earlier.
    pub(super) unschedulable: u8,
    /// Number of the latest consecutive attempts that failed without rejectors, usually with an error; at most 255.
    pub(super) errors: u8,
    pub(super) place: QueuePlace,
    /// Whether it left the unschedulable pods because of `podMaxInUnschedulablePodsDuration`.
    pub(super) flushed: bool,
    /// Whether it was deleted, or bound by another scheduler, while in flight. It is removed when its attempt ends.
    pub(super) gone: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Entry>() == 64);

impl Entry {
    /// Returns whether an attempt failed already.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.unschedulable > 0 || self.errors > 0
    }
}

/// All entries, by slot and by pod uid.
#[derive(Default)]
pub(super) struct Entries {
    slots: Slab<Entry>,
    /// Hashes of uids with slots. Only the entries have the uids themselves.
    by_uid: HashTable<(u32, Slot)>,
}

fn hash(uid: &Uid) -> u32 {
    hash_of_uid(uid) as u32
}

/// Spreads a hash, because the table uses the lowest and the highest bits.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
    /// Returns the number of slots, in use or not.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.capacity()
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().map(|(_, entry)| entry)
    }
    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.slots.get(slot as usize)
    }
    pub(super) fn find(&self, uid: &Uid) -> Option<Slot> {
        let hash = hash(uid);
        let has_uid = |&(other, slot): &(u32, Slot)| other == hash && self[slot].queued.pod.uid == *uid;
        self.by_uid.find(wide(hash), has_uid).map(|&(_, slot)| slot)
    }
    /// Inserts a new pod.
    pub(super) fn insert(&mut self, entry: Entry) -> Slot {
        let hash = hash(&entry.queued.pod.uid);
        let slot = self.slots.insert(entry) as Slot;
        self.by_uid.insert_unique(wide(hash), (hash, slot), |&(hash, _)| wide(hash));
        slot
    }
    pub(super) fn remove(&mut self, slot: Slot) {
        let entry = self.slots.remove(slot as usize);
        if let Ok(found) = self.by_uid.find_entry(wide(hash(&entry.queued.pod.uid)), |found| found.1 == slot) {
            found.remove();
        }
    }
}

impl Index<Slot> for Entries {
    type Output = Entry;
    #[inline]
    fn index(&self, slot: Slot) -> &Entry {
        &self.slots[slot as usize]
    }
}
impl IndexMut<Slot> for Entries {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.slots[slot as usize]
    }
}
