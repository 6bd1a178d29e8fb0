//! What becomes of a few objects, as the watches tell it.

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

/// Who wants to be told of which objects. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct ObjectListeners(Arc<ListenerRegistry>);

#[derive(Debug, Default)]
struct ListenerRegistry {
    /// So that whoever tells of all objects need not look while nobody listens.
    count: AtomicUsize,
    /// By the names of objects.
    by_name: Mutex<HashMap<Arc<str>, Vec<Listener>>>,
}

/// Somebody who follows an object.
#[derive(Debug)]
struct Listener {
    /// As [`AnyObject::kind`] has it: two plugins may declare kinds that manifests call alike.
    kind: Arc<str>,
    namespace: Arc<str>,
    place: usize,
    sender: mpsc::UnboundedSender<ObjectUpdate>,
}

/// The place of an object, and how it is. `None`: that is to be asked.
pub(super) type ObjectUpdate = (usize, Option<Value>);

impl ObjectListeners {
    /// An object is like this.
    pub fn notify_upsert(&self, object: &AnyObject) {
        if self.is_empty() {
            return;
        }
        let mut object_now = None;
        for listener in self.of(object, self.lock().get(object.name())) {
            let object_now = object_now.get_or_insert_with(|| json(object));
            listener.notify(object_now.clone());
        }
    }

    /// An object went, or is over.
    pub fn notify_removal(&self, object: &AnyObject) {
        if !self.is_empty() {
            self.of(object, self.lock().get(object.name())).for_each(|listener| listener.notify(None));
        }
    }

    /// Some objects of a kind went unseen.
    pub fn notify_missed_removals(&self, kind: &str) {
        if !self.is_empty() {
            let by_name = self.lock();
            let listeners = by_name.values().flatten().filter(|listener| *listener.kind == *kind);
            listeners.for_each(|listener| listener.notify(None));
        }
    }

    /// Whether nobody listens.
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

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Listener>>> {
        self.0.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn notify(&self, object_now: Option<Value>) {
        // Whoever does not listen any more is about to say so.
        let _ = self.sender.send((self.place, object_now));
    }
}

/// An object, as far as it was read. Others than volumes and claims are rarely listened to, and asked for.
fn json(object: &AnyObject) -> Option<Value> {
    match object {
        AnyObject::PersistentVolume(volume) => serde_json::to_value(volume).ok(),
        AnyObject::PersistentVolumeClaim(claim) => serde_json::to_value(claim).ok(),
        _ => None,
    }
}

/// Follows objects as the watches tell of them. An API server is asked only about what went, or what was not followed from
/// the beginning.
pub(super) struct ObjectSubscription<T> {
    transport: T,
    listeners: ObjectListeners,
    objects: Vec<ObjectRef>,
    sender: mpsc::UnboundedSender<ObjectUpdate>,
    updates: mpsc::UnboundedReceiver<ObjectUpdate>,
    time: Duration,
    /// By the transport's clock.
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

    /// What the watches tell next. `None`: the time is over, which begins with the first call.
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
        // There is a receiver: it is here.
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
