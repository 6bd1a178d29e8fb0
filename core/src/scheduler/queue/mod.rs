//! The scheduling queue: kube-scheduler's `PriorityQueue`, as a state machine without a clock.
//!
//! Every pod of the queue is in one [`QueuePlace`]. `docs/queue.md` lists the effect of each event on a pod in each
//! place.
//!
//! | module | content |
//! |---|---|
//! | `pods` | pods are added, changed, removed and activated |
//! | `attempts` | pods are popped, and return or not |
//! | `events` | cluster events move unschedulable pods |
//! | `time` | backoff ends; pods that were unschedulable for too long are retried |
//! | `backoff` | duration of the backoff after a failure |
//! | `in_flight` | pods in flight, and the events during their attempts |
//! | `parked` | unschedulable and gated pods, in groups |
//! | `incoming_counts` | counts of arrivals by cause |
//! | `entries`, `heap` | storage of pods |

mod attempts;
mod backoff;
mod entries;
mod events;
mod heap;
mod in_flight;
mod incoming_counts;
mod parked;
mod pods;
mod time;

pub use backoff::Backoff;
pub use in_flight::Attempt;
pub use incoming_counts::{Cause, QueueKind};
pub use pods::PodUpdate;

use std::marker::PhantomData;
use std::sync::Arc;

use crate::model::cache::Nominator;
use crate::model::map::Map;
use crate::model::{Pod, Uid};
use crate::plugin_api::extension_points::{QueuedPod, QueueingHint};
use crate::plugin_api::plugin_names::PluginNames;
use crate::plugin_api::status::Status;

use backoff::{ByReady, ByWindow};
use entries::{Entries, Entry, Slot};
use heap::{EntryOrder, Heap};
use in_flight::{AbandonedAttempts, InFlight};
use incoming_counts::IncomingCounts;
use parked::{ParkReason, ParkedPods};

/// The order of the active queue: QueueSort.
pub trait QueueOrder: 'static {
    /// Returns whether `a` precedes `b`.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
}

/// Callbacks with which the queue calls the plugins of all profiles, and reads and changes the nominations.
pub trait QueueContext {
    /// A cluster event.
    type Event;
    /// Plugins that are interested in an event.
    type Interested;

    /// Runs PreEnqueue.
    ///
    /// # Errors
    /// The status of the plugin that holds the pod.
    fn pre_enqueue(&mut self, profile: usize, pod: &Pod) -> Result<(), Status>;

    /// Returns the timestamp by which the queue order compares the pod. Default: `timestamp`. It is the creation time
    /// of a new pod, or the time when a pod returned after an attempt.
    fn timestamp(&mut self, _profile: usize, _pod: &Pod, timestamp: i64) -> i64 {
        timestamp
    }

    /// Returns the plugins of a profile, out of `plugins`, that are interested in an event. Called once for all pods
    /// that these plugins rejected together. `None`: no plugin is interested.
    fn interested(&mut self, profile: usize, plugins: &[&'static str], event: &Self::Event)
    -> Option<Self::Interested>;

    /// Returns `Queue` if the hint of one of the interested plugins is `Queue`.
    fn hint(
        &mut self,
        profile: usize,
        interested: &Self::Interested,
        pod: &QueuedPod,
        event: &Self::Event,
    ) -> QueueingHint;

    /// Returns the cause of the arrivals that an event leads to, for metrics. The default, for queues without metrics,
    /// is the same cause for all events.
    fn cause(_event: &Self::Event) -> Cause {
        Cause::POD_UPDATE
    }

    /// Returns the nominator.
    fn nominator(&mut self) -> &mut Nominator;

    /// Notifies of a pod that was added to the queue (`old` is `None`), changed, or was removed (`new` is `None`). The
    /// pod may be in flight.
    fn pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}
}

/// Place of a pod in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueuePlace {
    /// `activeQ`: the pod can be attempted.
    Active,
    /// `backoffQ`: the pod is attempted when its backoff ends, or when the active queue is empty.
    Backoff,
    /// The backoff queue of pods whose last attempt failed without rejectors, usually with an error. Such a pod is
    /// attempted only when its backoff has ended.
    ErrorBackoff,
    /// `unschedulablePods`: the pod waits for an event that one of its rejectors is interested in.
    Unschedulable,
    /// A PreEnqueue plugin holds the pod.
    Gated,
    /// The pod was popped, and has not returned.
    InFlight,
}

/// The plugins that rejected a pod in an attempt. Empty: the attempt failed with an error, or in the binding cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rejectors {
    /// Plugins with `Unschedulable` or `UnschedulableAndUnresolvable`.
    pub(super) unschedulable: PluginNames,
    /// Plugins with `Pending`.
    pub(super) pending: PluginNames,
}

impl Rejectors {
    /// Makes rejectors of the plugins with `Unschedulable` or `UnschedulableAndUnresolvable`, and those with `Pending`.
    pub fn new(
        unschedulable: impl IntoIterator<Item = &'static str>,
        pending: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Rejectors { unschedulable: unschedulable.into_iter().collect(), pending: pending.into_iter().collect() }
    }
    /// Returns whether no plugin rejected the pod.
    pub fn is_empty(&self) -> bool {
        self.unschedulable.is_empty() && self.pending.is_empty()
    }
}

/// Settings of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Backoff of pods after failures.
    pub backoff: Backoff,
    /// Time in nanoseconds after which an unschedulable pod is retried without an event:
    /// `podMaxInUnschedulablePodsDuration`. `i64::MAX`: never.
    pub leftover_after: i64,
    /// Maximum number of events kept for pods in flight. If there are more, the oldest are discarded, and pods that
    /// were popped before a discarded event are retried after any failure.
    pub max_in_flight_events: usize,
}

impl Default for Options {
    /// Returns kube-scheduler's defaults.
    fn default() -> Self {
        Options { backoff: Backoff::seconds(1, 10), leftover_after: 300_000_000_000, max_in_flight_events: 1 << 16 }
    }
}

/// Number of pods in each place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Pods that can be attempted.
    pub active: usize,
    /// Pods in backoff of either kind.
    pub backoff: usize,
    /// Pods that wait for an event.
    pub unschedulable: usize,
    /// Pods that a PreEnqueue plugin holds.
    pub gated: usize,
}

/// Order of the active queue: by QueueSort, equal pods by arrival.
struct ByOrder<O>(PhantomData<O>);
impl<O: QueueOrder> EntryOrder for ByOrder<O> {
    fn before(a: &Entry, b: &Entry) -> bool {
        by_order::<O>(a, b)
    }
}

fn by_order<O: QueueOrder>(a: &Entry, b: &Entry) -> bool {
    O::less(&a.queued, &b.queued) || a.ticket < b.ticket && !O::less(&b.queued, &a.queued)
}

/// All pending pods of all profiles. Times are nanoseconds of the caller's clock.
pub struct SchedulingQueue<O, E> {
    options: Options,
    entries: Entries,
    /// Number of pods that were deleted, or bound by another scheduler, and whose attempts have not ended.
    gone: usize,
    active: Heap<ByOrder<O>>,
    backoff: Heap<ByWindow<O>>,
    error_backoff: Heap<ByReady>,
    parked: ParkedPods,
    in_flight: InFlight<E>,
    abandoned: AbandonedAttempts,
    arrivals: u64,
    next_leftovers: i64,
    bound_after_flush: u64,
    incoming: IncomingCounts,
    /// For pods with at least one failure: the time since when their first attempt was possible.
    first_ready: Map<Slot, i64>,
}

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Makes an empty queue.
    pub fn new(options: Options) -> Self {
        SchedulingQueue {
            options,
            entries: Entries::default(),
            gone: 0,
            active: Heap::default(),
            backoff: Heap::default(),
            error_backoff: Heap::default(),
            parked: ParkedPods::default(),
            in_flight: InFlight::new(options.max_in_flight_events),
            abandoned: AbandonedAttempts::default(),
            arrivals: 0,
            next_leftovers: i64::MIN,
            bound_after_flush: 0,
            incoming: IncomingCounts::default(),
            first_ready: Map::default(),
        }
    }

    /// Returns the place of a pod. `None`: it is not in the queue.
    pub fn place(&self, uid: &Uid) -> Option<QueuePlace> {
        self.find(uid).map(|slot| self.entries[slot].place)
    }
    /// Returns a pod as the queue has it.
    pub fn pod(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.find(uid).map(|slot| &self.entries[slot].queued.pod)
    }
    /// Returns all pods, unordered.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.entries.iter().filter(|entry| !entry.gone).map(|entry| &entry.queued.pod)
    }
    /// Returns the number of slots of pods, in use or not.
    pub(crate) fn n_slots(&self) -> usize {
        self.entries.n_slots()
    }
    /// Returns the pod in a slot. A deleted pod has a slot until its attempt ends.
    pub(crate) fn pod_in_slot(&self, slot: usize) -> Option<&Arc<Pod>> {
        self.entries.get(slot as Slot).map(|entry| &entry.queued.pod)
    }
    /// Returns the number of pods, including those in flight.
    pub fn len(&self) -> usize {
        self.entries.len() - self.gone
    }
    /// Returns whether there are no pods.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the number of pods that can be popped now.
    pub fn ready(&self) -> usize {
        self.active.len() + self.backoff.len()
    }
    /// Returns the number of attempts that have not ended, including those of deleted pods.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }
    /// Returns the number of events kept for pods in flight.
    pub fn in_flight_events(&self) -> usize {
        self.in_flight.events()
    }
    /// Returns the number of pods that were bound after a retry without an event. Usually, a hint missed an event.
    pub fn bound_after_flush(&self) -> u64 {
        self.bound_after_flush
    }

    /// Returns the numbers of arrivals by cause and queue.
    pub fn incoming_counts(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        self.incoming.iter()
    }
    /// Returns the events kept for pods in flight, except those about one pod alone.
    pub fn events_in_flight(&self) -> impl Iterator<Item = &E> {
        self.in_flight.iter_events()
    }
    /// Returns the numbers of active, backoff (of either kind), unschedulable and gated pods.
    pub fn queue_counts(&self) -> QueueCounts {
        let mut counts = QueueCounts {
            active: self.active.len(),
            backoff: self.backoff.len() + self.error_backoff.len(),
            ..QueueCounts::default()
        };
        for (reason, slots) in self.parked.groups() {
            let place = if reason.gate.is_some() { &mut counts.gated } else { &mut counts.unschedulable };
            *place += slots.len();
        }
        counts
    }
    /// Returns, for each plugin of each profile, the number of pods that it gates or that it rejected in their last
    /// attempt. Pods in flight are not counted. Reads every pod.
    pub fn rejected_pod_counts(&self) -> Vec<(usize, &'static str, usize)> {
        let mut by_group = vec![0; self.parked.len_of_groups()];
        for entry in self.entries.iter().filter(|entry| entry.place != QueuePlace::InFlight) {
            by_group[entry.group as usize] += 1;
        }
        let mut rejected: Vec<(usize, &'static str, usize)> = Vec::new();
        for (group, count) in by_group.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let reason = self.parked.reason(group as u32);
            let Rejectors { unschedulable, pending } = &reason.rejectors;
            let gate = reason.gate.filter(|gate| !unschedulable.contains(gate) && !pending.contains(gate));
            for plugin in unschedulable.iter().chain(pending.iter()).copied().chain(gate) {
                let key = (reason.profile as usize, plugin);
                match rejected.iter_mut().find(|(profile, plugin, _)| (*profile, *plugin) == key) {
                    Some((.., total)) => *total += count,
                    None => rejected.push((key.0, key.1, count)),
                }
            }
        }
        rejected
    }
    /// Returns the time since when the first attempt of the pod was possible: its arrival, or its admission by
    /// PreEnqueue.
    pub fn first_ready(&self, attempt: &Attempt) -> Option<i64> {
        let entry = self.entries.get(attempt.slot).filter(|entry| entry.ticket == attempt.id)?;
        if entry.has_failed() { self.first_ready.get(&attempt.slot).copied() } else { Some(entry.since) }
    }

    fn find(&self, uid: &Uid) -> Option<Slot> {
        self.entries.find(uid).filter(|&slot| !self.entries[slot].gone)
    }

    /// Removes a pod from its heap or from the parked pods, unless it is in flight.
    fn take_out(&mut self, slot: Slot) {
        match self.entries[slot].place {
            QueuePlace::Active => self.active.remove(&mut self.entries, slot),
            QueuePlace::Backoff => self.backoff.remove(&mut self.entries, slot),
            QueuePlace::ErrorBackoff => self.error_backoff.remove(&mut self.entries, slot),
            QueuePlace::Unschedulable | QueuePlace::Gated => self.parked.remove(&mut self.entries, slot),
            QueuePlace::InFlight => {}
        }
    }

    fn arrive(&mut self, slot: Slot, place: QueuePlace) {
        let entry = &mut self.entries[slot];
        entry.place = place;
        entry.ticket = self.arrivals;
        self.arrivals += 1;
    }

    /// Runs PreEnqueue for a pod that is in no heap and not parked, and parks it if a plugin holds it.
    fn run_pre_enqueue(
        &mut self,
        slot: Slot,
        context: &mut impl QueueContext,
        cause: Cause,
        now: i64,
    ) -> Result<(), Status> {
        let entry = &self.entries[slot];
        let passed = context.pre_enqueue(entry.profile as usize, &entry.queued.pod);
        let gate = passed.as_ref().err().map(|status| status.plugin);
        let was_gated = self.parked.reason(entry.group).gate.is_some();
        let group = self.parked.gated_by(entry.group, gate);
        self.entries[slot].group = group;
        if passed.is_err() {
            self.park(slot, QueuePlace::Gated, cause, now);
        } else if was_gated {
            if !self.entries[slot].has_failed() {
                self.entries[slot].since = now;
            }
            context.nominator().ungated(&self.entries[slot].queued.pod);
        }
        passed
    }

    /// Moves a pod that is in no heap and not parked to the active queue, or parks it if PreEnqueue holds it.
    fn move_to_active(
        &mut self,
        slot: Slot,
        context: &mut impl QueueContext,
        cause: Cause,
        now: i64,
    ) -> Result<(), Status> {
        self.run_pre_enqueue(slot, context, cause, now)?;
        self.push_active(slot, cause);
        Ok(())
    }

    fn push_active(&mut self, slot: Slot, cause: Cause) {
        self.incoming.count(cause, QueueKind::Active);
        self.arrive(slot, QueuePlace::Active);
        self.active.push(&mut self.entries, slot);
    }

    /// Moves a pod that is in no heap and not parked to backoff, or parks it if PreEnqueue holds it. When the backoff
    /// ends, PreEnqueue does not run again.
    fn move_to_backoff(&mut self, slot: Slot, context: &mut impl QueueContext, cause: Cause, now: i64) {
        if self.run_pre_enqueue(slot, context, cause, now).is_err() {
            return;
        }
        self.incoming.count(cause, QueueKind::Backoff);
        if self.entries[slot].errors > 0 {
            self.arrive(slot, QueuePlace::ErrorBackoff);
            self.error_backoff.push(&mut self.entries, slot);
        } else {
            self.arrive(slot, QueuePlace::Backoff);
            self.backoff.push(&mut self.entries, slot);
        }
    }

    fn park(&mut self, slot: Slot, place: QueuePlace, cause: Cause, now: i64) {
        let entry = &mut self.entries[slot];
        // A move between groups of parked pods is not an arrival.
        if !matches!(entry.place, QueuePlace::Unschedulable | QueuePlace::Gated) {
            self.incoming.count(cause, QueueKind::Unschedulable);
        }
        entry.place = place;
        entry.since = now;
        // If a flush led here, PreEnqueue holds the pod: a later move causes its next attempt, not the flush.
        entry.flushed = false;
        if self.parked.is_empty() {
            self.next_leftovers = now.saturating_add(time::LEFTOVER_INTERVAL);
        }
        self.parked.insert(&mut self.entries, slot);
    }

    /// Returns the group of a profile's pods without rejectors.
    fn unrejected_group(&mut self, profile: u16) -> u32 {
        self.parked.group(ParkReason { profile, rejectors: Rejectors::default(), gate: None })
    }

    /// Removes the entry of a pod that is in no heap and not parked.
    fn forget(&mut self, slot: Slot) {
        let entry = &self.entries[slot];
        self.gone -= usize::from(entry.gone);
        if entry.has_failed() {
            self.first_ready.remove(&slot);
        }
        self.entries.remove(slot);
    }
}
