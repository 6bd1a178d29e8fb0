//! Tasks of the scheduler that are in flight, such as calls to the API server.

use std::future::{Future, pending};
use std::panic::resume_unwind;

use schedc_core::scheduler::{Completed, Tasks};
use tokio::task::{JoinError, JoinSet};

/// Tasks on this runtime. They are cancelled when this value is dropped.
#[derive(Debug, Default)]
pub(crate) struct SpawnedTasks(JoinSet<Completed>);

impl Tasks for SpawnedTasks {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.spawn(task);
    }
}

impl SpawnedTasks {
    /// Returns whether no task is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a completed task, if there is one.
    pub(crate) fn take_completed(&mut self) -> Option<Completed> {
        self.0.try_join_next().map(completed)
    }

    /// Waits for a task to complete.
    pub(crate) async fn next_completed(&mut self) -> Completed {
        match self.0.join_next().await {
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
