//! Pods that are being tried, and what happens meanwhile: an event that comes after a pod was popped is not lost for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::entries::Slot;
use crate::map::Map;
use crate::model::Pod;

/// A popped pod. It goes back to the queue that it is from, in exactly one way: requeued, bound, or dropped. One that is let
/// go of otherwise, on an early return, comes back as one whose attempt broke.
#[must_use = "a popped pod is requeued, bound or dropped"]
#[derive(Debug)]
pub struct Attempt {
    pub(super) id: u64,
    pub(super) pod: Arc<Pod>,
    pub(super) profile: usize,
    pub(super) attempts: u32,
    pub(super) after_flush: bool,
    pub(super) lost: Option<Lost>,
}

impl Attempt {
    /// Its number: no other attempt of this queue has the same.
    pub fn id(&self) -> u64 {
        self.id
    }
    /// The pod as it was when it was popped.
    pub fn pod(&self) -> &Arc<Pod> {
        &self.pod
    }
    /// The profile that serves it.
    pub fn profile(&self) -> usize {
        self.profile
    }
    /// How often it was tried, this time included.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
    /// Whether it is tried only because it was unschedulable for too long, and not because of an event: a sign that a
    /// hint missed something, if it is bound now.
    pub fn is_after_flush(&self) -> bool {
        self.after_flush
    }

    /// The number of the attempt, which is nobody's burden any more.
    pub(super) fn end(mut self) -> u64 {
        self.lost = None;
        self.id
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(lost) = self.lost.take() {
            lost.push(self.id);
        }
    }
}

/// Attempts that nobody ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost(Arc<Mutex<Vec<u64>>>);

impl Lost {
    fn push(&self, attempt: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(attempt);
    }
    pub(super) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A pod in flight.
pub(super) struct Flight<E> {
    pub(super) slot: Slot,
    /// Events about this pod alone.
    pub(super) own: Vec<E>,
    /// Whatever its attempt finds, it is tried again: somebody asked for that, or events were too many to keep.
    pub(super) again: bool,
}

/// All pods in flight.
pub(super) struct InFlight<E> {
    flights: Map<u64, Flight<E>>,
    next: u64,
    /// Attempts that may still be rejected, with the number of the first event after their pop.
    watching: BTreeMap<u64, u64>,
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
            flights: Map::default(),
            next: 0,
            watching: BTreeMap::new(),
            events: VecDeque::new(),
            first: 0,
            limit: limit.max(1),
        }
    }
    /// Number of pods.
    pub(super) fn len(&self) -> usize {
        self.flights.len()
    }
    /// Number of events, those about one pod alone left out.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }

    /// A pod takes off. Returns the number of the attempt.
    pub(super) fn start(&mut self, slot: Slot) -> u64 {
        let attempt = self.next;
        self.next += 1;
        self.flights.insert(attempt, Flight { slot, own: Vec::new(), again: false });
        self.watching.insert(attempt, self.first + self.events.len() as u64);
        attempt
    }
    pub(super) fn get_mut(&mut self, attempt: u64) -> Option<&mut Flight<E>> {
        self.flights.get_mut(&attempt)
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
        let Some(flight) = self.flights.get_mut(&attempt) else { return };
        if flight.own.len() < self.limit && self.watching.contains_key(&attempt) {
            flight.own.push(event);
        } else {
            flight.again = true;
        }
    }

    /// What happened since a pod was popped. `None`: too much, it was not kept.
    pub(super) fn since(&self, attempt: u64) -> Option<impl Iterator<Item = &E>> {
        let from = self.watching.get(&attempt)?.checked_sub(self.first)?;
        Some(self.events.range(from as usize..))
    }

    /// An attempt ends. What it alone still needed to hear of is forgotten with [`InFlight::stop_watching`].
    pub(super) fn end(&mut self, attempt: u64) -> Option<Flight<E>> {
        self.flights.remove(&attempt)
    }
    /// A pod will not be rejected any more, or was.
    pub(super) fn stop_watching(&mut self, attempt: u64) {
        self.watching.remove(&attempt);
        let needed = match self.watching.first_key_value() {
            Some((_, &since)) => since.saturating_sub(self.first) as usize,
            None => self.events.len(),
        };
        self.events.drain(..needed);
        self.first += needed as u64;
    }
}
