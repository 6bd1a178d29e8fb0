//! Cluster events that move pods.

use super::entries::Slot;
use super::{Cause, QueueContext, QueueOrder, Rejectors, SchedulingQueue};
use crate::plugin_api::extension_points::{QueuedPod, QueueingHint};

/// Effect of an event on a pod: kube-scheduler's `queueingStrategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strategy {
    /// No effect.
    Skip,
    /// An attempt after the pod's backoff.
    AfterBackoff,
    /// An attempt at once.
    Immediately,
}

impl Strategy {
    /// Returns whether no other event can have a greater effect.
    pub(super) fn is_final(self, rejectors: &Rejectors) -> bool {
        match self {
            Strategy::Skip => false,
            Strategy::AfterBackoff => rejectors.pending.is_empty(),
            Strategy::Immediately => true,
        }
    }
}

/// Interests in an event: of the plugins that rejected a pod, with `Pending` or as unschedulable, and of the plugin
/// that gates it.
struct Interests<I> {
    pending: Option<I>,
    unschedulable: Option<I>,
    gate: Option<I>,
}

impl<I> Interests<I> {
    fn of<S: QueueContext<Interested = I>>(
        rejectors: &Rejectors,
        gate: Option<&'static str>,
        profile: usize,
        event: &S::Event,
        context: &mut S,
    ) -> Option<Self> {
        let mut interest_of = |plugins: &[&'static str]| {
            if plugins.is_empty() { None } else { context.interested(profile, plugins, event) }
        };
        let held_by = gate.map(|gate| [gate]);
        let interests = Interests {
            gate: held_by.as_ref().and_then(|gate| interest_of(gate)),
            pending: interest_of(&rejectors.pending),
            unschedulable: interest_of(&rejectors.unschedulable),
        };
        // An event that does not concern the gating plugin cannot change the gate.
        let concerned = if gate.is_some() {
            interests.gate.is_some()
        } else {
            interests.pending.is_some() || interests.unschedulable.is_some()
        };
        concerned.then_some(interests)
    }

    fn strategy<S: QueueContext<Interested = I>>(
        &self,
        profile: usize,
        pod: &QueuedPod,
        event: &S::Event,
        context: &mut S,
    ) -> Strategy {
        let mut queue = |interested: &Option<I>| {
            interested.as_ref().is_some_and(|plugins| context.hint(profile, plugins, pod, event) == QueueingHint::Queue)
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

/// Returns the effect of an event on a pod: `isPodWorthRequeuing`.
pub(super) fn queueing_strategy<S: QueueContext>(
    rejectors: &Rejectors,
    gate: Option<&'static str>,
    profile: usize,
    pod: &QueuedPod,
    event: &S::Event,
    context: &mut S,
) -> Strategy {
    match Interests::of(rejectors, gate, profile, event, context) {
        Some(interests) => interests.strategy(profile, pod, event, context),
        None => Strategy::Skip,
    }
}

/// Returns the cause of the arrivals that an event leads to.
pub(super) fn cause_of<S: QueueContext>(_: &S, event: &S::Event) -> Cause {
    S::cause(event)
}

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Handles a cluster event. Unschedulable pods move according to the hints of their rejectors; pods in flight
    /// record the event. Hints are called only for unschedulable pods for which `concerned` is true.
    pub fn on_event(
        &mut self,
        event: E,
        concerned: impl Fn(&QueuedPod) -> bool,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) {
        let cause = cause_of(context, &event);
        let mut moves = Vec::new();
        for (reason, slots) in self.parked.groups() {
            let profile = reason.profile as usize;
            let Some(interests) = Interests::of(&reason.rejectors, reason.gate, profile, &event, context) else {
                continue;
            };
            for &slot in slots {
                let pod = &self.entries[slot].queued;
                if !concerned(pod) {
                    continue;
                }
                match interests.strategy(profile, pod, &event, context) {
                    Strategy::Skip => {}
                    strategy => moves.push((slot, strategy)),
                }
            }
        }
        for (slot, strategy) in moves {
            self.take_out(slot);
            self.move_by(slot, strategy, context, cause, now);
        }
        self.in_flight.record(event);
    }

    /// Returns the effect of an event on an unschedulable pod.
    pub(super) fn strategy_of_parked(
        &self,
        slot: Slot,
        event: &E,
        context: &mut impl QueueContext<Event = E>,
    ) -> Strategy {
        let entry = &self.entries[slot];
        let reason = self.parked.reason(entry.group);
        queueing_strategy(&reason.rejectors, reason.gate, entry.profile as usize, &entry.queued, event, context)
    }
}
