//! Updates of a few objects, reported by the watches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::client::{ApiError, ObjectRef, ObjectUpdates};
use schedc_objects::{AnyObject, Kinds};
use serde_json::Value;
use tokio::sync::mpsc;

use super::objects;
use crate::transport::Transport;

/// Subscribers to object updates. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ObjectListeners(Arc<ListenerRegistry>);

#[derive(Debug, Default)]
struct ListenerRegistry {
    /// Number of listeners; avoids the lock while there are none.
    count: AtomicUsize,
    /// Listeners by object name.
    by_name: Mutex<HashMap<Arc<str>, Vec<Listener>>>,
}

/// Listener for updates of one object.
#[derive(Debug)]
struct Listener {
    /// Kind as [`AnyObject::kind`] returns it. The kind in manifests is not unique: two plugins may declare kinds of
    /// the same name.
    kind: Arc<str>,
    namespace: Arc<str>,
    place: usize,
    sender: mpsc::UnboundedSender<ObjectUpdate>,
}

/// Index of an object in the subscription, and its new form. `None`: read the object from the API server.
pub(super) type ObjectUpdate = (usize, Option<Value>);

impl ObjectListeners {
    /// Notifies the listeners of an object that was added or modified.
    pub(crate) fn notify_upsert(&self, object: &AnyObject) {
        if self.is_empty() {
            return;
        }
        let mut object_now = None;
        for listener in self.of(object, self.lock().get(object.name())) {
            let object_now = object_now.get_or_insert_with(|| json(object));
            listener.notify(object_now.clone());
        }
    }

    /// Notifies the listeners of an object that was deleted, or of a pod that finished.
    pub(crate) fn notify_removal(&self, object: &AnyObject) {
        if !self.is_empty() {
            self.of(object, self.lock().get(object.name())).for_each(|listener| listener.notify(None));
        }
    }

    /// Notifies the listeners of a kind after deletions that no watch reported.
    pub(crate) fn notify_missed_removals(&self, kind: &str) {
        if !self.is_empty() {
            let by_name = self.lock();
            let listeners = by_name.values().flatten().filter(|listener| *listener.kind == *kind);
            listeners.for_each(|listener| listener.notify(None));
        }
    }

    /// Returns whether there are no listeners.
    pub fn is_empty(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }

    fn of<'a>(&self, object: &AnyObject, named: Option<&'a Vec<Listener>>) -> impl Iterator<Item = &'a Listener> {
        let (kind, namespace) = (object.kind(), object.namespace().to_owned());
        let is_of_object = move |it: &&Listener| *it.kind == *kind && *it.namespace == *namespace;
        named.into_iter().flatten().filter(is_of_object)
    }

    fn insert(&self, name: Arc<str>, listener: Listener) {
        self.lock().entry(name).or_default().push(listener);
        self.0.count.fetch_add(1, Ordering::Release);
    }

    fn remove(&self, name: &str, sender: &mpsc::UnboundedSender<ObjectUpdate>) {
        let mut by_name = self.lock();
        let Some(listeners) = by_name.get_mut(name) else { return };
        let before = listeners.len();
        listeners.retain(|listener| !listener.sender.same_channel(sender));
        self.0.count.fetch_sub(before - listeners.len(), Ordering::Release);
        if listeners.is_empty() {
            by_name.remove(name);
        }
    }

    /// Locks the listeners. A panic under the lock leaves no half-made change, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Listener>>> {
        self.0.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn notify(&self, object_now: Option<Value>) {
        // A closed receiver is about to unsubscribe.
        let _ = self.sender.send((self.place, object_now));
    }
}

/// Returns the JSON of a volume or a claim. Objects of other kinds have few listeners, which read them from the API
/// server.
fn json(object: &AnyObject) -> Option<Value> {
    match object {
        AnyObject::PersistentVolume(volume) => serde_json::to_value(volume).ok(),
        AnyObject::PersistentVolumeClaim(claim) => serde_json::to_value(claim).ok(),
        _ => None,
    }
}

/// Subscription to objects through the watches. Updates of volumes and claims contain the object. In three cases, the
/// object is read from the API server: it is of another kind, it may have been deleted, or it was just added to the
/// subscription by [`ObjectUpdates::add`].
pub(super) struct ObjectSubscription<T> {
    transport: T,
    listeners: ObjectListeners,
    objects: Vec<ObjectRef>,
    sender: mpsc::UnboundedSender<ObjectUpdate>,
    updates: mpsc::UnboundedReceiver<ObjectUpdate>,
    time: Duration,
    /// Deadline by the transport's clock.
    deadline: Option<Duration>,
    kinds: Kinds,
}

impl<T: Transport> ObjectSubscription<T> {
    pub(super) fn new(
        transport: T,
        listeners: ObjectListeners,
        objects: Vec<ObjectRef>,
        time: Duration,
        kinds: Kinds,
    ) -> Self {
        let (sender, updates) = mpsc::unbounded_channel();
        let mut subscription = ObjectSubscription {
            transport,
            listeners,
            objects: Vec::new(),
            sender,
            updates,
            time,
            deadline: None,
            kinds,
        };
        for object in objects {
            subscription.subscribe(object);
        }
        subscription
    }

    /// Returns the next update, or `None` after the deadline. The time starts with the first call.
    pub(super) async fn next_update(&mut self) -> Option<ObjectUpdate> {
        let deadline = *self.deadline.get_or_insert_with(|| self.transport.clock().saturating_add(self.time));
        let left = deadline.saturating_sub(self.transport.clock());
        tokio::select! {
            biased;
            updates = self.updates.recv() => updates,
            () = self.transport.sleep(left) => None,
        }
    }

    fn subscribe(&mut self, object: ObjectRef) -> usize {
        let place = self.objects.len();
        let declared = self.kinds.find(&object.api_version, &object.kind).map(|kind| kind.name.into());
        let (kind, namespace) = (declared.unwrap_or_else(|| object.kind.clone()), object.namespace.clone());
        self.listeners.insert(object.name.clone(), Listener { kind, namespace, place, sender: self.sender.clone() });
        self.objects.push(object);
        place
    }
}

impl<T: Transport> ObjectUpdates for ObjectSubscription<T> {
    fn add(&mut self, object: ObjectRef) -> usize {
        let place = self.subscribe(object);
        // This cannot fail, since the receiver is in `self`.
        let _ = self.sender.send((place, None));
        place
    }

    async fn next(&mut self) -> Option<(usize, Result<Value, ApiError>)> {
        let (place, object_now) = self.next_update().await?;
        let object_now = match object_now {
            Some(object_now) => Ok(object_now),
            None => objects::get(&self.transport, self.objects.get(place)?, self.kinds).await,
        };
        Some((place, object_now))
    }
}

impl<T> Drop for ObjectSubscription<T> {
    fn drop(&mut self) {
        self.objects.iter().for_each(|object| self.listeners.remove(&object.name, &self.sender));
    }
}
