//! Activity that runs concurrently with the operations: churn and deletions, each at a separate interval.

use std::collections::VecDeque;

use schedc_in_memory::server::{Key, Request};

use crate::Error;
use crate::config::ChurnMode;
use crate::run::Runner;
use crate::template::ObjectFactory;

/// A periodic task.
#[derive(Debug)]
pub(crate) struct PeriodicTask {
    /// Time of the next run.
    next: i64,
    /// Interval, in nanoseconds.
    interval: i64,
    task: BackgroundTask,
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

    pub(crate) fn next(&self) -> i64 {
        self.next
    }

    /// Runs the task once. Missed intervals are skipped, as with a ticker. Returns whether the task continues.
    pub(crate) fn run(&mut self, runner: &mut Runner<'_>, now: i64) -> Result<bool, Error> {
        self.next = self.next.saturating_add(self.interval);
        match &mut self.task {
            BackgroundTask::Churn { mode, namespace, factories, alive, number, turn } => {
                self.next = self.next.max(now.saturating_sub(self.interval));
                for (factory, alive) in factories.iter().zip(alive) {
                    let at = if *mode == ChurnMode::Recreate { *turn % *number } else { 0 };
                    match alive.get_mut(at).and_then(Option::take) {
                        Some(key) => _ = runner.request(Request::Delete(key, None)),
                        None => {
                            let key = runner.create(factory.make(0)?, namespace, true)?;
                            if let (ChurnMode::Recreate, Some(alive)) = (*mode, alive.get_mut(at)) {
                                *alive = Some(key);
                            }
                        }
                    }
                }
                *turn += 1;
                Ok(*mode == ChurnMode::Recreate || *number == 0 || *turn < *number)
            }
            BackgroundTask::Deletions { pods } => {
                if let Some(key) = pods.pop_front() {
                    // The pod may have been evicted since.
                    _ = runner.request(Request::Delete(key, None));
                }
                Ok(!pods.is_empty())
            }
        }
    }
}
