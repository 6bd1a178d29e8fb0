//! Pods that leave the queue for an attempt, and return or not.

use std::sync::Arc;

use super::entries::Slot;
use super::events::{Strategy, queueing_strategy};
use super::in_flight::AttemptEvents;
use super::parked::ParkReason;
use super::{Attempt, Cause, QueueContext, QueueKind, QueueOrder, QueuePlace, Rejectors, SchedulingQueue};
use crate::model::Pod;

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Pops the next pod: the first of the active queue or, if that is empty, of the backoff queue.
    pub fn pop(&mut self, context: &mut impl QueueContext<Event = E>, now: i64) -> Option<Attempt> {
        self.recover(context, now);
        let slot = self.active.pop(&mut self.entries).or_else(|| self.pop_early())?;
        let id = self.in_flight.start();
        let entry = &mut self.entries[slot];
        entry.place = QueuePlace::InFlight;
        entry.ticket = id;
        entry.queued.attempts += 1;
        Some(Attempt {
            id,
            slot,
            pod: entry.queued.pod.clone(),
            profile: entry.profile as usize,
            attempts: entry.queued.attempts,
            after_flush: entry.flushed,
            abandoned: Some(self.abandoned.clone()),
        })
    }

    /// Returns the pod that [`SchedulingQueue::pop`] would return now.
    pub fn peek(&mut self, context: &mut impl QueueContext<Event = E>, now: i64) -> Option<&Arc<Pod>> {
        self.recover(context, now);
        let slot = self.active.peek(&self.entries).or_else(|| self.backoff.peek(&self.entries))?;
        Some(&self.entries[slot].queued.pod)
    }

    #[cold]
    #[inline(never)]
    fn pop_early(&mut self) -> Option<Slot> {
        let slot = self.backoff.pop(&mut self.entries)?;
        self.incoming.count(Cause::PopFromBackoffQ, QueueKind::Active);
        Some(slot)
    }

    /// Ends the recording of events for an attempt that plugins can no longer reject. From now on, every failure is
    /// retried without an event.
    pub fn permitted(&mut self, attempt: &Attempt) {
        self.in_flight.stop_watching(attempt.id);
    }

    /// Returns the pod of a failed attempt to the queue. The pod is retried after its backoff if no plugin rejected it, if
    /// the hint of a rejector is `Queue` for an event since the pop, if such events were discarded, or if the pod was
    /// activated or added again. It is retried at once if the hint `Queue` is that of a plugin that returned `Pending`.
    /// Otherwise it becomes an unschedulable pod. Returns its place; `None` if it was deleted meanwhile.
    pub fn requeue(
        &mut self,
        attempt: Attempt,
        rejectors: Rejectors,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) -> Option<QueuePlace> {
        self.reinsert(attempt.end(), rejectors, context, now)
    }

    /// Removes a bound pod.
    pub fn bound(&mut self, attempt: Attempt, context: &mut impl QueueContext<Event = E>) {
        self.bound_after_flush += u64::from(attempt.after_flush);
        self.dropped(attempt, context);
    }

    /// Removes a pod that needs no further attempts.
    pub fn dropped(&mut self, attempt: Attempt, context: &mut impl QueueContext<Event = E>) {
        let (id, slot) = attempt.end();
        if self.end_attempt(id, slot).is_some() {
            self.release(id, slot, context);
        }
    }

    /// Ends an attempt. Returns its events; `None` if it belongs to another queue, or ended before.
    fn end_attempt(&mut self, id: u64, slot: Slot) -> Option<AttemptEvents<E>> {
        let entry = self.entries.get(slot)?;
        (entry.place == QueuePlace::InFlight && entry.ticket == id).then(|| self.in_flight.end(id))
    }

    /// Removes the pod of an ended attempt from the queue.
    fn release(&mut self, id: u64, slot: Slot, context: &mut impl QueueContext<Event = E>) {
        self.in_flight.stop_watching(id);
        let entry = &self.entries[slot];
        context.nominator().withdraw(&entry.queued.pod.uid);
        if !entry.gone {
            context.pending(Some(&entry.queued.pod), None);
        }
        self.forget(slot);
    }

    /// Returns the pods of abandoned attempts to the queue, as after an error.
    #[inline]
    pub(super) fn recover(&mut self, context: &mut impl QueueContext<Event = E>, now: i64) {
        if !self.abandoned.is_empty() {
            self.reinsert_abandoned(context, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn reinsert_abandoned(&mut self, context: &mut impl QueueContext<Event = E>, now: i64) {
        for attempt in self.abandoned.take() {
            self.reinsert(attempt, Rejectors::default(), context, now);
        }
    }

    fn reinsert(
        &mut self,
        (id, slot): (u64, Slot),
        rejectors: Rejectors,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) -> Option<QueuePlace> {
        let events = self.end_attempt(id, slot)?;
        if self.entries[slot].gone {
            self.release(id, slot, context);
            return None;
        }
        let strategy = self.strategy_after_flight((id, slot), &events, &rejectors, context);
        self.in_flight.stop_watching(id);
        let entry = &mut self.entries[slot];
        if !entry.has_failed() {
            self.first_ready.insert(slot, entry.since);
        }
        let failures = if rejectors.is_empty() {
            entry.errors = entry.errors.saturating_add(1);
            entry.errors
        } else {
            entry.errors = 0;
            entry.unschedulable = entry.unschedulable.saturating_add(1);
            entry.unschedulable
        };
        entry.ready = self.options.backoff.ready(failures.into(), now);
        // A returning pod is behind those that came before it; a clock that goes back does not make it older.
        let timestamp = entry.queued.timestamp.max(now);
        entry.queued.timestamp = context.timestamp(entry.profile as usize, &entry.queued.pod, timestamp);
        entry.flushed = false;
        entry.group = self.parked.group(ParkReason { profile: entry.profile, rejectors, gate: None });
        self.move_by(slot, strategy, context, Cause::ScheduleAttemptFailure, now);
        Some(self.entries[slot].place)
    }

    fn strategy_after_flight(
        &self,
        (id, slot): (u64, Slot),
        events: &AttemptEvents<E>,
        rejectors: &Rejectors,
        context: &mut impl QueueContext<Event = E>,
    ) -> Strategy {
        if rejectors.is_empty() {
            return Strategy::AfterBackoff;
        }
        let entry = &self.entries[slot];
        let recorded = self.in_flight.since(id);
        let mut strategy = if events.retry || recorded.is_none() { Strategy::AfterBackoff } else { Strategy::Skip };
        for event in events.own.iter().chain(recorded.into_iter().flatten()) {
            if strategy.is_final(rejectors) {
                break;
            }
            strategy =
                strategy.max(queueing_strategy(rejectors, None, entry.profile as usize, &entry.queued, event, context));
        }
        strategy
    }

    /// Moves a pod according to a strategy. The pod must be in no heap and not parked.
    pub(super) fn move_by(
        &mut self,
        slot: Slot,
        strategy: Strategy,
        context: &mut impl QueueContext<Event = E>,
        cause: Cause,
        now: i64,
    ) {
        let backs_off = !super::Backoff::is_over(self.entries[slot].ready, now);
        match strategy {
            Strategy::Skip => self.park(slot, QueuePlace::Unschedulable, cause, now),
            Strategy::AfterBackoff if backs_off => self.move_to_backoff(slot, context, cause, now),
            // A gated pod stays parked.
            Strategy::AfterBackoff | Strategy::Immediately => drop(self.move_to_active(slot, context, cause, now)),
        }
    }
}
