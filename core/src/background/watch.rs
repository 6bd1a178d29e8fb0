//! What happens in the cluster, as a task wants to know it.

use super::Channel;
use crate::cache::Base;
use crate::events::ObjectEvent;

/// What a task is told of the cluster. See [`BackgroundClient::watch`](super::BackgroundClient::watch).
pub struct Watch<T>(pub(super) Channel<T>);

impl<T> Watch<T> {
    /// Waits for what happens next. It comes in order, and nothing is left out.
    pub async fn next(&mut self) -> T {
        self.0.pop().await
    }

    /// What happens next, if it has happened already.
    pub fn try_next(&mut self) -> Option<T> {
        self.0.try_pop()
    }
}

/// Tells one task. Returns whether it still wants to know.
pub(crate) type Watcher = Box<dyn Fn(&ObjectEvent, &Base) -> bool + Send + Sync>;

/// A watch, and who fills it.
pub(super) fn watch<T: Send + 'static>(
    read: impl Fn(&ObjectEvent, &Base) -> Option<T> + Send + Sync + 'static,
) -> (Watch<T>, Watcher) {
    let channel = Channel::default();
    let told = Watch(channel.clone());
    let notify = move |happened: &ObjectEvent, base: &Base| {
        if channel.is_abandoned() {
            return false;
        }
        if let Some(item) = read(happened, base) {
            channel.push(item);
        }
        true
    };
    (told, Box::new(notify))
}
