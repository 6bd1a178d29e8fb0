//! Pods that are being tried, and what happens meanwhile: an event that comes after a pod was popped is not lost for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entries::Slot;
use crate::map::Map;
use crate::model::Pod;

/// A popped pod. It goes back to the queue that it is from, in exactly one way: requeued, bound, or dropped. One that is let
/// go of otherwise, on an early return, comes back as one whose attempt broke.
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
    /// Its number: no other attempt of this queue has the same.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }
    /// The pod as it was when it was popped.
    #[inline]
    pub fn pod(&self) -> &Arc<Pod> {
        &self.pod
    }
    /// The profile that serves it.
    #[inline]
    pub fn profile(&self) -> usize {
        self.profile
    }
    /// How often it was tried, this time included.
    #[inline]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
    /// Whether it is tried only because it was unschedulable for too long, and not because of an event: a sign that a
    /// hint missed something, if it is bound now.
    pub fn is_after_flush(&self) -> bool {
        self.after_flush
    }

    /// The number of the attempt, which is nobody's burden any more, and where its pod is.
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

/// Attempts that nobody ended.
#[derive(Clone, Debug, Default)]
pub(super) struct AbandonedAttempts(Arc<AbandonedList>);

#[derive(Debug, Default)]
struct AbandonedList {
    /// Whether there are any: there hardly ever are.
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

/// What is noted about one attempt.
pub(super) struct AttemptEvents<E> {
    /// Events about this pod alone.
    pub(super) own: Vec<E>,
    /// Whatever its attempt finds, it is tried again: somebody asked for that, or events were too many to keep.
    pub(super) retry: bool,
}

impl<E> Default for AttemptEvents<E> {
    fn default() -> Self {
        AttemptEvents { own: Vec::new(), retry: false }
    }
}

/// All pods in flight.
pub(super) struct InFlight<E> {
    /// How many there are.
    len: usize,
    next: u64,
    /// What is noted about attempts, which is nothing for most.
    notes: Map<u64, AttemptEvents<E>>,
    /// Attempts that may still be rejected, with the number of the first event after their pop; the oldest first. It is
    /// mostly one, which was the last to be popped.
    watching: VecDeque<(u64, u64)>,
    /// What happened since the oldest of them was popped.
    events: VecDeque<E>,
    /// The number of the first of `events`.
    first: u64,
    limit: usize,
}

impl<E> InFlight<E> {
    /// Keeps at most so many events.
    pub(super) fn new(limit: usize) -> Self {
        InFlight {
            len: 0,
            next: 0,
            notes: Map::default(),
            watching: VecDeque::new(),
            events: VecDeque::new(),
            first: 0,
            limit: limit.max(1),
        }
    }
    /// Number of pods.
    pub(super) fn len(&self) -> usize {
        self.len
    }
    /// Number of events, those about one pod alone left out.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }
    /// These events.
    pub(super) fn iter_events(&self) -> impl Iterator<Item = &E> {
        self.events.iter()
    }

    /// A pod takes off. Returns the number of the attempt.
    pub(super) fn start(&mut self) -> u64 {
        let attempt = self.next;
        self.next += 1;
        self.len += 1;
        self.watching.push_back((attempt, self.first + self.events.len() as u64));
        attempt
    }
    /// A pod in flight is to be tried again, whatever its attempt finds.
    pub(super) fn mark_retry(&mut self, attempt: u64) {
        self.notes.entry(attempt).or_default().retry = true;
    }

    /// Where an attempt is among those that may still be rejected.
    fn watcher(&self, attempt: u64) -> Option<usize> {
        match self.watching.back() {
            Some(&(last, _)) if last == attempt => Some(self.watching.len() - 1),
            _ => self.watching.binary_search_by_key(&attempt, |watching| watching.0).ok(),
        }
    }

    /// Something happened.
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
    /// Something happened to a pod in flight.
    pub(super) fn record_own(&mut self, attempt: u64, event: E) {
        let is_watching = self.watcher(attempt).is_some();
        let notes = self.notes.entry(attempt).or_default();
        if notes.own.len() < self.limit && is_watching {
            notes.own.push(event);
        } else {
            notes.retry = true;
        }
    }

    /// What happened since a pod was popped. `None`: too much, it was not kept.
    pub(super) fn since(&self, attempt: u64) -> Option<impl Iterator<Item = &E>> {
        let from = self.watching[self.watcher(attempt)?].1.checked_sub(self.first)?;
        Some(self.events.range(from as usize..))
    }

    /// An attempt ends. What it alone still needed to hear of is forgotten with [`InFlight::stop_watching`].
    pub(super) fn end(&mut self, attempt: u64) -> AttemptEvents<E> {
        self.len -= 1;
        if self.notes.is_empty() { AttemptEvents::default() } else { self.notes.remove(&attempt).unwrap_or_default() }
    }
    /// A pod will not be rejected any more, or was.
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
