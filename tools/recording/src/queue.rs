//! The bounded queue between the scheduling task and the thread that writes a recording.
//!
//! [`Queue::push`] never waits for the disk. When the queue is full, later changes are merged: of each object, only the
//! latest form is stored. A merged backlog lacks the order of the changes, so it is recorded as a repaired gap. The
//! size of a backlog depends on the number of changed objects, not on the time that the disk takes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::change::{ConvertedChange, Key};

/// Capacities of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Maximum number of changes that are stored one by one, in their order.
    pub changes: usize,
    /// Maximum number of objects and lists in a merged backlog. A queue that needs more is closed.
    pub merged: usize,
}

/// Number of changes for which an empty batch keeps memory: enough for 2,500 pods per second. The memory of larger
/// batches is returned.
const KEPT_CHANGES: usize = 1024;

/// A change with its time.
pub type TimedChange = (i64, ConvertedChange);

/// The changes that a queue contains at a time.
///
/// Changes have their texts in one buffer, and the queue alternates between the memory of two batches. Separate texts
/// would be freed by another thread than the one that allocated them, which slows down the allocator for both.
#[derive(Debug, Default)]
pub struct Batch {
    texts: String,
    /// Changes in their order.
    changes: Vec<(i64, ConvertedChange<Range<usize>>)>,
    /// Later changes, if the queue was full.
    pub backlog: Backlog,
}

impl Batch {
    /// Removes the changes and returns them in their order.
    pub fn drain_changes(&mut self) -> impl Iterator<Item = (i64, ConvertedChange<&str>)> {
        let texts = self.texts.as_str();
        self.changes.drain(..).map(move |(at, change)| (at, change.map(&mut |range| &texts[range])))
    }

    fn push(&mut self, at: i64, change: ConvertedChange) {
        let texts = &mut self.texts;
        let change = change.map(&mut |text: String| {
            let start = texts.len();
            texts.push_str(&text);
            start..texts.len()
        });
        self.changes.push((at, change));
    }

    /// Removes all changes, and keeps memory for [`KEPT_CHANGES`] changes.
    fn clear(&mut self) {
        self.texts.clear();
        self.texts.shrink_to(KEPT_CHANGES * 64);
        self.changes.clear();
        self.changes.shrink_to(KEPT_CHANGES);
        self.backlog = Backlog::default();
    }
}

/// The latest form of each object that changed while a queue was full.
#[derive(Debug, Default)]
pub struct Backlog {
    objects: BTreeMap<Key, TimedChange>,
    lists: BTreeMap<&'static str, TimedChange>,
}

impl Backlog {
    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.lists.is_empty()
    }

    /// Returns the kinds of the changes.
    pub fn kinds(&self) -> BTreeSet<&'static str> {
        self.objects.values().chain(self.lists.values()).map(|(_, change)| change.kind()).collect()
    }

    /// Returns the changes: objects precede the lists that contain them.
    pub fn into_changes(self) -> impl Iterator<Item = TimedChange> {
        self.objects.into_values().chain(self.lists.into_values())
    }

    fn len(&self) -> usize {
        self.objects.len() + self.lists.len()
    }

    fn insert(&mut self, at: i64, change: ConvertedChange) {
        match &change {
            ConvertedChange::Upsert { key, .. } | ConvertedChange::Removal { key, .. } => {
                self.objects.insert(key.clone(), (at, change));
            }
            ConvertedChange::ListComplete { kind, .. } => drop(self.lists.insert(kind, (at, change))),
        }
    }
}

/// A queue of changes that is bounded and does not block its producer.
#[derive(Debug)]
pub struct Queue {
    capacity: Capacity,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// Whether the consumer waits for the first change.
    is_idle: bool,
    /// Whether the producer has stopped.
    is_stopped: bool,
    /// Whether changes are no longer accepted.
    is_closed: bool,
}

impl Queue {
    /// Creates an empty queue.
    pub fn new(capacity: Capacity) -> Queue {
        Queue { capacity, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns the number of changes that wait.
    pub fn waiting(&self) -> usize {
        let batch = &self.lock().batch;
        batch.changes.len() + batch.backlog.len()
    }

    /// Adds a change. If the merged backlog is full, closes the queue and returns false. A closed queue ignores changes
    /// and returns true.
    pub fn push(&self, at: i64, change: ConvertedChange) -> bool {
        let mut state = self.lock();
        if state.is_closed {
            return true;
        }
        let State { batch, is_idle, .. } = &mut *state;
        if batch.backlog.is_empty() && batch.changes.len() < self.capacity.changes {
            batch.push(at, change);
        } else {
            batch.backlog.insert(at, change);
        }
        // A consumer that gathers changes ends its pause when the queue is half full.
        let is_half_full = batch.backlog.is_empty() && batch.changes.len() * 2 == self.capacity.changes;
        if mem::take(is_idle) || is_half_full {
            self.changed.notify_all();
        }
        let is_full = batch.backlog.len() > self.capacity.merged;
        if is_full {
            close(&mut state);
            self.changed.notify_all();
        }
        !is_full
    }

    /// Reports that no changes follow.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Drops the changes in the queue, and ignores all later changes.
    pub fn close(&self) {
        close(&mut self.lock());
    }

    /// Returns whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Waits until there is a change, the producer stops, or the time `until` is reached. After a change, gathers more
    /// changes for the time `pause`, which saves wake-ups. Replaces the content of `batch` by all changes of the queue.
    /// Returns whether the producer has stopped.
    pub fn take(&self, batch: &mut Batch, until: Option<Instant>, pause: Duration) -> bool {
        batch.clear();
        let mut state = self.lock();
        while state.must_wait() {
            let Some(remaining) = until.map(|until| until.saturating_duration_since(Instant::now())) else {
                state.is_idle = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if remaining.is_zero() {
                break;
            }
            state.is_idle = true;
            state = self.changed.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.is_idle = false;
        if !state.batch.changes.is_empty() {
            let is_gathering = |state: &mut State| {
                !state.is_stopped && !state.is_closed && state.batch.changes.len() * 2 < self.capacity.changes
            };
            let gathered = self.changed.wait_timeout_while(state, pause, is_gathering);
            state = gathered.unwrap_or_else(PoisonError::into_inner).0;
        }
        mem::swap(&mut state.batch, batch);
        state.is_stopped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn must_wait(&self) -> bool {
        self.batch.changes.is_empty() && !self.is_stopped && !self.is_closed
    }
}

fn close(state: &mut State) {
    state.is_closed = true;
    state.batch = Batch::default();
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_object;

    use super::*;
    use crate::{Change, Converter};

    fn upsert(name: &str, epoch: u32) -> ConvertedChange {
        let object = api_object(&format!("{{kind: Node, metadata: {{name: {name}}}}}"));
        Converter::default().convert(Change::Upsert(object, epoch)).unwrap()
    }

    /// Returns the changes of a queue in their order, and the backlog.
    fn take(queue: &Queue) -> (Vec<TimedChange>, Backlog) {
        let mut batch = Batch::default();
        queue.take(&mut batch, Some(Instant::now()), Duration::ZERO);
        let changes = batch.drain_changes().map(|(at, change)| (at, change.map(&mut str::to_owned)));
        (changes.collect(), batch.backlog)
    }

    #[test]
    fn a_full_queue_keeps_the_latest_form_of_each_object() {
        let queue = Queue::new(Capacity { changes: 2, merged: 10 });
        for (at, name) in (0..).zip(["a", "b", "c", "a", "c"]) {
            assert!(queue.push(at, upsert(name, 1)));
        }
        queue.push(5, ConvertedChange::ListComplete { kind: "Node", epoch: 1 });
        assert_eq!(queue.waiting(), 5, "c and a are merged");
        let (changes, backlog) = take(&queue);
        assert_eq!(queue.waiting(), 0);
        assert_eq!(changes, [(0, upsert("a", 1)), (1, upsert("b", 1))]);
        assert_eq!(backlog.kinds(), BTreeSet::from(["Node"]));
        let merged: Vec<_> = backlog.into_changes().collect();
        let list = ConvertedChange::ListComplete { kind: "Node", epoch: 1 };
        assert_eq!(merged, [(3, upsert("a", 1)), (4, upsert("c", 1)), (5, list)]);
        // The order is complete again.
        queue.push(6, upsert("a", 1));
        let (changes, backlog) = take(&queue);
        assert!(changes == [(6, upsert("a", 1))] && backlog.is_empty());
    }

    #[test]
    fn a_full_backlog_closes_the_queue() {
        let queue = Queue::new(Capacity { changes: 1, merged: 1 });
        assert!(queue.push(0, upsert("a", 1)) && queue.push(1, upsert("b", 1)));
        assert!(!queue.push(2, upsert("c", 1)));
        assert!(queue.is_closed());
        assert!(queue.push(3, upsert("d", 1)), "the full backlog is reported once");
        assert!(take(&queue).0.is_empty());
    }

    #[test]
    fn a_stopped_queue_returns_its_last_changes_at_once() {
        let queue = Queue::new(Capacity { changes: 10, merged: 10 });
        queue.push(0, upsert("a", 1));
        queue.stop();
        let mut batch = Batch::default();
        let is_stopped = queue.take(&mut batch, None, Duration::MAX);
        assert_eq!((batch.drain_changes().count(), is_stopped), (1, true));
    }
}
