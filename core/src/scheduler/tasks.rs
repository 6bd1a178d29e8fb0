//! What the scheduler does not wait for: calls to the cluster.

use std::future::Future;

use crate::client::ApiError;
use crate::handle::WriteRequest;
use crate::model::Uid;
use crate::status::Status;

/// Runs what talks to the cluster, beside the scheduler: a runtime's set of tasks, or a simulator's.
///
/// What a task returns goes to [`Scheduler::on_completed`](super::Scheduler::on_completed), in any order. Tasks that are
/// dropped end nothing: what they were about stays as it is.
pub trait Tasks {
    /// Starts one.
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static);
}

/// A task that is done.
#[derive(Debug)]
pub struct Completed(pub(super) Work);

#[derive(Debug)]
pub(super) enum Work {
    /// A pod's status was written, or could not be.
    Status { pod: Uid },
    /// PreBind ran. `None`: it was cancelled.
    PreBound { pod: Uid, attempt: u64, result: Option<Result<(), Status>> },
    /// Bind ran.
    Bound { pod: Uid, attempt: u64, result: Result<(), Status> },
    /// Room was made for a pod, or could not be.
    Preempted { preemptor: Uid, since: i64, was_done: bool },
    /// A plugin's errand was run, or could not be.
    Written { request: WriteRequest, result: Result<(), ApiError> },
    /// A plugin's task beside the scheduler came to its end, or was ended.
    Background(u64),
    /// What such a task asked for was done, or could not be. It knows already.
    Called,
    /// Such a task asks for something.
    RequestsAvailable,
}
