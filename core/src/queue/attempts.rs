//! Pods are popped, and come back or not.

use std::sync::Arc;

use super::entries::Slot;
use super::events::{Strategy, worth};
use super::in_flight::Notes;
use super::parked::Why;
use super::{Attempt, Cause, Order, Place, Queue, Rejectors, SchedulingQueue, Surroundings};
use crate::model::Pod;

impl<O: Order, E> SchedulingQueue<O, E> {
    /// Takes the next pod: the first of the active queue or, if that is empty, of the backoff queue.
    pub fn pop(&mut self, around: &mut impl Surroundings<Event = E>, now: i64) -> Option<Attempt> {
        self.recover(around, now);
        let slot = self.active.pop(&mut self.entries).or_else(|| self.pop_early())?;
        let id = self.in_flight.start();
        let entry = &mut self.entries[slot];
        entry.place = Place::InFlight;
        entry.ticket = id;
        entry.queued.attempts += 1;
        Some(Attempt {
            id,
            slot,
            pod: entry.queued.pod.clone(),
            profile: entry.profile as usize,
            attempts: entry.queued.attempts,
            after_flush: entry.flushed,
            lost: Some(self.lost.clone()),
        })
    }

    /// Returns the pod that [`SchedulingQueue::pop`] would return now.
    pub fn peek(&mut self, around: &mut impl Surroundings<Event = E>, now: i64) -> Option<&Arc<Pod>> {
        self.recover(around, now);
        let slot = self.active.peek(&self.entries).or_else(|| self.backoff.peek(&self.entries))?;
        Some(&self.entries[slot].queued.pod)
    }

    #[cold]
    fn pop_early(&mut self) -> Option<Slot> {
        let slot = self.backoff.pop(&mut self.entries)?;
        self.incoming.count(Cause::PopFromBackoffQ, Queue::Active);
        Some(slot)
    }

    /// No plugin can reject the pod of this attempt any more: what happens from now on does not matter to it, since a
    /// failure is tried again in any case.
    pub fn permitted(&mut self, attempt: &Attempt) {
        self.in_flight.stop_watching(attempt.id);
    }

    /// An attempt failed. The pod waits for its backoff if nobody rejected it, or if something happened since it was popped
    /// that a rejector finds worth an attempt; else it is parked. Returns where it is; none if it is gone meanwhile.
    pub fn requeue(
        &mut self,
        attempt: Attempt,
        rejectors: Rejectors,
        around: &mut impl Surroundings<Event = E>,
        now: i64,
    ) -> Option<Place> {
        self.come_back(attempt.end(), rejectors, around, now)
    }

    /// The pod of an attempt is bound.
    pub fn bound(&mut self, attempt: Attempt, around: &mut impl Surroundings<Event = E>) {
        self.bound_after_flush += u64::from(attempt.after_flush);
        self.dropped(attempt, around);
    }

    /// There is nothing to be done for the pod of an attempt any more.
    pub fn dropped(&mut self, attempt: Attempt, around: &mut impl Surroundings<Event = E>) {
        let (id, slot) = attempt.end();
        if self.land(id, slot).is_some() {
            self.let_go(id, slot, around);
        }
    }

    /// An attempt ends. Returns what was noted about it; none if it is not one of this queue, or ended before.
    fn land(&mut self, id: u64, slot: Slot) -> Option<Notes<E>> {
        let entry = self.entries.get(slot)?;
        (entry.place == Place::InFlight && entry.ticket == id).then(|| self.in_flight.end(id))
    }

    /// The pod of an attempt that ended is none of the queue's any more.
    fn let_go(&mut self, id: u64, slot: Slot, around: &mut impl Surroundings<Event = E>) {
        self.in_flight.stop_watching(id);
        let entry = &self.entries[slot];
        around.nominator().withdraw(&entry.queued.pod.uid);
        if !entry.gone {
            around.pending(Some(&entry.queued.pod), None);
        }
        self.forget(slot);
    }

    /// Attempts that nobody ended: something broke.
    #[inline]
    pub(super) fn recover(&mut self, around: &mut impl Surroundings<Event = E>, now: i64) {
        if self.lost.is_empty() {
            return;
        }
        for attempt in self.lost.take() {
            self.come_back(attempt, Rejectors::default(), around, now);
        }
    }

    fn come_back(
        &mut self,
        (id, slot): (u64, Slot),
        rejectors: Rejectors,
        around: &mut impl Surroundings<Event = E>,
        now: i64,
    ) -> Option<Place> {
        let notes = self.land(id, slot)?;
        if self.entries[slot].gone {
            self.let_go(id, slot, around);
            return None;
        }
        let strategy = self.strategy_after_flight((id, slot), &notes, &rejectors, around);
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
        // A pod that comes back is behind those that came before it, but no clock makes it older than it was.
        let timestamp = entry.queued.timestamp.max(now);
        entry.queued.timestamp = around.timestamp(entry.profile as usize, &entry.queued.pod, timestamp);
        entry.flushed = false;
        entry.group = self.parked.group(Why { profile: entry.profile, rejectors, gate: None });
        self.move_by(slot, strategy, around, Cause::ScheduleAttemptFailure, now);
        Some(self.entries[slot].place)
    }

    fn strategy_after_flight(
        &self,
        (id, slot): (u64, Slot),
        notes: &Notes<E>,
        rejectors: &Rejectors,
        around: &mut impl Surroundings<Event = E>,
    ) -> Strategy {
        if rejectors.is_empty() {
            return Strategy::AfterBackoff;
        }
        let entry = &self.entries[slot];
        let kept = self.in_flight.since(id);
        let mut strategy = if notes.again || kept.is_none() { Strategy::AfterBackoff } else { Strategy::Skip };
        for event in notes.own.iter().chain(kept.into_iter().flatten()) {
            if strategy.is_final(rejectors) {
                break;
            }
            strategy = strategy.max(worth(rejectors, None, entry.profile as usize, &entry.queued, event, around));
        }
        strategy
    }

    /// Puts a pod that is in no container where a strategy wants it.
    pub(super) fn move_by(
        &mut self,
        slot: Slot,
        strategy: Strategy,
        around: &mut impl Surroundings<Event = E>,
        cause: Cause,
        now: i64,
    ) {
        let backs_off = !super::Backoff::is_over(self.entries[slot].ready, now);
        match strategy {
            Strategy::Skip => self.park(slot, Place::Unschedulable, cause, now),
            Strategy::AfterBackoff if backs_off => self.move_to_backoff(slot, around, cause, now),
            // Who is held is parked, and that is where it belongs.
            Strategy::AfterBackoff | Strategy::Immediately => drop(self.move_to_active(slot, around, cause, now)),
        }
    }
}
