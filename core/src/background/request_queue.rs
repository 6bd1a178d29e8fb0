//! How plugins and their tasks reach the scheduler.

use std::fmt;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::TaskRequest;
use crate::handle::Command;

/// What was asked of the scheduler since it looked last. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct RequestQueue(Arc<Mutex<PendingRequests>>);

#[derive(Default)]
struct PendingRequests {
    commands: Vec<Command>,
    task_requests: Vec<TaskRequest>,
    /// Who is to tell the scheduler that it has mail, if there is somebody: it looks by itself whenever something happens.
    notifier: Option<Waker>,
}

impl RequestQueue {
    pub(crate) fn send(&self, command: Command) {
        self.put(|pending| pending.commands.push(command));
    }

    pub(crate) fn send_task_request(&self, task_request: TaskRequest) {
        self.put(|pending| pending.task_requests.push(task_request));
    }

    /// What is there; nothing at all nearly always, and every decision asks. Orders stay where they are if they are not asked
    /// for.
    pub(crate) fn take(&self, takes_task_requests: bool) -> Option<(Vec<Command>, Vec<TaskRequest>)> {
        let mut pending = self.lock();
        let has_orders = takes_task_requests && !pending.task_requests.is_empty();
        if pending.commands.is_empty() && !has_orders {
            return None;
        }
        Some((take(&mut pending.commands), if has_orders { take(&mut pending.task_requests) } else { Vec::new() }))
    }

    /// Waits until there is something.
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

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
    fn lock(&self) -> MutexGuard<'_, PendingRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RequestQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = self.lock();
        f.debug_struct("Mailbox")
            .field("commands", &pending.commands)
            .field("task_requests", &pending.task_requests.len())
            .finish()
    }
}
