//! Tasks of the scheduler that are in flight, such as calls to the API server.

use std::future::{Future, pending};
use std::panic::resume_unwind;

use schedc_core::scheduler::{Completed, Tasks};
use tokio::task::{JoinError, JoinSet};

/// Tasks on this runtime. They are cancelled when this value is dropped.
#[derive(Debug, Default)]
pub(crate) struct SpawnedTasks {
    tasks: JoinSet<Completed>,
    /// Whether a task was spawned since the last call of [`SpawnedTasks::take_new`].
    has_new: bool,
}

impl Tasks for SpawnedTasks {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.tasks.spawn(task);
        self.has_new = true;
    }
}

impl SpawnedTasks {
    /// Returns whether tasks were spawned since the last call.
    pub(crate) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.has_new)
    }

    /// Returns whether no task is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns a completed task, if there is one.
    pub(crate) fn take_completed(&mut self) -> Option<Completed> {
        self.tasks.try_join_next().map(completed)
    }

    /// Waits for a task to complete.
    pub(crate) async fn next_completed(&mut self) -> Completed {
        match self.tasks.join_next().await {
            Some(done) => completed(done),
            None => pending().await,
        }
    }
}

/// Unwraps a completed task. A panic is resumed: the pod of the task would otherwise stay assumed forever.
fn completed(done: Result<Completed, JoinError>) -> Completed {
    done.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => unreachable!("no task is cancelled: {error}"),
    })
}
