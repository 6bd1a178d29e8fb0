//! What becomes of a few objects, told as it happens.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;

use super::{ApiError, Client, ObjectRef};

/// What a cluster tells of some objects, one after the other, until a time is over. See [`Client::watch_objects`].
pub trait ObjectUpdates: Send {
    /// Follows one more object, and tells how it is now. Returns its place.
    fn add(&mut self, object: ObjectRef) -> usize;

    /// The next object that may have changed: its place among those that are followed, and how it is now. An older state may
    /// come late: `metadata.resourceVersion` tells. `None`: the time is over, which begins when this is asked first.
    fn next(&mut self) -> impl Future<Output = Option<(usize, Result<Value, ApiError>)>> + Send;
}

/// How often a cluster is asked that does not tell by itself.
const POLL: Duration = Duration::from_secs(1);

/// News of a cluster that is asked for them, again and again.
pub(super) struct PollingUpdates<C> {
    client: C,
    objects: Vec<ObjectRef>,
    /// The place of the object that is asked about next.
    next: usize,
    left: Duration,
}

impl<C: Client> PollingUpdates<C> {
    pub(super) fn new(client: C, objects: Vec<ObjectRef>, time: Duration) -> Self {
        PollingUpdates { client, next: objects.len(), objects, left: time }
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
            if self.left.is_zero() {
                return None;
            }
            let pause = self.left.min(POLL);
            self.left -= pause;
            self.client.sleep(pause).await;
            self.next = 0;
        }
    }
}
