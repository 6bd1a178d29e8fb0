//! What one side tells the other, sooner or later.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// A queue at whose end somebody waits. Clones are the same.
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
    /// Tells something.
    pub(crate) fn push(&self, item: T) {
        let mut inbox = self.lock();
        inbox.items.push_back(item);
        let waiting = inbox.waiting.take();
        drop(inbox);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// The next thing that was told, if there is one.
    pub(crate) fn try_pop(&self) -> Option<T> {
        self.lock().items.pop_front()
    }

    /// Waits for it.
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

    /// Whether nobody else has a clone: who waited has gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
    fn lock(&self) -> MutexGuard<'_, Items<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
