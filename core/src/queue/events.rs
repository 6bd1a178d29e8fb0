//! What happens in the cluster wakes pods.

use super::entries::Slot;
use super::{Cause, Order, Rejectors, SchedulingQueue, Surroundings};
use crate::extension_points::{QueuedPod, QueueingHint};

/// What an event is worth to a pod: kube-scheduler's `queueingStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strategy {
    /// Nothing.
    Skip,
    /// An attempt, after its backoff.
    AfterBackoff,
    /// An attempt at once.
    Immediately,
}

impl Strategy {
    /// Whether no other event is worth more.
    pub(super) fn is_final(self, rejectors: &Rejectors) -> bool {
        match self {
            Strategy::Skip => false,
            Strategy::AfterBackoff => rejectors.pending.is_empty(),
            Strategy::Immediately => true,
        }
    }
}

/// The plugins among some that wait for an event, each group as its answer counts.
struct Interests<I> {
    pending: Option<I>,
    unschedulable: Option<I>,
    gate: Option<I>,
}

impl<I> Interests<I> {
    fn of<S: Surroundings<Interested = I>>(
        rejectors: &Rejectors,
        gate: Option<&'static str>,
        profile: usize,
        event: &S::Event,
        around: &mut S,
    ) -> Option<Self> {
        let mut among = |plugins: &[&'static str]| {
            if plugins.is_empty() { None } else { around.interested(profile, plugins, event) }
        };
        let held_by = gate.map(|gate| [gate]);
        let interests = Interests {
            gate: held_by.as_ref().and_then(|gate| among(gate)),
            pending: among(&rejectors.pending),
            unschedulable: among(&rejectors.unschedulable),
        };
        // What does not concern the plugin that holds a pod does not get it past that plugin.
        let concerned = if gate.is_some() {
            interests.gate.is_some()
        } else {
            interests.pending.is_some() || interests.unschedulable.is_some()
        };
        concerned.then_some(interests)
    }

    fn ask<S: Surroundings<Interested = I>>(
        &self,
        profile: usize,
        pod: &QueuedPod,
        event: &S::Event,
        around: &mut S,
    ) -> Strategy {
        let mut queue = |interested: &Option<I>| {
            interested.as_ref().is_some_and(|plugins| around.hint(profile, plugins, pod, event) == QueueingHint::Queue)
        };
        if queue(&self.pending) {
            Strategy::Immediately
        } else if queue(&self.gate) || queue(&self.unschedulable) {
            Strategy::AfterBackoff
        } else {
            Strategy::Skip
        }
    }
}

/// What an event is worth to a pod: `isPodWorthRequeuing`.
pub(super) fn worth<S: Surroundings>(
    rejectors: &Rejectors,
    gate: Option<&'static str>,
    profile: usize,
    pod: &QueuedPod,
    event: &S::Event,
    around: &mut S,
) -> Strategy {
    match Interests::of(rejectors, gate, profile, event, around) {
        Some(interests) => interests.ask(profile, pod, event, around),
        None => Strategy::Skip,
    }
}

/// Why pods come that an event wakes.
pub(super) fn cause_of<S: Surroundings>(_: &S, event: &S::Event) -> Cause {
    S::cause(event)
}

impl<O: Order, E> SchedulingQueue<O, E> {
    /// Something happened in the cluster: parked pods are woken whose rejectors find it worth an attempt, and pods in
    /// flight remember it. Only parked pods that `concerned` lets through are asked about.
    pub fn on_event(
        &mut self,
        event: E,
        concerned: impl Fn(&QueuedPod) -> bool,
        around: &mut impl Surroundings<Event = E>,
        now: i64,
    ) {
        let cause = cause_of(around, &event);
        let mut woken = Vec::new();
        for (why, slots) in self.parked.groups() {
            let profile = why.profile as usize;
            let Some(interests) = Interests::of(&why.rejectors, why.gate, profile, &event, around) else { continue };
            for &slot in slots {
                let pod = &self.entries[slot].queued;
                if !concerned(pod) {
                    continue;
                }
                match interests.ask(profile, pod, &event, around) {
                    Strategy::Skip => {}
                    strategy => woken.push((slot, strategy)),
                }
            }
        }
        for (slot, strategy) in woken {
            self.take_out(slot);
            self.move_by(slot, strategy, around, cause, now);
        }
        self.in_flight.record(event);
    }

    /// What an event about a parked pod is worth to it.
    pub(super) fn strategy_of_parked(
        &self,
        slot: Slot,
        event: &E,
        around: &mut impl Surroundings<Event = E>,
    ) -> Strategy {
        let entry = &self.entries[slot];
        let why = self.parked.why(entry.group);
        worth(&why.rejectors, why.gate, entry.profile as usize, &entry.queued, event, around)
    }
}
