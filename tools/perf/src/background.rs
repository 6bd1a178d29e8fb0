//! What happens beside the operations: churn and deletions, each at its own pace.

use std::collections::VecDeque;

use schedc_in_memory::server::{Key, Request};

use crate::Error;
use crate::config::ChurnMode;
use crate::run::Runner;
use crate::template::ObjectFactory;

/// Something that happens again and again.
#[derive(Debug)]
pub(crate) struct Background {
    /// When it happens next.
    next: i64,
    /// How long it waits in between, in nanoseconds.
    interval: i64,
    task: BackgroundTask,
}

#[derive(Debug)]
pub(crate) enum BackgroundTask {
    /// Objects come, and go again if they are recreated.
    Churn {
        mode: ChurnMode,
        namespace: String,
        factories: Vec<ObjectFactory>,
        alive: Vec<Vec<Option<Key>>>,
        number: usize,
        turn: usize,
    },
    /// Pods go.
    Deletions { pods: VecDeque<Key> },
}

impl Background {
    /// It happens first after an interval, as a ticker's first tick does.
    pub(crate) fn new(now: i64, interval: i64, task: BackgroundTask) -> Self {
        let interval = interval.max(1);
        Background { next: now.saturating_add(interval), interval, task }
    }

    pub(crate) fn next(&self) -> i64 {
        self.next
    }

    /// Does what is due, once: what was missed is not made up for, as with a ticker. Returns whether there is more to come.
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
                    // It may have been evicted meanwhile.
                    _ = runner.request(Request::Delete(key, None));
                }
                Ok(!pods.is_empty())
            }
        }
    }
}
