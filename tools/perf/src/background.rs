//! Activity that runs concurrently with the operations: churn and deletions, each at a separate interval.

use std::collections::VecDeque;

use schedc_in_memory::server::Key;

use crate::config::ChurnMode;
use crate::template::ObjectFactory;

/// A periodic task.
#[derive(Debug)]
pub(crate) struct PeriodicTask {
    /// Time of the next run.
    pub(crate) next: i64,
    /// Interval, in nanoseconds.
    pub(crate) interval: i64,
    pub(crate) task: BackgroundTask,
}

#[derive(Debug)]
pub(crate) enum BackgroundTask {
    /// Creates objects, and deletes them again in mode `recreate`.
    Churn {
        mode: ChurnMode,
        namespace: String,
        factories: Vec<ObjectFactory>,
        alive: Vec<Vec<Option<Key>>>,
        number: usize,
        turn: usize,
    },
    /// Deletes pods.
    Deletions { pods: VecDeque<Key> },
}

impl PeriodicTask {
    /// Creates a task that first runs after one interval, like a ticker.
    pub(crate) fn new(now: i64, interval: i64, task: BackgroundTask) -> Self {
        let interval = interval.max(1);
        PeriodicTask { next: now.saturating_add(interval), interval, task }
    }
}
