//! Pods in flight, and the events during their attempts: an event after the pop of a pod is not lost for this pod.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entries::Slot;
use crate::model::Pod;
use crate::model::map::Map;

/// A popped pod. Its attempt ends in exactly one way: the pod is requeued, bound, or dropped. If this value is dropped
/// without such an end, for example by an early return, the pod returns to the queue as after an error.
#[must_use = "a popped pod is requeued, bound or dropped"]
#[derive(Debug)]
pub struct Attempt {
    pub(super) id: u64,
    pub(super) slot: Slot,
    pub(super) pod: Arc<Pod>,
    pub(super) profile: usize,
    pub(super) attempts: u32,
    pub(super) after_flush: bool,
    pub(super) abandoned: Option<AbandonedAttempts>,
}

impl Attempt {
    /// Returns its number, unique in this queue.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }
    /// Returns the popped pod.
    #[inline]
    pub fn pod(&self) -> &Arc<Pod> {
        &self.pod
    }
    /// Returns the index of the profile that serves it.
    #[inline]
    pub fn profile(&self) -> usize {
        self.profile
    }
    /// Returns the number of attempts including this one.
    #[inline]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
    /// Returns whether the reason of the attempt is `podMaxInUnschedulablePodsDuration`, not an event. If such an
    /// attempt binds the pod, a hint has usually missed an event.
    pub fn is_after_flush(&self) -> bool {
        self.after_flush
    }

    /// Returns the attempt's number and slot, without recording it as abandoned.
    pub(super) fn end(mut self) -> (u64, Slot) {
        self.abandoned = None;
        (self.id, self.slot)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(abandoned) = self.abandoned.take() {
            abandoned.push(self.id, self.slot);
        }
    }
}

/// Attempts that were dropped without an end.
#[derive(Clone, Debug, Default)]
pub(super) struct AbandonedAttempts(Arc<AbandonedList>);

#[derive(Debug, Default)]
struct AbandonedList {
    /// Whether the list has attempts, which is rare.
    any: AtomicBool,
    attempts: Mutex<Vec<(u64, Slot)>>,
}

impl AbandonedAttempts {
    fn push(&self, attempt: u64, slot: Slot) {
        self.lock().push((attempt, slot));
        self.0.any.store(true, Ordering::Release);
    }
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.0.any.load(Ordering::Acquire)
    }
    pub(super) fn take(&self) -> Vec<(u64, Slot)> {
        let mut attempts = self.lock();
        self.0.any.store(false, Ordering::Release);
        std::mem::take(&mut *attempts)
    }
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Slot)>> {
        self.0.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events and marks of one attempt.
pub(super) struct AttemptEvents<E> {
    /// Events about this pod alone.
    pub(super) own: Vec<E>,
    /// Whether the pod is retried after any failure: because it was activated or added again, or because events about it
    /// were discarded.
    pub(super) retry: bool,
}

impl<E> Default for AttemptEvents<E> {
    fn default() -> Self {
        AttemptEvents { own: Vec::new(), retry: false }
    }
}

/// All pods in flight.
pub(super) struct InFlight<E> {
    /// Number of pods.
    len: usize,
    next: u64,
    /// Events and marks of attempts; most have none.
    attempt_events: Map<u64, AttemptEvents<E>>,
    /// Attempts that may still be rejected, with the number of the first event after their pop; the oldest first.
    /// Usually, only the last popped attempt is in the list.
    watching: VecDeque<(u64, u64)>,
    /// Events since the pop of the oldest attempt in `watching`.
    events: VecDeque<E>,
    /// Number of the first of `events`.
    first: u64,
    limit: usize,
}

impl<E> InFlight<E> {
    /// Makes an empty value that keeps at most this number of events.
    pub(super) fn new(limit: usize) -> Self {
        InFlight {
            len: 0,
            next: 0,
            attempt_events: Map::default(),
            watching: VecDeque::new(),
            events: VecDeque::new(),
            first: 0,
            limit: limit.max(1),
        }
    }
    /// Returns the number of pods.
    pub(super) fn len(&self) -> usize {
        self.len
    }
    /// Returns the number of events, except those about one pod alone.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }
    /// Returns the events, except those about one pod alone.
    pub(super) fn iter_events(&self) -> impl Iterator<Item = &E> {
        self.events.iter()
    }

    /// Starts an attempt. Returns its number.
    pub(super) fn start(&mut self) -> u64 {
        let attempt = self.next;
        self.next += 1;
        self.len += 1;
        self.watching.push_back((attempt, self.first + self.events.len() as u64));
        attempt
    }
    /// Marks a pod in flight for a retry after any failure.
    pub(super) fn mark_retry(&mut self, attempt: u64) {
        self.attempt_events.entry(attempt).or_default().retry = true;
    }

    /// Returns the index of an attempt among those that may still be rejected.
    fn watcher(&self, attempt: u64) -> Option<usize> {
        match self.watching.back() {
            Some(&(last, _)) if last == attempt => Some(self.watching.len() - 1),
            _ => self.watching.binary_search_by_key(&attempt, |watching| watching.0).ok(),
        }
    }

    /// Records a cluster event for all attempts that may still be rejected.
    pub(super) fn record(&mut self, event: E) {
        if self.watching.is_empty() {
            return;
        }
        if self.events.len() == self.limit {
            let half = self.limit.div_ceil(2);
            self.events.drain(..half);
            self.first += half as u64;
        }
        self.events.push_back(event);
    }
    /// Records an event about one pod in flight.
    pub(super) fn record_own(&mut self, attempt: u64, event: E) {
        let is_watching = self.watcher(attempt).is_some();
        let events = self.attempt_events.entry(attempt).or_default();
        if events.own.len() < self.limit && is_watching {
            events.own.push(event);
        } else {
            events.retry = true;
        }
    }

    /// Returns the events since a pod was popped. `None` if some were discarded, because there were too many or because
    /// the attempt can no longer be rejected.
    pub(super) fn since(&self, attempt: u64) -> Option<impl Iterator<Item = &E>> {
        let from = self.watching[self.watcher(attempt)?].1.checked_sub(self.first)?;
        Some(self.events.range(from as usize..))
    }

    /// Ends an attempt. [`InFlight::stop_watching`] then discards the events that only this attempt needed.
    pub(super) fn end(&mut self, attempt: u64) -> AttemptEvents<E> {
        self.len -= 1;
        if self.attempt_events.is_empty() {
            AttemptEvents::default()
        } else {
            self.attempt_events.remove(&attempt).unwrap_or_default()
        }
    }
    /// Stops recording events for a pod that was rejected, or can no longer be rejected.
    pub(super) fn stop_watching(&mut self, attempt: u64) {
        let Some(at) = self.watcher(attempt) else { return };
        self.watching.remove(at);
        let needed = match self.watching.front() {
            Some(&(_, since)) => since.saturating_sub(self.first) as usize,
            None => self.events.len(),
        };
        if needed > 0 {
            self.events.drain(..needed);
            self.first += needed as u64;
        }
    }
}
