//! A client with an erased type.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::model::placement::Placement;
use crate::model::{Pod, Uid};
use crate::plugin_api::client::{ApiError, Client, Event, ObjectRef, ObjectUpdates, StatusPatch};

/// A [`Client`] of any type. Clones act on the same cluster.
#[derive(Clone)]
pub struct AnyClient(Arc<dyn DynClient>);

impl AnyClient {
    /// Erases the type of a client.
    pub fn new(client: impl Client) -> Self {
        AnyClient(Arc::new(client))
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type ObjectUpdate = Option<(usize, Result<Value, ApiError>)>;

/// The methods of [`Client`], with boxed futures.
trait DynClient: Send + Sync {
    fn bind<'a>(&'a self, placement: &'a Placement) -> Boxed<'a, Result<(), ApiError>>;
    fn bind_by_extender<'a>(
        &'a self,
        placement: &'a Placement,
        call: Box<dyn FnOnce() -> Result<bool, String> + Send>,
    ) -> Boxed<'a, Result<bool, String>>;
    fn notify_extender(&self, notify: Box<dyn FnOnce() + Send>);
    fn patch_pod_status<'a>(&'a self, pod: &'a Arc<Pod>, patch: &'a StatusPatch) -> Boxed<'a, Result<(), ApiError>>;
    fn delete_pod<'a>(&'a self, pod: &'a Arc<Pod>) -> Boxed<'a, Result<(), ApiError>>;
    fn record(&self, event: Event);
    fn sleep(&self, time: Duration) -> Boxed<'_, ()>;
    fn get<'a>(&'a self, object: &'a ObjectRef) -> Boxed<'a, Result<Value, ApiError>>;
    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> Box<dyn DynObjectUpdates + '_>;
    fn create<'a>(&'a self, object: &'a ObjectRef, manifest: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn patch<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn patch_status<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn delete<'a>(&'a self, object: &'a ObjectRef, uid: Option<&'a Uid>) -> Boxed<'a, Result<(), ApiError>>;
}

impl<C: Client> DynClient for C {
    fn bind<'a>(&'a self, placement: &'a Placement) -> Boxed<'a, Result<(), ApiError>> {
        Box::pin(Client::bind(self, placement))
    }
    fn bind_by_extender<'a>(
        &'a self,
        placement: &'a Placement,
        call: Box<dyn FnOnce() -> Result<bool, String> + Send>,
    ) -> Boxed<'a, Result<bool, String>> {
        Box::pin(Client::bind_by_extender(self, placement, call))
    }
    fn notify_extender(&self, notify: Box<dyn FnOnce() + Send>) {
        Client::notify_extender(self, notify);
    }
    fn patch_pod_status<'a>(&'a self, pod: &'a Arc<Pod>, patch: &'a StatusPatch) -> Boxed<'a, Result<(), ApiError>> {
        Box::pin(Client::patch_pod_status(self, pod, patch))
    }
    fn delete_pod<'a>(&'a self, pod: &'a Arc<Pod>) -> Boxed<'a, Result<(), ApiError>> {
        Box::pin(Client::delete_pod(self, pod))
    }
    fn record(&self, event: Event) {
        Client::record(self, event);
    }
    fn sleep(&self, time: Duration) -> Boxed<'_, ()> {
        Box::pin(Client::sleep(self, time))
    }
    fn get<'a>(&'a self, object: &'a ObjectRef) -> Boxed<'a, Result<Value, ApiError>> {
        Box::pin(Client::get(self, object))
    }
    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> Box<dyn DynObjectUpdates + '_> {
        Box::new(Client::watch_objects(self, objects, time))
    }
    fn create<'a>(&'a self, object: &'a ObjectRef, manifest: &'a Value) -> Boxed<'a, Result<Value, ApiError>> {
        Box::pin(Client::create(self, object, manifest))
    }
    fn patch<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>> {
        Box::pin(Client::patch(self, object, patch))
    }
    fn patch_status<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>> {
        Box::pin(Client::patch_status(self, object, patch))
    }
    fn delete<'a>(&'a self, object: &'a ObjectRef, uid: Option<&'a Uid>) -> Boxed<'a, Result<(), ApiError>> {
        Box::pin(Client::delete(self, object, uid))
    }
}

impl Client for AnyClient {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        self.0.bind(placement).await
    }
    async fn bind_by_extender(
        &self,
        placement: &Placement,
        call: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        self.0.bind_by_extender(placement, Box::new(call)).await
    }
    fn notify_extender(&self, notify: impl FnOnce() + Send + 'static) {
        self.0.notify_extender(Box::new(notify));
    }
    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        self.0.patch_pod_status(pod, patch).await
    }
    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        self.0.delete_pod(pod).await
    }
    fn record(&self, event: Event) {
        self.0.record(event);
    }
    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await
    }
    async fn get(&self, object: &ObjectRef) -> Result<Value, ApiError> {
        self.0.get(object).await
    }
    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> impl ObjectUpdates {
        BoxedObjectUpdates(self.0.watch_objects(objects, time))
    }
    async fn create(&self, object: &ObjectRef, manifest: &Value) -> Result<Value, ApiError> {
        self.0.create(object, manifest).await
    }
    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        self.0.patch(object, patch).await
    }
    async fn patch_status(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        self.0.patch_status(object, patch).await
    }
    async fn delete(&self, object: &ObjectRef, uid: Option<&Uid>) -> Result<(), ApiError> {
        self.0.delete(object, uid).await
    }
}

/// The methods of [`ObjectUpdates`], with boxed futures.
trait DynObjectUpdates: Send {
    fn add(&mut self, object: ObjectRef) -> usize;
    fn next(&mut self) -> Boxed<'_, ObjectUpdate>;
}

impl<N: ObjectUpdates> DynObjectUpdates for N {
    fn add(&mut self, object: ObjectRef) -> usize {
        ObjectUpdates::add(self, object)
    }
    fn next(&mut self) -> Boxed<'_, ObjectUpdate> {
        Box::pin(ObjectUpdates::next(self))
    }
}

struct BoxedObjectUpdates<'a>(Box<dyn DynObjectUpdates + 'a>);

impl ObjectUpdates for BoxedObjectUpdates<'_> {
    fn add(&mut self, object: ObjectRef) -> usize {
        self.0.add(object)
    }
    async fn next(&mut self) -> ObjectUpdate {
        self.0.next().await
    }
}
