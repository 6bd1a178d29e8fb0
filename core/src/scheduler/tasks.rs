//! Asynchronous calls to the cluster.

use std::future::Future;

use crate::model::Uid;
use crate::plugin_api::client::ApiError;
use crate::plugin_api::handle::WriteRequest;
use crate::plugin_api::status::Status;

/// Runs asynchronous calls to the cluster: the task set of a runtime, or of a simulator.
///
/// The results of tasks go to [`Scheduler::on_completed`](super::Scheduler::on_completed), in any order. A dropped task
/// never completes, and the scheduler keeps the state of its work, such as a binding in progress.
pub trait Tasks {
    /// Starts a task.
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static);
}

/// Result of a task.
#[derive(Debug)]
pub struct Completed(pub(super) Work);

#[derive(Debug)]
pub(super) enum Work {
    /// Write of a pod's status, successful or not.
    Status { pod: Uid },
    /// PreBind. `None`: it was aborted.
    PreBound { pod: Uid, attempt: u64, result: Option<Result<(), Status>> },
    /// Bind.
    Bound { pod: Uid, attempt: u64, result: Result<(), Status> },
    /// Deletion of victims, successful or not.
    Preempted { preemptor: Uid, since: i64, succeeded: bool },
    /// A plugin's fire-and-forget write, successful or not.
    Written { request: WriteRequest, result: Result<(), ApiError> },
    /// A background task of a plugin ended or was aborted.
    Background(u64),
    /// A call of a background task ended; the task has the result.
    Called,
    /// A background task has a request.
    RequestsAvailable,
}
