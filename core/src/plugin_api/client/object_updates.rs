//! Updates of a few objects.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;

use super::{ApiError, Client, ObjectRef};

/// Updates of some objects, in order, until a deadline. See [`Client::watch_objects`].
pub trait ObjectUpdates: Send {
    /// Watches another object, whose current state [`ObjectUpdates::next`] also returns. Returns the index of the
    /// object.
    fn add(&mut self, object: ObjectRef) -> usize;

    /// Returns the next object that may have changed: its index and its state. The state may be older than a state of
    /// the object that was returned before; compare `metadata.resourceVersion`. `None`: the deadline has passed. The
    /// time until the deadline begins with the first call of this function.
    fn next(&mut self) -> impl Future<Output = Option<(usize, Result<Value, ApiError>)>> + Send;
}

/// Interval of polling a cluster without watches.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Updates from polling.
pub(super) struct PollingUpdates<C> {
    client: C,
    objects: Vec<ObjectRef>,
    /// Index of the object that is polled next.
    next: usize,
    time_left: Duration,
}

impl<C: Client> PollingUpdates<C> {
    pub(super) fn new(client: C, objects: Vec<ObjectRef>, time: Duration) -> Self {
        PollingUpdates { client, next: objects.len(), objects, time_left: time }
    }
}

impl<C: Client> ObjectUpdates for PollingUpdates<C> {
    fn add(&mut self, object: ObjectRef) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }

    async fn next(&mut self) -> Option<(usize, Result<Value, ApiError>)> {
        loop {
            let at = self.next;
            if let Some(object) = self.objects.get(at) {
                self.next += 1;
                return Some((at, self.client.get(object).await));
            }
            if self.time_left.is_zero() {
                return None;
            }
            let pause = self.time_left.min(POLL_INTERVAL);
            self.time_left -= pause;
            self.client.sleep(pause).await;
            self.next = 0;
        }
    }
}
