//! A client whose calls wait for a response of the driver: immediate in a simulation; late, wrong or lost in a test.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::oneshot;
use schedc_core::client::{ApiError, ApiReason, Client, Event, ObjectRef, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_objects::Kinds;
use serde_json::Value;

use crate::server::{Key, PodRef, Request, Response, json_of};

/// Client with a queue of calls. Clones share the queue.
#[derive(Clone, Debug, Default)]
pub struct InMemoryClient {
    kinds: Kinds,
    pending: Arc<Mutex<PendingCalls>>,
}

#[derive(Debug, Default)]
struct PendingCalls {
    calls: Vec<PendingCall>,
    sleeps: Vec<PendingSleep>,
}

/// A call that waits for its response. If it is dropped, the caller gets a timeout error.
#[derive(Debug)]
pub struct PendingCall {
    /// The request of the caller.
    pub request: Request,
    /// `None` for a fire-and-forget call.
    caller: Option<oneshot::Sender<Response>>,
}

impl PendingCall {
    /// Sends the response to the caller.
    pub fn answer(self, response: Response) {
        if let Some(caller) = self.caller {
            // The caller may have been cancelled.
            let _ = caller.send(response);
        }
    }

    /// Returns whether the caller was cancelled. Its request may still be processed, because it was sent.
    pub fn is_abandoned(&self) -> bool {
        self.caller.as_ref().is_some_and(oneshot::Sender::is_canceled)
    }
}

/// A sleep of a plugin's task.
#[derive(Debug)]
pub struct PendingSleep {
    /// Duration, from the moment of the call.
    pub time: Duration,
    sleeper: oneshot::Sender<()>,
}

impl PendingSleep {
    /// Ends the sleep.
    pub fn wake(self) {
        // The task may have been cancelled.
        let _ = self.sleeper.send(());
    }

    /// Returns whether the task was cancelled.
    pub fn is_abandoned(&self) -> bool {
        self.sleeper.is_canceled()
    }
}

impl InMemoryClient {
    /// Returns a client with the kinds that plugins declare.
    pub fn with_kinds(kinds: Kinds) -> Self {
        InMemoryClient { kinds, ..InMemoryClient::default() }
    }

    /// Returns the calls since the last invocation, in order.
    pub fn take_calls(&self) -> Vec<PendingCall> {
        std::mem::take(&mut self.lock().calls)
    }

    /// Returns the sleeps since the last invocation, in order.
    pub fn take_sleeps(&self) -> Vec<PendingSleep> {
        std::mem::take(&mut self.lock().sleeps)
    }

    /// Locks the pending calls. A panic elsewhere leaves no partial update under the lock, so poisoning is
    /// ignored.
    fn lock(&self) -> MutexGuard<'_, PendingCalls> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, object: &ObjectRef) -> Result<Key, ApiError> {
        let unknown = || ApiError::new(ApiReason::NotFound, "the server could not find the requested resource");
        Key::of_reference(object, self.kinds).ok_or_else(unknown)
    }

    /// Sends a request and waits for the response.
    async fn call(&self, request: Request) -> Response {
        let (caller, answer) = oneshot::channel();
        self.lock().calls.push(PendingCall { request, caller: Some(caller) });
        answer.await.unwrap_or_else(|_| {
            Err(ApiError::new(
                ApiReason::Timeout,
                "the server did not answer in time; the request may have been processed",
            ))
        })
    }

    /// Sends a request whose response is an object.
    async fn call_for_json(&self, request: Request) -> Result<Value, ApiError> {
        let object = self.call(request).await?;
        Ok(object.map_or(Value::Null, |object| json_of(&object)))
    }
}

impl Client for InMemoryClient {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        self.call(Request::bind(placement)).await.map(drop)
    }

    /// Calls the extender. If the extender reports a binding, binds the pod here, because an extender has no access to
    /// this cluster.
    async fn bind_by_extender(
        &self,
        placement: &Placement,
        call: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        let is_bound = call()?;
        if is_bound {
            self.bind(placement).await?;
        }
        Ok(is_bound)
    }

    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        self.call(Request::PatchPodStatus { pod: PodRef::of(pod), patch: patch.clone() }).await.map(drop)
    }

    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        self.call(Request::DeletePod { pod: PodRef::of(pod) }).await.map(drop)
    }

    fn record(&self, event: Event) {
        self.lock().calls.push(PendingCall { request: Request::Record(Box::new(event)), caller: None });
    }

    async fn sleep(&self, time: Duration) {
        let (sleeper, woken) = oneshot::channel();
        self.lock().sleeps.push(PendingSleep { time, sleeper });
        // A driver that drops the pending sleep also ends it.
        let _ = woken.await;
    }

    async fn get(&self, object: &ObjectRef) -> Result<Value, ApiError> {
        self.call_for_json(Request::Get(self.key(object)?)).await
    }

    async fn create(&self, object: &ObjectRef, manifest: &Value) -> Result<Value, ApiError> {
        self.call_for_json(Request::CreateJson(self.key(object)?, manifest.clone())).await
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        self.call_for_json(Request::Patch(self.key(object)?, patch.clone())).await
    }

    async fn patch_status(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        // Only the status and the preconditions are sent: the `status` subresource leaves all other fields unchanged.
        let conditions = ["uid", "resourceVersion"].map(|field| (field, patch.pointer(&format!("/metadata/{field}"))));
        let conditions = conditions.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?.clone())));
        let mut of_status = serde_json::Map::from_iter([("metadata".to_owned(), Value::Object(conditions.collect()))]);
        of_status.extend(patch.get("status").map(|status| ("status".to_owned(), status.clone())));
        self.call_for_json(Request::Patch(self.key(object)?, Value::Object(of_status))).await
    }

    async fn delete(&self, object: &ObjectRef, uid: Option<&Uid>) -> Result<(), ApiError> {
        self.call(Request::Delete(self.key(object)?, uid.cloned())).await.map(drop)
    }
}
