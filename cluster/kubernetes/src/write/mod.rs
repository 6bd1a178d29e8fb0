//! Writes of the scheduler and its plugins: [`KubeClient`] is their client.
//!
//! The outcome of a request is unknown if its response is lost. If the request was a binding, the client reads the pod.
//! Deletions and status patches are repeated, which does no harm. For other writes, the plugin receives an error and
//! must read the object.

mod bind;
mod bindings_in_flight;
mod delete;
mod object_updates;
mod objects;
mod pod_records;
mod stall;
mod status;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use schedc_core::client::{ApiError, ApiReason, Client, Event, ObjectRef, ObjectUpdates, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_objects::Kinds;
use serde_json::Value;
use tracing::{debug, warn};

use crate::blocking;
use crate::logs::RateLimit;
use crate::resources::{Resource, pods};
use crate::transport::Transport;
use object_updates::ObjectSubscription;
use stall::STALLED;

pub use bindings_in_flight::Bindings;
pub use object_updates::ObjectListeners;
pub use pod_records::{PodRecord, PodRecords};

/// Maximum time for which [`Client::delete_pod`] waits until the watch reports the deletion.
const WATCH_DELAY: Duration = Duration::from_secs(1);

/// Client through which the scheduler writes to an API server.
#[derive(Clone)]
pub struct KubeClient<T, E> {
    transport: T,
    records: PodRecords,
    events: E,
    bindings: Bindings,
    kinds: Kinds,
    /// Limits log messages about failed status patches.
    status_log: Arc<RateLimit>,
}

/// Sink of events to be written. It never blocks; events beyond its capacity are lost.
pub trait EventSink: Clone + Send + Sync + 'static {
    /// Queues an event about a pod, with the pod's resource version if it is known.
    fn record(&self, event: Event, version: Option<u64>);
}

impl<T: Transport, E: EventSink> KubeClient<T, E> {
    /// Creates a client that reads versions and statuses of pods from `records`.
    pub fn new(transport: T, records: PodRecords, events: E) -> Self {
        let (bindings, kinds, status_log) = (Bindings::default(), Kinds::default(), Arc::default());
        KubeClient { transport, records, events, bindings, kinds, status_log }
    }

    /// Adds kinds that plugins declare.
    pub fn with_kinds(self, kinds: Kinds) -> Self {
        KubeClient { kinds, ..self }
    }

    /// Sets the counter of bindings.
    pub fn with_bindings(self, bindings: Bindings) -> Self {
        KubeClient { bindings, ..self }
    }

    /// Returns the number of bindings in flight.
    pub fn bindings(&self) -> usize {
        self.bindings.count()
    }

    fn subscribe(&self, objects: Vec<ObjectRef>, time: Duration) -> ObjectSubscription<T> {
        ObjectSubscription::new(self.transport.clone(), self.records.listeners().clone(), objects, time, self.kinds)
    }
}

impl<T: Transport, E: EventSink> Client for KubeClient<T, E> {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        if let Some(received) = self.records.take_receipt(&placement.pod.uid) {
            self.transport.binding_requested(self.transport.clock().saturating_sub(received));
        }
        let guard = self.bindings.begin(self.transport.clock());
        let mut binding = pin!(bind::bind(&self.transport, placement, |why| guard.fail(why)));
        loop {
            match select(binding.as_mut(), pin!(self.transport.sleep(STALLED))).await {
                Either::Left((result, _)) => {
                    if result.is_ok() {
                        guard.succeed(self.transport.clock());
                    }
                    return result;
                }
                Either::Right(_) => self.bindings.log_stall(self.transport.clock()),
            }
        }
    }

    async fn bind_by_extender(
        &self,
        _: &Placement,
        ask: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        let guard = self.bindings.begin(self.transport.clock());
        let result = blocking::run("extender", ask).await?;
        if result.is_ok() {
            guard.succeed(self.transport.clock());
        }
        result
    }

    fn notify_extender(&self, notify: impl FnOnce() + Send + 'static) {
        drop(blocking::run("extender", notify));
    }

    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        // The first attempt failed, or waits in Permit or PreBind. A later binding is not a direct response to the
        // watch event, so its time is not measured.
        let _receipt = self.records.take_receipt(&pod.uid);
        let result = status::patch(&self.transport, &self.records, pod, patch).await;
        // The status of a deleted pod does not matter.
        if let Err(error) = &result
            && error.reason != ApiReason::NotFound
            && let Some(others) = self.status_log.allow(self.transport.clock())
        {
            warn!(pod = %pod.namespaced_name(), err = error.message, others, "Unable to patch the status of a pod");
        }
        result
    }

    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        let known = || self.records.get(&pod.uid).map(|record| record.version);
        let before = known();
        let mut updates = self.subscribe(vec![reference(pod)], WATCH_DELAY);
        delete::delete(&self.transport, path(pod, ""), Some(&pod.uid)).await?;
        // Wait until the watch reports the deletion. An earlier retry of the preemptor would still count the victim.
        while before.is_some() && known() == before && updates.next_update().await.is_some() {}
        Ok(())
    }

    fn record(&self, event: Event) {
        if let ("Preempted", Some(preemptor)) = (event.reason, &event.related) {
            let (preemptor, victim) = (preemptor.namespaced_name(), event.regarding.namespaced_name());
            debug!(v = 2, preemptor = %preemptor, victim = %victim, "Preemptor Pod preempted victim Pod");
        }
        let version = self.records.get(&event.regarding.uid).map(|record| record.version);
        self.events.record(event, version);
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.transport.sleep(time)
    }

    fn get(&self, object: &ObjectRef) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::get(&self.transport, object, self.kinds)
    }

    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> impl ObjectUpdates {
        self.subscribe(objects, time)
    }

    fn create(&self, object: &ObjectRef, manifest: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::create(&self.transport, object, manifest, self.kinds)
    }

    fn patch(&self, object: &ObjectRef, patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::patch(&self.transport, object, "", patch, self.kinds)
    }

    fn patch_status(&self, object: &ObjectRef, patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::patch(&self.transport, object, "/status", patch, self.kinds)
    }

    async fn delete(&self, object: &ObjectRef, uid: Option<&Uid>) -> Result<(), ApiError> {
        let path = objects::resource(object, self.kinds)?.path(&object.namespace, &object.name);
        delete::delete(&self.transport, path, uid).await
    }
}

fn reference(pod: &Pod) -> ObjectRef {
    ObjectRef { api_version: "v1".into(), kind: "Pod".into(), namespace: pod.namespace.clone(), name: pod.name.clone() }
}

/// Returns the path of a pod or of one of its subresources.
fn path(pod: &Pod, subresource: &str) -> String {
    pods().path(&pod.namespace, &pod.name) + subresource
}

#[cfg(test)]
mod tests;
