//! Cluster events for a task.

use super::Channel;
use crate::model::cache::Base;
use crate::plugin_api::events::ObjectEvent;

/// Items of a task's watch. See [`BackgroundClient::watch`](super::BackgroundClient::watch).
pub struct Watch<T>(pub(super) Channel<T>);

impl<T> Watch<T> {
    /// Waits for the next item. Items arrive in order, without gaps.
    pub async fn next(&mut self) -> T {
        self.0.pop().await
    }

    /// Returns the next item if there is one.
    pub fn try_next(&mut self) -> Option<T> {
        self.0.try_pop()
    }
}

/// Function that notifies one task of an event. It returns false if the task has dropped its watch.
pub(crate) type Watcher = Box<dyn Fn(&ObjectEvent, &Base) -> bool + Send + Sync>;

/// Makes a watch, and the function that fills it.
pub(super) fn watch<T: Send + 'static>(
    read: impl Fn(&ObjectEvent, &Base) -> Option<T> + Send + Sync + 'static,
) -> (Watch<T>, Watcher) {
    let channel = Channel::default();
    let items = Watch(channel.clone());
    let notify = move |event: &ObjectEvent, base: &Base| {
        if channel.is_abandoned() {
            return false;
        }
        if let Some(item) = read(event, base) {
            channel.push(item);
        }
        true
    };
    (items, Box::new(notify))
}
