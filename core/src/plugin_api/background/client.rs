//! The client of a background task.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Channel, ObjectRequest, RequestQueue, TaskRequest, Watch, watch};
use crate::model::cache::Base;
use crate::model::placement::Placement;
use crate::model::{Pod, Uid};
use crate::plugin_api::client::{ApiError, ApiReason, Client, ObjectRef, StatusPatch};
use crate::plugin_api::events::ObjectEvent;
use crate::plugin_api::requests::WriteOperation;

/// The access of a plugin's background task to the cluster. This client implements [`Client`]: it gets, creates, changes
/// and deletes objects of kinds that plugins declare, and sleeps by the scheduler's clock. The client cannot bind pods,
/// delete them or patch their status: only the scheduler can.
///
/// The client works only in tasks that [`Handle::spawn`](crate::handle::Handle::spawn) starts: the scheduler forwards
/// their calls.
#[derive(Clone, Debug)]
pub struct BackgroundClient {
    requests: RequestQueue,
}

impl BackgroundClient {
    pub(crate) fn new(requests: RequestQueue) -> Self {
        BackgroundClient { requests }
    }

    /// Watches nodes and bound pods, and also the objects of other kinds if plugins watch these kinds. Namespaces,
    /// workloads and disruption budgets are excluded, because kube-scheduler has no cluster events for these kinds.
    /// Existing objects come first, as additions; then every cluster event in order.
    ///
    /// `read` selects and converts events for the task. It runs on the scheduling thread and should be quick. Names in
    /// events are symbols, which are meaningless in a task: resolve them in `read`, with [`Base::interner`].
    ///
    /// The converted events are kept until the task takes them.
    #[must_use]
    pub fn watch<T: Send + 'static>(
        &self,
        read: impl Fn(&ObjectEvent, &Base) -> Option<T> + Send + Sync + 'static,
    ) -> Watch<T> {
        let (items, watcher) = watch::watch(read);
        self.requests.send_task_request(TaskRequest::Watch(watcher));
        items
    }

    async fn call(&self, request: ObjectRequest) -> Result<Value, ApiError> {
        let response = Channel::default();
        self.requests.send_task_request(TaskRequest::Call(request, response.clone()));
        response.pop().await
    }

    async fn change(&self, object: &ObjectRef, operation: WriteOperation) -> Result<Value, ApiError> {
        self.call(ObjectRequest::Write(object.clone(), operation)).await
    }
}

impl Client for BackgroundClient {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        Err(unsupported_request("bind", &placement.pod))
    }
    async fn patch_pod_status(&self, pod: &Arc<Pod>, _: &StatusPatch) -> Result<(), ApiError> {
        Err(unsupported_request("patch the status of", pod))
    }
    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        Err(unsupported_request("delete", pod))
    }

    async fn sleep(&self, time: Duration) {
        let alarm = Channel::default();
        self.requests.send_task_request(TaskRequest::Sleep(time, alarm.clone()));
        alarm.pop().await
    }

    async fn get(&self, object: &ObjectRef) -> Result<Value, ApiError> {
        self.call(ObjectRequest::Get(object.clone())).await
    }
    async fn create(&self, object: &ObjectRef, manifest: &Value) -> Result<Value, ApiError> {
        self.change(object, WriteOperation::Create(manifest.clone())).await
    }
    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        self.change(object, WriteOperation::Patch(patch.clone())).await
    }
    async fn patch_status(&self, object: &ObjectRef, patch: &Value) -> Result<Value, ApiError> {
        self.change(object, WriteOperation::PatchStatus(patch.clone())).await
    }
    async fn delete(&self, object: &ObjectRef, uid: Option<&Uid>) -> Result<(), ApiError> {
        self.change(object, WriteOperation::Delete(uid.cloned())).await.map(drop)
    }
}

fn unsupported_request(verb: &str, pod: &Pod) -> ApiError {
    let message = format!("a background task cannot {verb} pod {}: only the scheduler can", pod.namespaced_name());
    ApiError::new(ApiReason::Unsupported, message)
}
