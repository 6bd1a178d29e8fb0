//! What happens in the cluster wakes pods.

use super::entries::Slot;
use super::{Cause, QueueContext, QueueOrder, Rejectors, SchedulingQueue};
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
    fn of<S: QueueContext<Interested = I>>(
        rejectors: &Rejectors,
        gate: Option<&'static str>,
        profile: usize,
        event: &S::Event,
        context: &mut S,
    ) -> Option<Self> {
        let mut among = |plugins: &[&'static str]| {
            if plugins.is_empty() { None } else { context.interested(profile, plugins, event) }
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

    fn ask<S: QueueContext<Interested = I>>(
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

/// What an event is worth to a pod: `isPodWorthRequeuing`.
pub(super) fn queueing_strategy<S: QueueContext>(
    rejectors: &Rejectors,
    gate: Option<&'static str>,
    profile: usize,
    pod: &QueuedPod,
    event: &S::Event,
    context: &mut S,
) -> Strategy {
    match Interests::of(rejectors, gate, profile, event, context) {
        Some(interests) => interests.ask(profile, pod, event, context),
        None => Strategy::Skip,
    }
}

/// Why pods come that an event wakes.
pub(super) fn cause_of<S: QueueContext>(_: &S, event: &S::Event) -> Cause {
    S::cause(event)
}

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Something happened in the cluster: parked pods are woken whose rejectors find it worth an attempt, and pods in
    /// flight remember it. Only parked pods that `concerned` lets through are asked about.
    pub fn on_event(
        &mut self,
        event: E,
        concerned: impl Fn(&QueuedPod) -> bool,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) {
        let cause = cause_of(context, &event);
        let mut woken = Vec::new();
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
                match interests.ask(profile, pod, &event, context) {
                    Strategy::Skip => {}
                    strategy => woken.push((slot, strategy)),
                }
            }
        }
        for (slot, strategy) in woken {
            self.take_out(slot);
            self.move_by(slot, strategy, context, cause, now);
        }
        self.in_flight.record(event);
    }

    /// What an event about a parked pod is worth to it.
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
