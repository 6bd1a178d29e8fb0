//! How plugins and their tasks reach the scheduler.

use std::fmt;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::Order;
use crate::handle::Command;

/// What was asked of the scheduler since it looked last. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Mail>>);

#[derive(Default)]
struct Mail {
    commands: Vec<Command>,
    orders: Vec<Order>,
    /// Who is to tell the scheduler that it has mail, if there is somebody: it looks by itself whenever something happens.
    postman: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn send(&self, command: Command) {
        self.put(|mail| mail.commands.push(command));
    }

    pub(crate) fn order(&self, order: Order) {
        self.put(|mail| mail.orders.push(order));
    }

    /// What is there; nothing at all nearly always, and every decision asks. Orders stay where they are if they are not asked
    /// for.
    pub(crate) fn take(&self, takes_orders: bool) -> Option<(Vec<Command>, Vec<Order>)> {
        let mut mail = self.lock();
        let has_orders = takes_orders && !mail.orders.is_empty();
        if mail.commands.is_empty() && !has_orders {
            return None;
        }
        Some((take(&mut mail.commands), if has_orders { take(&mut mail.orders) } else { Vec::new() }))
    }

    /// Waits until there is something.
    pub(crate) async fn has_mail(&self) {
        poll_fn(|context| {
            let mut mail = self.lock();
            if mail.commands.is_empty() && mail.orders.is_empty() {
                mail.postman = Some(context.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await
    }

    fn put(&self, put: impl FnOnce(&mut Mail)) {
        let mut mail = self.lock();
        put(&mut mail);
        let postman = mail.postman.take();
        drop(mail);
        if let Some(postman) = postman {
            postman.wake();
        }
    }

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mail = self.lock();
        f.debug_struct("Mailbox").field("commands", &mail.commands).field("orders", &mail.orders.len()).finish()
    }
}
