//! A client behind a pointer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::client::{ApiError, Client, Event, News, ObjectRef, StatusPatch};
use crate::extension_points::Placement;
use crate::model::{Pod, Uid};

/// A [`Client`] of any type. Clones act on the same cluster.
#[derive(Clone)]
pub struct AnyClient(Arc<dyn ClientObject>);

impl AnyClient {
    /// Erases the type of a client.
    pub fn new(client: impl Client) -> Self {
        AnyClient(Arc::new(client))
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type ObjectNews = Option<(usize, Result<Value, ApiError>)>;

/// The methods of [`Client`], with boxed futures.
trait ClientObject: Send + Sync {
    fn bind<'a>(&'a self, placement: &'a Placement) -> Boxed<'a, Result<(), ApiError>>;
    fn bind_by<'a>(
        &'a self,
        placement: &'a Placement,
        ask: Box<dyn FnOnce() -> Result<bool, String> + Send>,
    ) -> Boxed<'a, Result<bool, String>>;
    fn tell(&self, tell: Box<dyn FnOnce() + Send>);
    fn patch_pod_status<'a>(&'a self, pod: &'a Arc<Pod>, patch: &'a StatusPatch) -> Boxed<'a, Result<(), ApiError>>;
    fn delete_pod<'a>(&'a self, pod: &'a Arc<Pod>) -> Boxed<'a, Result<(), ApiError>>;
    fn record(&self, event: Event);
    fn sleep(&self, time: Duration) -> Boxed<'_, ()>;
    fn get<'a>(&'a self, object: &'a ObjectRef) -> Boxed<'a, Result<Value, ApiError>>;
    fn follow(&self, objects: Vec<ObjectRef>, time: Duration) -> Box<dyn NewsObject + '_>;
    fn create<'a>(&'a self, object: &'a ObjectRef, manifest: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn patch<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn patch_status<'a>(&'a self, object: &'a ObjectRef, patch: &'a Value) -> Boxed<'a, Result<Value, ApiError>>;
    fn delete<'a>(&'a self, object: &'a ObjectRef, uid: Option<&'a Uid>) -> Boxed<'a, Result<(), ApiError>>;
}

impl<C: Client> ClientObject for C {
    fn bind<'a>(&'a self, placement: &'a Placement) -> Boxed<'a, Result<(), ApiError>> {
        Box::pin(Client::bind(self, placement))
    }
    fn bind_by<'a>(
        &'a self,
        placement: &'a Placement,
        ask: Box<dyn FnOnce() -> Result<bool, String> + Send>,
    ) -> Boxed<'a, Result<bool, String>> {
        Box::pin(Client::bind_by(self, placement, ask))
    }
    fn tell(&self, tell: Box<dyn FnOnce() + Send>) {
        Client::tell(self, tell);
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
    fn follow(&self, objects: Vec<ObjectRef>, time: Duration) -> Box<dyn NewsObject + '_> {
        Box::new(Client::follow(self, objects, time))
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
    async fn bind_by(
        &self,
        placement: &Placement,
        ask: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        self.0.bind_by(placement, Box::new(ask)).await
    }
    fn tell(&self, tell: impl FnOnce() + Send + 'static) {
        self.0.tell(Box::new(tell));
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
    fn follow(&self, objects: Vec<ObjectRef>, time: Duration) -> impl News {
        BoxedNews(self.0.follow(objects, time))
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

/// The methods of [`News`], with boxed futures.
trait NewsObject: Send {
    fn add(&mut self, object: ObjectRef) -> usize;
    fn next(&mut self) -> Boxed<'_, ObjectNews>;
}

impl<N: News> NewsObject for N {
    fn add(&mut self, object: ObjectRef) -> usize {
        News::add(self, object)
    }
    fn next(&mut self) -> Boxed<'_, ObjectNews> {
        Box::pin(News::next(self))
    }
}

struct BoxedNews<'a>(Box<dyn NewsObject + 'a>);

impl News for BoxedNews<'_> {
    fn add(&mut self, object: ObjectRef) -> usize {
        self.0.add(object)
    }
    async fn next(&mut self) -> ObjectNews {
        self.0.next().await
    }
}
