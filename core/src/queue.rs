//! The active queue: pending pods in the order of the profile's QueueSort.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

use crate::extension_points::QueuedPod;
use crate::profile::Bundle;

/// A pod in the queue, with the profile that serves it.
struct Entry<B> {
    pod: QueuedPod,
    profile: usize,
    arrival: u64,
    bundle: PhantomData<fn() -> B>,
}

impl<B: Bundle> Ord for Entry<B> {
    /// Greater is sooner.
    fn cmp(&self, other: &Self) -> Ordering {
        if B::less(&self.pod, &other.pod) {
            Ordering::Greater
        } else if B::less(&other.pod, &self.pod) {
            Ordering::Less
        } else {
            other.arrival.cmp(&self.arrival)
        }
    }
}
impl<B: Bundle> PartialOrd for Entry<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<B: Bundle> PartialEq for Entry<B> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<B: Bundle> Eq for Entry<B> {}

/// Pods that can be tried now. Equals leave it in the order in which they came.
pub(crate) struct ActiveQueue<B: Bundle> {
    heap: BinaryHeap<Entry<B>>,
    arrivals: u64,
}

impl<B: Bundle> Default for ActiveQueue<B> {
    fn default() -> Self {
        ActiveQueue { heap: BinaryHeap::new(), arrivals: 0 }
    }
}

impl<B: Bundle> ActiveQueue<B> {
    pub(crate) fn push(&mut self, profile: usize, pod: QueuedPod) {
        self.heap.push(Entry { pod, profile, arrival: self.arrivals, bundle: PhantomData });
        self.arrivals += 1;
    }
    pub(crate) fn pop(&mut self) -> Option<(usize, QueuedPod)> {
        self.heap.pop().map(|entry| (entry.profile, entry.pod))
    }
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}
