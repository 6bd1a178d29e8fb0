//! An asynchronous queue.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// A queue with an asynchronous receiver. Clones share the items.
pub(crate) struct Channel<T>(Arc<Mutex<Items<T>>>);

struct Items<T> {
    items: VecDeque<T>,
    waiting: Option<Waker>,
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Channel(Arc::new(Mutex::new(Items { items: VecDeque::new(), waiting: None })))
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Channel(self.0.clone())
    }
}

impl<T> Channel<T> {
    /// Adds an item.
    pub(crate) fn push(&self, item: T) {
        let mut inbox = self.lock();
        inbox.items.push_back(item);
        let waiting = inbox.waiting.take();
        drop(inbox);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// Returns the next item, if there is one.
    pub(crate) fn try_pop(&self) -> Option<T> {
        self.lock().items.pop_front()
    }

    /// Waits for the next item.
    pub(crate) async fn pop(&self) -> T {
        poll_fn(|context| {
            let mut inbox = self.lock();
            match inbox.items.pop_front() {
                Some(item) => Poll::Ready(item),
                None => {
                    inbox.waiting = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Returns whether no other clone exists. If the caller is the sender, the receiver is then gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Locks the items. A panic under the lock leaves no incomplete change, so the items are valid.
    fn lock(&self) -> MutexGuard<'_, Items<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
