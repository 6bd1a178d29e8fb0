//! Frees the strings of objects that left the cluster, in passes that run in slices between decisions.
//!
//! A pass reads the values of each [`Place`] from the last position to the first, and marks their symbols. Then it
//! frees the unmarked strings, one part of the interner after the other. A pass does not miss a value that changes its
//! place. Either the value moves to a later place, as a pod in the queue does when it is assumed, or it is marked when
//! it moves.

use super::Scheduler;
use super::binding::Binding;
use crate::engine::bundle::Bundle;
use crate::model::Uid;
use crate::model::cache::{CacheValues, ValueKind};
use crate::model::change::Change;
use crate::model::intern::{Interner, PARTS, Symbol};
use crate::model::map::Map;
use crate::model::symbols::{AllSymbols, Marker, SymbolVisitor, Symbols};
use crate::plugin_api::client::Client;
use crate::plugin_api::handle::Handle;
use crate::scheduler::queue::{QueueOrder, SchedulingQueue};

/// Amount of work of a slice, in visited symbols and positions. A slice is the part of a pass that one call does; it
/// should take much less than a millisecond.
const WORK: usize = 1_024;
/// Additional work for each new string since the last slice, so that a pass ends although many strings are new.
const WORK_PER_STRING: usize = 8;
/// Maximum work of a slice.
const MAX_WORK: usize = 4_096;

/// A place that has values with symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The pods of the queue, with their bindings.
    Queue,
    /// Values of the cache.
    Cache(ValueKind),
    /// Allocations that are not received yet.
    PendingAllocations,
}

/// All places, in the order in which a pass reads them.
const PLACES: [Place; 6] = [
    Place::Queue,
    Place::Cache(ValueKind::Nodes),
    Place::Cache(ValueKind::UnknownNodes),
    Place::Cache(ValueKind::Objects),
    Place::Cache(ValueKind::Nominations),
    Place::PendingAllocations,
];

/// All values of a scheduler that have symbols, except cached answers, whose symbols may be stale (see [`Symbol`]).
struct Values<'a, O, E> {
    queue: &'a SchedulingQueue<O, E>,
    bindings: &'a Map<Uid, Binding>,
    cache: CacheValues<'a>,
    handle: &'a Handle,
}

impl<O: QueueOrder, E> Values<'_, O, E> {
    /// Returns the number of positions of a place.
    fn len(&self, place: Place) -> usize {
        match place {
            Place::Queue => self.queue.n_slots(),
            Place::Cache(kind) => self.cache.len(kind),
            Place::PendingAllocations => self.handle.pending_allocations().len(),
        }
    }

    /// Visits the symbols at a position.
    fn visit(&self, place: Place, position: usize, visitor: &mut impl SymbolVisitor) {
        match place {
            Place::Queue => {
                let Some(pod) = self.queue.pod_in_slot(position) else { return };
                pod.visit(visitor);
                // The pods of the binding may be older versions, because the queue replaces pods in flight.
                if let Some(Binding { attempt, placement, .. }) = self.bindings.get(&pod.uid) {
                    (attempt.pod(), &placement.pod).visit(visitor);
                }
            }
            Place::Cache(kind) => self.cache.visit(kind, position, visitor),
            Place::PendingAllocations => {
                if let Some(pending) = self.handle.pending_allocations().at(position) {
                    (pending.claim, &pending.allocation).visit(visitor);
                }
            }
        }
    }

    /// Returns whether all symbols have a property.
    fn all(&self, has_property: impl Fn(Symbol) -> bool) -> bool {
        let mut symbols = AllSymbols::new(has_property);
        for place in PLACES {
            (0..self.len(place)).for_each(|position| self.visit(place, position, &mut symbols));
        }
        symbols.all
    }
}

/// A pass in progress.
#[derive(Debug)]
pub(super) struct StringPass {
    /// The number of the current place in [`PLACES`]. After the last one, unmarked strings are freed.
    place: usize,
    /// Number of positions of the place, or parts of the interner, that remain. It may be too high.
    remaining: usize,
}

impl StringPass {
    fn begin(interner: &mut Interner) -> Self {
        interner.begin_pass();
        StringPass { place: 0, remaining: usize::MAX }
    }

    /// Does an amount of work. Returns whether the pass has ended.
    fn run<O: QueueOrder, E>(&mut self, work: usize, interner: &mut Interner, values: &Values<'_, O, E>) -> bool {
        let work_done = self.mark(work, interner, values);
        work_done < work && self.free(work - work_done, interner)
    }

    /// Marks the symbols of values. Returns the amount of work: less than `work` if all are marked.
    fn mark<O: QueueOrder, E>(&mut self, work: usize, interner: &mut Interner, values: &Values<'_, O, E>) -> usize {
        let mut marker = Marker::new(interner);
        while let Some(&place) = PLACES.get(self.place) {
            if marker.work >= work {
                return marker.work;
            }
            marker.work += 1;
            match self.remaining.min(values.len(place)).checked_sub(1) {
                Some(position) => {
                    values.visit(place, position, &mut marker);
                    self.remaining = position;
                }
                None => (self.place, self.remaining) = (self.place + 1, usize::MAX),
            }
        }
        let work_done = marker.work;
        debug_assert!(work_done == 0 || values.all(|symbol| interner.is_marked(symbol)), "a pass misses no symbol");
        work_done
    }

    /// Frees unmarked strings. Returns whether all are freed.
    fn free(&mut self, work: usize, interner: &mut Interner) -> bool {
        self.remaining = self.remaining.min(PARTS);
        let mut work_done = 0;
        while self.remaining > 0 && work_done < work {
            self.remaining -= 1;
            work_done += 1 + interner.free_unused(self.remaining);
        }
        if self.remaining == 0 {
            interner.end_pass();
        }
        self.remaining == 0
    }
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Frees strings that no object has any more. Does nothing unless a pass is in progress, or many strings are new since
    /// the last one. A call does a slice of a pass, which should take less than a millisecond.
    ///
    /// Call it regularly, when no symbol is in use outside of the scheduler: not between the conversion of an object
    /// and [`Scheduler::on_change`]. Symbols from before the call are valid as long as an object in the scheduler has
    /// them.
    pub fn free_unused_strings(&mut self) {
        let interner = &self.cache.base.interner;
        if self.string_pass.is_some() || interner.has_many_new() {
            let new = interner.created() - self.strings_seen;
            let extra_work = WORK_PER_STRING.saturating_mul(new as usize);
            self.free_some_unused_strings(WORK.saturating_add(extra_work).min(MAX_WORK));
        }
        self.strings_seen = self.cache.base.interner.created();
    }

    /// Does an amount of work of a pass, and begins a pass if none is in progress. A string is freed by the second pass
    /// that finds no object with it.
    pub fn free_some_unused_strings(&mut self, work: usize) {
        let Scheduler { cache, queue, bindings, handle, string_pass, .. } = self;
        let (interner, cache) = cache.values();
        let values = Values { queue, bindings, cache, handle };
        let pass = string_pass.get_or_insert_with(|| StringPass::begin(interner));
        if pass.run(work, interner, &values) {
            *string_pass = None;
        }
    }

    /// Ends the pass in progress, if there is one, and runs another one.
    pub fn free_unused_strings_now(&mut self) {
        if self.string_pass.is_some() {
            self.free_some_unused_strings(usize::MAX);
        }
        self.free_some_unused_strings(usize::MAX);
    }

    /// Returns whether every symbol of every object has a string, for tests.
    pub fn has_all_strings(&mut self) -> bool {
        let Scheduler { cache, queue, bindings, handle, .. } = self;
        let (interner, cache) = cache.values();
        Values { queue, bindings, cache, handle }.all(|symbol| interner.has(symbol))
    }

    /// Marks the symbols of a new object. Its place may have been read already.
    pub(super) fn mark_change(&mut self, change: &Change) {
        if self.string_pass.is_none() {
            return;
        }
        let mut marker = Marker::new(&mut self.cache.base.interner);
        match change {
            Change::Node(node) => node.visit(&mut marker),
            Change::Pod(pod) => pod.visit(&mut marker),
            Change::Object(object) => object.visit(&mut marker),
            Change::NodeDeleted(_) | Change::PodDeleted(_) | Change::ObjectDeleted(_) => {}
        }
    }
}
