//! The scheduling queue: kube-scheduler's `PriorityQueue`, as a state machine to which time is told.
//!
//! Every pod that it knows is in one [`QueuePlace`]. `docs/queue.md` says what each thing that can happen does to a pod in each
//! of them.
//!
//! | module | idea |
//! |---|---|
//! | `pods` | pods come, change, go, and are activated |
//! | `attempts` | pods are popped, and come back or not |
//! | `events` | what happens in the cluster wakes pods |
//! | `time` | backoff ends; pods that were forgotten are tried again |
//! | `backoff` | how long a pod waits after a failure |
//! | `in_flight` | pods that are being tried, and events meanwhile |
//! | `parked` | pods that wait for an event, in groups |
//! | `nominator` | which pods are nominated for which nodes |
//! | `incoming_counts` | why pods come to a place, counted |
//! | `entries`, `heap` | where pods are kept |

mod attempts;
mod backoff;
mod entries;
mod events;
mod heap;
mod in_flight;
mod incoming_counts;
mod nominator;
mod parked;
mod pods;
mod time;

pub use backoff::Backoff;
pub use in_flight::Attempt;
pub use incoming_counts::{Cause, QueueKind};
pub use nominator::Nominator;

use std::marker::PhantomData;
use std::sync::Arc;

use crate::extension_points::{QueuedPod, QueueingHint};
use crate::map::Map;
use crate::model::{Pod, Uid};
use crate::status::Status;

use backoff::{ByReady, ByWindow};
use entries::{Entries, Entry, Slot};
use heap::{EntryOrder, Heap};
use in_flight::{AbandonedAttempts, InFlight};
use incoming_counts::IncomingCounts;
use parked::{ParkReason, ParkedPods};

/// The order of the active queue: QueueSort.
pub trait QueueOrder: 'static {
    /// Whether `a` is to be tried before `b`.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
}

/// What the queue asks of others: the plugins of all profiles, and the nominations.
pub trait QueueContext {
    /// What happens in the cluster.
    type Event;
    /// Those of some plugins that wait for an event.
    type Interested;

    /// Runs PreEnqueue.
    ///
    /// # Errors
    /// Who holds the pod, and why.
    fn pre_enqueue(&mut self, profile: usize, pod: &Pod) -> Result<(), Status>;

    /// The pod's time in the order, where nobody knows better than that it came at `timestamp`.
    fn timestamp(&mut self, _profile: usize, _pod: &Pod, timestamp: i64) -> i64 {
        timestamp
    }

    /// Which of these plugins of a profile wait for an event. Asked once for all pods that they rejected together. `None`:
    /// none of them.
    fn interested(&mut self, profile: usize, plugins: &[&'static str], event: &Self::Event)
    -> Option<Self::Interested>;

    /// Whether one of them finds that the event is worth an attempt for a pod.
    fn hint(
        &mut self,
        profile: usize,
        interested: &Self::Interested,
        pod: &QueuedPod,
        event: &Self::Event,
    ) -> QueueingHint;

    /// What kube-scheduler's metrics call an event. All the same, where nobody counts.
    fn cause(_event: &Self::Event) -> Cause {
        Cause::POD_UPDATE
    }

    /// Where nominations are noted.
    fn nominator(&mut self) -> &mut Nominator;

    /// A pod is known from now on (`old` is none), changed, or is not known any more (`new` is none), whether an attempt is
    /// under way or not.
    fn pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}
}

/// Where a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueuePlace {
    /// `activeQ`: it can be tried.
    Active,
    /// `backoffQ`: it is tried when its backoff ends, or when there is nothing else to try.
    Backoff,
    /// The backoff queue of pods whose last attempt broke: never tried early.
    ErrorBackoff,
    /// `unschedulablePods`: it waits for an event that its rejectors find worth an attempt.
    Unschedulable,
    /// A PreEnqueue plugin holds it.
    Gated,
    /// It was popped, and has not come back.
    InFlight,
}

/// The plugins that ended an attempt. None: it broke.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rejectors {
    /// With `Unschedulable` or `UnschedulableAndUnresolvable`, sorted.
    unschedulable: Box<[&'static str]>,
    /// With `Pending`, sorted.
    pending: Box<[&'static str]>,
}

impl Rejectors {
    /// Those who said `Unschedulable` or `UnschedulableAndUnresolvable`, and those who said `Pending`.
    pub fn new(
        unschedulable: impl IntoIterator<Item = &'static str>,
        pending: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        Rejectors { unschedulable: sorted(unschedulable), pending: sorted(pending) }
    }
    /// Whether nobody rejected the pod.
    pub fn is_empty(&self) -> bool {
        self.unschedulable.is_empty() && self.pending.is_empty()
    }
}

fn sorted(names: impl IntoIterator<Item = &'static str>) -> Box<[&'static str]> {
    // An empty name is nobody's.
    let mut names: Vec<&'static str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.into()
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long pods wait after a failure.
    pub backoff: Backoff,
    /// After how many nanoseconds a parked pod is tried without any event: `podMaxInUnschedulablePodsDuration`. `i64::MAX`:
    /// never.
    pub leftover_after: i64,
    /// How many events are kept for pods in flight. If there are more, pods that were popped before the oldest one are
    /// tried again whatever happened.
    pub max_in_flight_events: usize,
}

impl Default for Options {
    /// kube-scheduler's.
    fn default() -> Self {
        Options { backoff: Backoff::seconds(1, 10), leftover_after: 300_000_000_000, max_in_flight_events: 1 << 16 }
    }
}

/// How many pods are in each place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// They can be tried.
    pub active: usize,
    /// They wait for the end of their backoff, of either kind.
    pub backoff: usize,
    /// They wait for an event.
    pub unschedulable: usize,
    /// A PreEnqueue plugin holds them.
    pub gated: usize,
}

/// The active queue: in order, equals as they came.
struct ByOrder<O>(PhantomData<O>);
impl<O: QueueOrder> EntryOrder for ByOrder<O> {
    fn before(a: &Entry, b: &Entry) -> bool {
        by_order::<O>(a, b)
    }
}

fn by_order<O: QueueOrder>(a: &Entry, b: &Entry) -> bool {
    O::less(&a.queued, &b.queued) || a.ticket < b.ticket && !O::less(&b.queued, &a.queued)
}

/// All pending pods of all profiles. Times are nanoseconds of one clock, which is the caller's.
pub struct SchedulingQueue<O, E> {
    options: Options,
    entries: Entries,
    /// How many of them are gone, but for their attempt.
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
    /// Since when pods that failed at least once could be tried.
    first_ready: Map<Slot, i64>,
}

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// An empty queue.
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

    /// Where a pod is. `None`: it is not known.
    pub fn place(&self, uid: &Uid) -> Option<QueuePlace> {
        self.find(uid).map(|slot| self.entries[slot].place)
    }
    /// A pod as it is known here.
    pub fn pod(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.find(uid).map(|slot| &self.entries[slot].queued.pod)
    }
    /// All pods that are known, in no order.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.entries.iter().filter(|entry| !entry.gone).map(|entry| &entry.queued.pod)
    }
    /// Number of pods that are known, those in flight included.
    pub fn len(&self) -> usize {
        self.entries.len() - self.gone
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of pods that can be popped now.
    pub fn ready(&self) -> usize {
        self.active.len() + self.backoff.len()
    }
    /// Number of attempts that have not ended, those of pods that are gone included.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }
    /// Number of events that are kept for pods in flight.
    pub fn in_flight_events(&self) -> usize {
        self.in_flight.events()
    }
    /// How many pods were bound in an attempt that no event was the cause of, but that they were parked for too long. Any
    /// of them is a sign that a hint missed something.
    pub fn bound_after_flush(&self) -> u64 {
        self.bound_after_flush
    }

    /// How often pods came to each queue, by why.
    pub fn incoming_counts(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        self.incoming.iter()
    }
    /// The events that are kept for pods in flight, those about one pod alone left out.
    pub fn events_in_flight(&self) -> impl Iterator<Item = &E> {
        self.in_flight.iter_events()
    }
    /// How many pods are active, in backoff of either kind, unschedulable, and gated.
    pub fn queue_counts(&self) -> QueueCounts {
        let mut census = QueueCounts {
            active: self.active.len(),
            backoff: self.backoff.len() + self.error_backoff.len(),
            ..QueueCounts::default()
        };
        for (reason, slots) in self.parked.groups() {
            let place = if reason.gate.is_some() { &mut census.gated } else { &mut census.unschedulable };
            *place += slots.len();
        }
        census
    }
    /// How many pods each plugin of each profile rejected that were not tried again since, or gates. Looks at every pod.
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
            for plugin in unschedulable.iter().chain(pending).copied().chain(gate) {
                let key = (reason.profile as usize, plugin);
                match rejected.iter_mut().find(|(profile, plugin, _)| (*profile, *plugin) == key) {
                    Some((.., total)) => *total += count,
                    None => rejected.push((key.0, key.1, count)),
                }
            }
        }
        rejected
    }
    /// Since when the pod of an attempt could be tried: since it came, or since PreEnqueue let it pass.
    pub fn first_ready(&self, attempt: &Attempt) -> Option<i64> {
        let entry = self.entries.get(attempt.slot).filter(|entry| entry.ticket == attempt.id)?;
        if entry.has_failed() { self.first_ready.get(&attempt.slot).copied() } else { Some(entry.since) }
    }

    fn find(&self, uid: &Uid) -> Option<Slot> {
        self.entries.find(uid).filter(|&slot| !self.entries[slot].gone)
    }

    /// Takes a pod out of where it is, unless it is in flight.
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

    /// Runs PreEnqueue on a pod that is in no container, and parks it if a plugin holds it.
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

    /// Puts a pod that is in no container into the active queue, or parks it if PreEnqueue holds it.
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

    /// Lets it wait for the end of its backoff, or parks it if PreEnqueue holds it. When the backoff ends, PreEnqueue is not
    /// asked again.
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
        // One that is parked again has not come anew.
        if !matches!(entry.place, QueuePlace::Unschedulable | QueuePlace::Gated) {
            self.incoming.count(cause, QueueKind::Unschedulable);
        }
        entry.place = place;
        entry.since = now;
        // Whatever wakes it next is the cause of its next attempt.
        entry.flushed = false;
        if self.parked.is_empty() {
            self.next_leftovers = now.saturating_add(time::LEFTOVER_INTERVAL);
        }
        self.parked.insert(&mut self.entries, slot);
    }

    /// The group of a profile's pods that nobody rejected.
    fn unrejected_group(&mut self, profile: u16) -> u32 {
        self.parked.group(ParkReason { profile, rejectors: Rejectors::default(), gate: None })
    }

    /// A pod that is in no container is not known any more.
    fn forget(&mut self, slot: Slot) {
        let entry = &self.entries[slot];
        self.gone -= usize::from(entry.gone);
        if entry.has_failed() {
            self.first_ready.remove(&slot);
        }
        self.entries.remove(slot);
    }
}
