//! Where the queue keeps its pods: a slot each, which never moves while the pod is known.

use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};

use hashbrown::HashTable;
use slab::Slab;

use super::QueuePlace;
use crate::extension_points::QueuedPod;
use crate::map::FixedHasher;
use crate::model::Uid;

/// A slot of the queue.
pub(super) type Slot = u32;

/// A pod that the queue knows. There may be millions: a line of the processor's cache each.
pub(super) struct Entry {
    pub(super) queued: QueuedPod,
    /// In a heap, its number in order of arrival there; in flight, the number of the attempt.
    pub(super) ticket: u64,
    /// When its backoff ends, down to a window; `i64::MIN` if there is none.
    pub(super) ready: i64,
    /// Since when it is parked. For one that was never parked, or only gated: since when it can be tried.
    pub(super) since: i64,
    pub(super) profile: u16,
    /// What it failed by, and what holds it now.
    pub(super) group: u32,
    /// Its position in the heap or in the list of its group.
    pub(super) at: u32,
    /// How many attempts found it unschedulable, if not more: no backoff is longer after that.
    pub(super) unschedulable: u8,
    /// How many attempts in a row broke, the last one included. As above.
    pub(super) errors: u8,
    pub(super) place: QueuePlace,
    /// It came out of the unschedulable pods because it was there too long.
    pub(super) flushed: bool,
    /// It was deleted, or bound by someone else, while it was in flight: it only waits for the end of its attempt.
    pub(super) gone: bool,
}

const _: () = assert!(size_of::<Entry>() == 64);

impl Entry {
    /// Whether an attempt failed already.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.unschedulable > 0 || self.errors > 0
    }
}

/// All entries, by slot and by the uid of their pods.
#[derive(Default)]
pub(super) struct Entries {
    slots: Slab<Entry>,
    /// Hashes of uids, and where the pods are. The uids themselves are only there.
    by_uid: HashTable<(u32, Slot)>,
}

fn hash(uid: &Uid) -> u32 {
    let mut hasher = FixedHasher::default();
    uid.hash(&mut hasher);
    hasher.finish() as u32
}

/// The table looks at the lowest and at the highest bits.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().map(|(_, entry)| entry)
    }
    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.slots.get(slot as usize)
    }
    pub(super) fn find(&self, uid: &Uid) -> Option<Slot> {
        let hash = hash(uid);
        let is_it = |&(other, slot): &(u32, Slot)| other == hash && self[slot].queued.pod.uid == *uid;
        self.by_uid.find(wide(hash), is_it).map(|&(_, slot)| slot)
    }
    /// A pod that is not known.
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
