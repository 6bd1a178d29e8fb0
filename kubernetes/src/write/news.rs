//! What becomes of a few objects, as the watches tell it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::client::{ApiError, ObjectUpdates, ObjectRef};
use schedc_objects::{AnyObject, Kinds};
use serde_json::Value;
use tokio::sync::mpsc;

use super::objects;
use crate::wire::Transport;

/// Who wants to be told of which objects. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Listeners(Arc<Listening>);

#[derive(Debug, Default)]
struct Listening {
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
    tell: mpsc::UnboundedSender<Heard>,
}

/// The place of an object, and how it is. `None`: that is to be asked.
pub(super) type Heard = (usize, Option<Value>);

impl Listeners {
    /// An object is like this.
    pub fn is_there(&self, object: &AnyObject) {
        if self.is_empty() {
            return;
        }
        let mut now = None;
        for listener in self.of(object, self.lock().get(object.name())) {
            let now = now.get_or_insert_with(|| json(object));
            listener.hear(now.clone());
        }
    }

    /// An object went, or is over.
    pub fn is_gone(&self, object: &AnyObject) {
        if !self.is_empty() {
            self.of(object, self.lock().get(object.name())).for_each(|listener| listener.hear(None));
        }
    }

    /// Some objects of a kind went unseen.
    pub fn went_unseen(&self, kind: &str) {
        if !self.is_empty() {
            let by_name = self.lock();
            let listeners = by_name.values().flatten().filter(|listener| *listener.kind == *kind);
            listeners.for_each(|listener| listener.hear(None));
        }
    }

    /// Whether nobody listens.
    pub fn is_empty(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }

    fn of<'a>(&self, object: &AnyObject, named: Option<&'a Vec<Listener>>) -> impl Iterator<Item = &'a Listener> {
        let (kind, namespace) = (object.kind(), object.namespace().to_owned());
        let is_it = move |it: &&Listener| *it.kind == *kind && *it.namespace == *namespace;
        named.into_iter().flatten().filter(is_it)
    }

    fn insert(&self, name: Arc<str>, listener: Listener) {
        self.lock().entry(name).or_default().push(listener);
        self.0.count.fetch_add(1, Ordering::Release);
    }

    fn remove(&self, name: &str, tell: &mpsc::UnboundedSender<Heard>) {
        let mut by_name = self.lock();
        let Some(listeners) = by_name.get_mut(name) else { return };
        let before = listeners.len();
        listeners.retain(|listener| !listener.tell.same_channel(tell));
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
    fn hear(&self, now: Option<Value>) {
        // Whoever does not listen any more is about to say so.
        let _ = self.tell.send((self.place, now));
    }
}

/// An object, as far as it was read. Others than volumes and claims are rarely listened to, and asked for.
fn json(object: &AnyObject) -> Option<Value> {
    match object {
        AnyObject::PersistentVolume(_) | AnyObject::PersistentVolumeClaim(_) => object.to_json().ok(),
        _ => None,
    }
}

/// Follows objects as the watches tell of them. An API server is asked only about what went, or what was not followed from
/// the beginning.
pub(super) struct Following<T> {
    transport: T,
    listeners: Listeners,
    objects: Vec<ObjectRef>,
    tell: mpsc::UnboundedSender<Heard>,
    heard: mpsc::UnboundedReceiver<Heard>,
    time: Duration,
    /// By the transport's clock.
    deadline: Option<Duration>,
    kinds: Kinds,
}

impl<T: Transport> Following<T> {
    pub(super) fn new(
        transport: T,
        listeners: Listeners,
        objects: Vec<ObjectRef>,
        time: Duration,
        kinds: Kinds,
    ) -> Self {
        let (tell, heard) = mpsc::unbounded_channel();
        let mut following =
            Following { transport, listeners, objects: Vec::new(), tell, heard, time, deadline: None, kinds };
        for object in objects {
            following.listen(object);
        }
        following
    }

    /// What the watches tell next. `None`: the time is over, which begins with the first call.
    pub(super) async fn hear(&mut self) -> Option<Heard> {
        let deadline = *self.deadline.get_or_insert_with(|| self.transport.clock().saturating_add(self.time));
        let left = deadline.saturating_sub(self.transport.clock());
        tokio::select! {
            biased;
            heard = self.heard.recv() => heard,
            () = self.transport.sleep(left) => None,
        }
    }

    fn listen(&mut self, object: ObjectRef) -> usize {
        let place = self.objects.len();
        let declared = self.kinds.find(&object.api_version, &object.kind).map(|kind| kind.name.into());
        let (kind, namespace) = (declared.unwrap_or_else(|| object.kind.clone()), object.namespace.clone());
        self.listeners.insert(object.name.clone(), Listener { kind, namespace, place, tell: self.tell.clone() });
        self.objects.push(object);
        place
    }
}

impl<T: Transport> ObjectUpdates for Following<T> {
    fn add(&mut self, object: ObjectRef) -> usize {
        let place = self.listen(object);
        // There is a receiver: it is here.
        let _ = self.tell.send((place, None));
        place
    }

    async fn next(&mut self) -> Option<(usize, Result<Value, ApiError>)> {
        let (place, now) = self.hear().await?;
        let now = match now {
            Some(now) => Ok(now),
            None => objects::get(&self.transport, self.objects.get(place)?, self.kinds).await,
        };
        Some((place, now))
    }
}

impl<T> Drop for Following<T> {
    fn drop(&mut self) {
        self.objects.iter().for_each(|object| self.listeners.remove(&object.name, &self.tell));
    }
}
