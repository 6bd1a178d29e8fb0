//! Where the queue keeps its pods: a slot each, which never moves while the pod is known.

use std::ops::{Index, IndexMut};

use slab::Slab;

use super::Place;
use crate::extension_points::QueuedPod;

/// A slot of the queue.
pub(super) type Slot = u32;

/// A pod that the queue knows.
pub(super) struct Entry {
    pub(super) queued: QueuedPod,
    /// In a heap, its number in order of arrival there; in flight, the number of the attempt.
    pub(super) ticket: u64,
    /// When its backoff ends, down to a window; `i64::MIN` if there is none.
    pub(super) ready: i64,
    /// Since when it is parked.
    pub(super) since: i64,
    pub(super) profile: u32,
    /// What it failed by, and what holds it now.
    pub(super) group: u32,
    /// Its position in the heap or in the list of its group.
    pub(super) at: u32,
    /// How many attempts found it unschedulable.
    pub(super) unschedulable: u32,
    /// How many attempts in a row broke, the last one included.
    pub(super) errors: u32,
    pub(super) place: Place,
    /// It came out of the unschedulable pods because it was there too long.
    pub(super) flushed: bool,
    /// It was deleted, or bound by someone else, while it was in flight: it only waits for the end of its attempt.
    pub(super) gone: bool,
}

/// All entries, by slot.
#[derive(Default)]
pub(super) struct Entries(Slab<Entry>);

impl Entries {
    pub(super) fn insert(&mut self, entry: Entry) -> Slot {
        self.0.insert(entry) as Slot
    }
    pub(super) fn remove(&mut self, slot: Slot) {
        self.0.remove(slot as usize);
    }
}

impl Index<Slot> for Entries {
    type Output = Entry;
    fn index(&self, slot: Slot) -> &Entry {
        &self.0[slot as usize]
    }
}
impl IndexMut<Slot> for Entries {
    fn index_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.0[slot as usize]
    }
}
