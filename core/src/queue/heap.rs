//! A binary heap of slots from which any pod can be taken: each entry knows its position.

use std::marker::PhantomData;

use super::entries::{Entries, Entry, Slot};

/// An order of entries.
pub(super) trait Before {
    /// Whether `a` leaves before `b`.
    fn before(a: &Entry, b: &Entry) -> bool;
}

/// Pods of one place, the first one on top.
pub(super) struct Heap<O> {
    slots: Vec<Slot>,
    order: PhantomData<fn() -> O>,
}

impl<O> Default for Heap<O> {
    fn default() -> Self {
        Heap { slots: Vec::new(), order: PhantomData }
    }
}

impl<O: Before> Heap<O> {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
    pub(super) fn peek(&self) -> Option<Slot> {
        self.slots.first().copied()
    }
    pub(super) fn push(&mut self, entries: &mut Entries, slot: Slot) {
        self.slots.push(slot);
        self.up(entries, self.slots.len() - 1);
    }
    pub(super) fn pop(&mut self, entries: &mut Entries) -> Option<Slot> {
        let slot = self.peek()?;
        self.remove(entries, slot);
        Some(slot)
    }
    pub(super) fn remove(&mut self, entries: &mut Entries, slot: Slot) {
        let at = entries[slot].at as usize;
        self.slots.swap_remove(at);
        if at < self.slots.len() {
            self.restore(entries, at);
        }
    }
    /// A pod in the heap changed.
    pub(super) fn update(&mut self, entries: &mut Entries, slot: Slot) {
        self.restore(entries, entries[slot].at as usize);
    }

    fn restore(&mut self, entries: &mut Entries, at: usize) {
        let at = self.up(entries, at);
        self.down(entries, at);
    }

    /// Moves the pod at a position up to where it belongs.
    fn up(&mut self, entries: &mut Entries, mut at: usize) -> usize {
        let slot = self.slots[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            let above = self.slots[parent];
            if !O::before(&entries[slot], &entries[above]) {
                break;
            }
            self.put(entries, at, above);
            at = parent;
        }
        self.put(entries, at, slot);
        at
    }

    /// Moves it down.
    fn down(&mut self, entries: &mut Entries, mut at: usize) {
        let slot = self.slots[at];
        loop {
            let mut child = 2 * at + 1;
            let Some(&(mut below)) = self.slots.get(child) else { break };
            if let Some(&right) = self.slots.get(child + 1)
                && O::before(&entries[right], &entries[below])
            {
                (child, below) = (child + 1, right);
            }
            if !O::before(&entries[below], &entries[slot]) {
                break;
            }
            self.put(entries, at, below);
            at = child;
        }
        self.put(entries, at, slot);
    }

    fn put(&mut self, entries: &mut Entries, at: usize, slot: Slot) {
        self.slots[at] = slot;
        entries[slot].at = at as u32;
    }
}
