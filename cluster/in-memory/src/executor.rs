//! An executor that runs tasks on the caller's thread, in a deterministic order.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Executor of tasks with output `T`. It polls tasks in the order in which they were added or woken.
///
/// Dropping the executor drops its tasks without completing them.
#[derive(Default)]
pub struct Executor<T> {
    tasks: BTreeMap<u64, Task<T>>,
    spawned: u64,
    woken: Arc<Mutex<VecDeque<u64>>>,
}

struct Task<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    waker_state: Arc<TaskWaker>,
    waker: Waker,
}

/// Waker of a task. It queues the task at most once until the next poll.
struct TaskWaker {
    task: u64,
    is_queued: AtomicBool,
    woken: Arc<Mutex<VecDeque<u64>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::AcqRel) {
            lock(&self.woken).push_back(self.task);
        }
    }
}

impl<T> Executor<T> {
    /// Returns an executor without tasks.
    pub fn new() -> Self {
        Executor { tasks: BTreeMap::new(), spawned: 0, woken: Arc::default() }
    }

    /// Adds a task. It does not run yet.
    pub fn spawn(&mut self, future: impl Future<Output = T> + Send + 'static) {
        self.spawn_boxed(Box::pin(future));
    }

    /// Adds a boxed task. It does not run yet.
    pub fn spawn_boxed(&mut self, future: Pin<Box<dyn Future<Output = T> + Send>>) {
        let task = self.spawned;
        self.spawned += 1;
        let waker_state = Arc::new(TaskWaker { task, is_queued: AtomicBool::new(true), woken: self.woken.clone() });
        let waker = Waker::from(waker_state.clone());
        self.tasks.insert(task, Task { future, waker_state, waker });
        lock(&self.woken).push_back(task);
    }

    /// Runs tasks until one completes, and returns its output. `None`: all remaining tasks wait.
    pub fn run_until_one_ends(&mut self) -> Option<T> {
        loop {
            let id = lock(&self.woken).pop_front()?;
            // The task may have completed since it was woken.
            let Some(task) = self.tasks.get_mut(&id) else { continue };
            task.waker_state.is_queued.store(false, Ordering::Release);
            if let Poll::Ready(output) = task.future.as_mut().poll(&mut Context::from_waker(&task.waker)) {
                self.tasks.remove(&id);
                return Some(output);
            }
        }
    }

    /// Returns the number of tasks that are not complete.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

/// Locks a mutex. A panic elsewhere leaves no partial update under the lock, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_channel::oneshot;

    use super::*;

    #[test]
    fn tasks_run_in_the_order_in_which_they_are_woken() {
        let mut executor = Executor::new();
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel::<u32>()).unzip();
        for receiver in receivers {
            executor.spawn(async move { receiver.await.unwrap() });
        }
        assert_eq!((executor.run_until_one_ends(), executor.len()), (None, 3));
        for (number, sender) in senders.into_iter().enumerate().rev() {
            sender.send(number as u32).unwrap();
        }
        let ended: Vec<_> = std::iter::from_fn(|| executor.run_until_one_ends()).collect();
        assert_eq!((ended, executor.is_empty()), (vec![2, 1, 0], true));
    }

    #[test]
    fn a_task_may_complete_without_waiting() {
        let mut executor = Executor::new();
        executor.spawn(async { 7 });
        assert_eq!(executor.run_until_one_ends(), Some(7));
    }
}
