//! A binary heap of slots with a FIFO before it. Each entry stores its position, which permits removal of any pod.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::entries::{Entries, Entry, Slot};

/// An order of entries.
pub(super) trait EntryOrder {
    /// Returns whether `a` leaves before `b`.
    fn before(a: &Entry, b: &Entry) -> bool;
}

/// Pods of one place, the first on top. Most pods arrive in the order in which they leave: they wait in the FIFO, where
/// a new pod is compared only with the last one. Pods that overtake others are in the heap.
pub(super) struct Heap<O> {
    slots: Vec<Slot>,
    fifo: Fifo,
    order: PhantomData<fn() -> O>,
}

impl<O> Default for Heap<O> {
    fn default() -> Self {
        Heap { slots: Vec::new(), fifo: Fifo::default(), order: PhantomData }
    }
}

/// Value of a place in the FIFO whose pod left before its turn.
const VACANT: Slot = Slot::MAX;
/// Flag for positions in the FIFO. The other bits are the number of the place, which wraps around to 0.
const IN_FIFO: u32 = 1 << 31;

/// Pods in order.
#[derive(Default)]
struct Fifo {
    /// Slots; neither end is [`VACANT`].
    places: VecDeque<Slot>,
    /// Number of the first place.
    first: u32,
    /// Number of occupied places.
    taken: usize,
}

impl Fifo {
    fn push(&mut self, entries: &mut Entries, slot: Slot) {
        entries[slot].at = IN_FIFO | self.first.wrapping_add(self.places.len() as u32);
        self.places.push_back(slot);
        self.taken += 1;
    }

    fn remove(&mut self, entries: &mut Entries, at: u32) {
        let place = (at.wrapping_sub(self.first) & !IN_FIFO) as usize;
        self.places[place] = VACANT;
        self.trim(entries);
    }

    /// Removes and returns the first pod.
    #[inline]
    fn pop(&mut self, entries: &mut Entries) -> Option<Slot> {
        let slot = self.places.pop_front()?;
        self.first = self.first.wrapping_add(1);
        self.trim(entries);
        Some(slot)
    }

    /// Restores the invariants after a removal.
    #[inline]
    fn trim(&mut self, entries: &mut Entries) {
        self.taken -= 1;
        while self.places.front() == Some(&VACANT) {
            self.places.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        while self.places.back() == Some(&VACANT) {
            self.places.pop_back();
        }
        // Without this, vacant places could accumulate.
        if self.places.len() > 2 * self.taken + 64 {
            self.compact(entries);
        }
    }

    #[inline(never)]
    fn compact(&mut self, entries: &mut Entries) {
        self.places.retain(|&slot| slot != VACANT);
        for (&slot, place) in self.places.iter().zip(0_u32..) {
            entries[slot].at = IN_FIFO | self.first.wrapping_add(place);
        }
    }
}

impl<O: EntryOrder> Heap<O> {
    pub(super) fn len(&self) -> usize {
        self.slots.len() + self.fifo.taken
    }
    pub(super) fn peek(&self, entries: &Entries) -> Option<Slot> {
        match (self.fifo.places.front(), self.slots.first()) {
            (Some(&waits), Some(&overtakes)) if O::before(&entries[overtakes], &entries[waits]) => Some(overtakes),
            (Some(&slot), _) | (None, Some(&slot)) => Some(slot),
            (None, None) => None,
        }
    }
    pub(super) fn push(&mut self, entries: &mut Entries, slot: Slot) {
        if self.fifo.places.back().is_none_or(|&last| O::before(&entries[last], &entries[slot])) {
            return self.fifo.push(entries, slot);
        }
        self.slots.push(slot);
        self.up(entries, self.slots.len() - 1);
    }
    #[inline]
    pub(super) fn pop(&mut self, entries: &mut Entries) -> Option<Slot> {
        if self.slots.is_empty() { self.fifo.pop(entries) } else { self.pop_first(entries) }
    }
    #[inline(never)]
    fn pop_first(&mut self, entries: &mut Entries) -> Option<Slot> {
        let slot = self.peek(entries)?;
        if self.fifo.places.front() == Some(&slot) {
            self.fifo.pop(entries)
        } else {
            self.remove(entries, slot);
            Some(slot)
        }
    }
    pub(super) fn remove(&mut self, entries: &mut Entries, slot: Slot) {
        let at = entries[slot].at;
        if at & IN_FIFO != 0 {
            return self.fifo.remove(entries, at);
        }
        let at = at as usize;
        self.slots.swap_remove(at);
        if at < self.slots.len() {
            self.restore(entries, at);
        }
    }
    /// Restores the order after a pod in the heap changed.
    pub(super) fn update(&mut self, entries: &mut Entries, slot: Slot) {
        let at = entries[slot].at;
        if at & IN_FIFO != 0 {
            self.fifo.remove(entries, at);
            return self.push(entries, slot);
        }
        self.restore(entries, at as usize);
    }

    fn restore(&mut self, entries: &mut Entries, at: usize) {
        let at = self.up(entries, at);
        self.down(entries, at);
    }

    /// Moves the pod at a position up to its place.
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

    /// Moves the pod at a position down to its place.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{Pod, Uid};
    use crate::plugin_api::extension_points::QueuedPod;
    use crate::scheduler::queue::QueuePlace;

    struct ByTime;
    impl EntryOrder for ByTime {
        fn before(a: &Entry, b: &Entry) -> bool {
            (a.ready, a.ticket) < (b.ready, b.ticket)
        }
    }

    fn entry(ready: i64, ticket: u64) -> Entry {
        let pod = Pod { uid: Uid(ticket.to_string().into()), ..Pod::default() };
        Entry {
            queued: QueuedPod::new(Arc::new(pod), 0),
            ticket,
            ready,
            since: 0,
            profile: 0,
            group: 0,
            at: 0,
            unschedulable: 0,
            errors: 0,
            place: QueuePlace::Active,
            flushed: false,
            gone: false,
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A pod that arrives this much later than the one before.
        Push(i64),
        Pop,
        Remove(usize),
        Update(usize, i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => prop_oneof![4 => Just(1), 1 => -20..20_i64].prop_map(Step::Push),
            2 => Just(Step::Pop),
            5 => any::<usize>().prop_map(Step::Remove),
            1 => (any::<usize>(), 0..100_i64).prop_map(|(at, ready)| Step::Update(at, ready)),
        ]
    }

    proptest! {
        #[test]
        fn the_first_is_popped_first_after_any_history(steps in prop::collection::vec(step(), 1..600)) {
            let (mut heap, mut entries, mut all, mut time) = (Heap::<ByTime>::default(), Entries::default(), Vec::new(), 0);
            for (step, ticket) in steps.into_iter().zip(0..) {
                match step {
                    Step::Push(later) => {
                        time += later;
                        let slot = entries.insert(entry(time, ticket));
                        heap.push(&mut entries, slot);
                        all.push(slot);
                    }
                    Step::Pop => {
                        let first = all.iter().copied().min_by_key(|&slot| (entries[slot].ready, entries[slot].ticket));
                        prop_assert_eq!(heap.peek(&entries), first);
                        prop_assert_eq!(heap.pop(&mut entries), first);
                        all.retain(|&slot| Some(slot) != first);
                        first.into_iter().for_each(|slot| entries.remove(slot));
                    }
                    Step::Remove(_) | Step::Update(..) if all.is_empty() => {}
                    Step::Remove(at) => {
                        let slot = all.swap_remove(at % all.len());
                        heap.remove(&mut entries, slot);
                        entries.remove(slot);
                    }
                    Step::Update(at, ready) => {
                        let slot = all[at % all.len()];
                        entries[slot].ready = ready;
                        heap.update(&mut entries, slot);
                    }
                }
                prop_assert_eq!(heap.len(), all.len());
            }
            all.sort_unstable_by_key(|&slot| (entries[slot].ready, entries[slot].ticket));
            let left: Vec<_> = std::iter::from_fn(|| heap.pop(&mut entries)).collect();
            prop_assert_eq!(left, all);
        }
    }

    #[test]
    fn a_mostly_vacant_fifo_is_compacted() {
        let (mut heap, mut entries) = (Heap::<ByTime>::default(), Entries::default());
        let slots: Vec<_> = (0..1000).map(|at| entries.insert(entry(at, at as u64))).collect();
        slots.iter().for_each(|&slot| heap.push(&mut entries, slot));
        slots[1..999].iter().for_each(|&slot| heap.remove(&mut entries, slot));
        assert!(heap.slots.is_empty() && heap.fifo.places.len() < 100, "{}", heap.fifo.places.len());
        assert_eq!([(); 3].map(|()| heap.pop(&mut entries)), [Some(slots[0]), Some(slots[999]), None]);
    }
}
