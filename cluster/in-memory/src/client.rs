//! A client whose calls wait until somebody answers them: at once in a simulation, late, wrongly or never in a test.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::oneshot;
use schedc_core::client::{ApiError, ApiReason, Client, Event, ObjectRef, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_objects::Kinds;
use serde_json::Value;

use crate::server::{Key, PodRef, Request, Response, json_of};

/// The client's end of a queue of calls. Clones share the queue.
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

/// A call that waits for its answer. Whoever drops it loses the answer: the caller sees a time-out.
#[derive(Debug)]
pub struct PendingCall {
    /// What is asked.
    pub request: Request,
    /// None if nobody waits for an answer.
    caller: Option<oneshot::Sender<Response>>,
}

impl PendingCall {
    /// Answers it.
    pub fn answer(self, response: Response) {
        if let Some(caller) = self.caller {
            // The caller may have been cancelled.
            let _ = caller.send(response);
        }
    }

    /// Whether the caller has gone away. What it asked for may still be done: it had sent it.
    pub fn is_abandoned(&self) -> bool {
        self.caller.as_ref().is_some_and(oneshot::Sender::is_canceled)
    }
}

/// Somebody who waits for the time to pass.
#[derive(Debug)]
pub struct PendingSleep {
    /// How long, from the moment when it asked.
    pub time: Duration,
    sleeper: oneshot::Sender<()>,
}

impl PendingSleep {
    /// The time has come.
    pub fn wake(self) {
        // It may have been cancelled.
        let _ = self.sleeper.send(());
    }

    /// Whether nobody waits any more.
    pub fn is_abandoned(&self) -> bool {
        self.sleeper.is_canceled()
    }
}

impl InMemoryClient {
    /// A client that also knows kinds which plugins declare.
    pub fn with_kinds(kinds: Kinds) -> Self {
        InMemoryClient { kinds, ..InMemoryClient::default() }
    }

    /// The calls since this was asked last, in order.
    pub fn take_calls(&self) -> Vec<PendingCall> {
        std::mem::take(&mut self.lock().calls)
    }

    /// Those who went to sleep since this was asked last, in order.
    pub fn take_sleeps(&self) -> Vec<PendingSleep> {
        std::mem::take(&mut self.lock().sleeps)
    }

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
    fn lock(&self) -> MutexGuard<'_, PendingCalls> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, object: &ObjectRef) -> Result<Key, ApiError> {
        let unknown = || ApiError::new(ApiReason::NotFound, "the server could not find the requested resource");
        Key::of_reference(object, self.kinds).ok_or_else(unknown)
    }

    /// Sends a request and waits for the answer.
    async fn call(&self, request: Request) -> Response {
        let (caller, answer) = oneshot::channel();
        self.lock().calls.push(PendingCall { request, caller: Some(caller) });
        answer.await.unwrap_or_else(|_| {
            Err(ApiError::new(ApiReason::Timeout, "the server did not answer in time; the request may have been done"))
        })
    }

    /// The same, for requests whose answer is an object.
    async fn call_for_json(&self, request: Request) -> Result<Value, ApiError> {
        let object = self.call(request).await?;
        Ok(object.map_or(Value::Null, |object| json_of(&object)))
    }
}

impl Client for InMemoryClient {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        self.call(Request::bind(placement)).await.map(drop)
    }

    /// No extender can know this cluster: if it agrees, the pod is bound for it.
    async fn bind_by_extender(
        &self,
        placement: &Placement,
        ask: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        let agrees = ask()?;
        if agrees {
            self.bind(placement).await?;
        }
        Ok(agrees)
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
        let (sleeper, waker_state) = oneshot::channel();
        self.lock().sleeps.push(PendingSleep { time, sleeper });
        // A driver that drops the alarm wakes the sleeper.
        let _ = waker_state.await;
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
        // As with the subresource, all else stays as it is.
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
