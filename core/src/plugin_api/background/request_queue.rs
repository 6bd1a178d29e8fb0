//! Requests of plugins and their tasks to the scheduler.

use std::fmt;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::TaskRequest;
use crate::plugin_api::requests::Command;

/// Requests that the scheduler has not taken yet. Clones share the requests.
#[derive(Clone, Default)]
pub(crate) struct RequestQueue(Arc<Mutex<PendingRequests>>);

#[derive(Default)]
struct PendingRequests {
    commands: Vec<Command>,
    task_requests: Vec<TaskRequest>,
    /// Waker of the task that signals new requests to the scheduler; `None` if no task waits for requests. The
    /// scheduler also checks the queue at every event.
    notifier: Option<Waker>,
}

impl RequestQueue {
    pub(crate) fn send(&self, command: Command) {
        self.put(|pending| pending.commands.push(command));
    }

    pub(crate) fn send_task_request(&self, task_request: TaskRequest) {
        self.put(|pending| pending.task_requests.push(task_request));
    }

    /// Removes and returns the requests. Every decision calls this function, and the queue is usually empty. Task
    /// requests stay in the queue unless `takes_task_requests` is true.
    pub(crate) fn take(&self, takes_task_requests: bool) -> Option<(Vec<Command>, Vec<TaskRequest>)> {
        let mut pending = self.lock();
        let has_task_requests = takes_task_requests && !pending.task_requests.is_empty();
        if pending.commands.is_empty() && !has_task_requests {
            return None;
        }
        Some((
            take(&mut pending.commands),
            if has_task_requests { take(&mut pending.task_requests) } else { Vec::new() },
        ))
    }

    /// Removes the requests of running tasks, which are aborted. Tasks that have not started yet stay in the queue.
    pub(crate) fn discard_requests_of_tasks(&self) {
        self.lock().task_requests.retain(|request| matches!(request, TaskRequest::Spawn(_)));
    }

    /// Waits until there are requests.
    pub(crate) async fn wait_nonempty(&self) {
        poll_fn(|context| {
            let mut pending = self.lock();
            if pending.commands.is_empty() && pending.task_requests.is_empty() {
                pending.notifier = Some(context.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await
    }

    fn put(&self, put: impl FnOnce(&mut PendingRequests)) {
        let mut pending = self.lock();
        put(&mut pending);
        let notifier = pending.notifier.take();
        drop(pending);
        if let Some(notifier) = notifier {
            notifier.wake();
        }
    }

    /// Locks the requests. A panic under the lock leaves no incomplete change, so the requests are valid.
    fn lock(&self) -> MutexGuard<'_, PendingRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RequestQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = self.lock();
        f.debug_struct("RequestQueue")
            .field("commands", &pending.commands)
            .field("task_requests", &pending.task_requests.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plugin_api::background::Channel;

    #[test]
    fn only_tasks_that_have_not_started_outlive_a_stop() {
        let queue = RequestQueue::default();
        queue.send_task_request(TaskRequest::Sleep(Duration::from_secs(1), Channel::default()));
        queue.send_task_request(TaskRequest::Spawn(Box::pin(async {})));
        queue.discard_requests_of_tasks();
        let (_, task_requests) = queue.take(true).unwrap_or_default();
        assert!(matches!(task_requests[..], [TaskRequest::Spawn(_)]));
    }
}
