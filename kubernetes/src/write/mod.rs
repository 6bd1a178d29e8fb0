//! What the scheduler and its plugins do to the cluster: [`KubeClient`] is their client.
//!
//! A request that may have been done is not simply sent again, nor taken for failed: what is there is looked at.

mod bind;
mod delete;
mod in_flight;
mod news;
mod objects;
mod status;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use schedc_core::client::{ApiError, Client, Event, News, ObjectRef, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use serde_json::Value;

use crate::pods::Records;
use crate::resources::{Resource, pods};
use crate::wire::Transport;
use in_flight::InFlight;

pub use news::Listeners;

/// How often it is looked whether a watch tells of what was done, and how far apart: for a second at most.
const TELLS: u32 = 200;
const TOLD: Duration = Duration::from_millis(5);

/// The scheduler's client of an API server.
#[derive(Clone)]
pub struct KubeClient<T, E> {
    transport: T,
    records: Records,
    events: E,
    bindings: InFlight,
}

/// Where events go that are to be written. It never waits; what is too much is lost.
pub trait Events: Clone + Send + Sync + 'static {
    /// An event about a version of a pod, if that is known.
    fn record(&self, event: Event, version: Option<u64>);
}

impl<T: Transport, E: Events> KubeClient<T, E> {
    /// A client that knows of pods what the records say.
    pub fn new(transport: T, records: Records, events: E) -> Self {
        KubeClient { transport, records, events, bindings: InFlight::default() }
    }

    /// How many bindings are under way.
    pub fn bindings(&self) -> usize {
        self.bindings.count()
    }
}

impl<T: Transport, E: Events> Client for KubeClient<T, E> {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        let _one = self.bindings.begin();
        bind::bind(&self.transport, placement).await
    }

    fn patch_pod_status(
        &self,
        pod: &Arc<Pod>,
        patch: &StatusPatch,
    ) -> impl Future<Output = Result<(), ApiError>> + Send {
        status::patch(&self.transport, &self.records, pod, patch)
    }

    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        let known = || self.records.get(&pod.uid).map(|record| record.version);
        let before = known();
        delete::delete(&self.transport, path(pod, ""), Some(&pod.uid)).await?;
        // Whoever wanted the room is tried again once this is done, and would not see that it is being made.
        for _ in 0..TELLS {
            if before.is_none() || known() != before {
                break;
            }
            self.transport.sleep(TOLD).await;
        }
        Ok(())
    }

    fn record(&self, event: Event) {
        let version = self.records.get(&event.regarding.uid).map(|record| record.version);
        self.events.record(event, version);
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.transport.sleep(time)
    }

    fn get(&self, object: &ObjectRef) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::get(&self.transport, object)
    }

    fn follow(&self, objects: Vec<ObjectRef>, time: Duration) -> impl News {
        news::Following::new(self.transport.clone(), self.records.listeners().clone(), objects, time)
    }

    fn create(&self, object: &ObjectRef, manifest: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::create(&self.transport, object, manifest)
    }

    fn patch(&self, object: &ObjectRef, patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        objects::patch(&self.transport, object, patch)
    }

    async fn delete(&self, object: &ObjectRef, uid: Option<&Uid>) -> Result<(), ApiError> {
        let path = objects::resource(object)?.path(&object.namespace, &object.name);
        delete::delete(&self.transport, path, uid).await
    }
}

/// The path of a pod, or of something that belongs to it.
fn path(pod: &Pod, subresource: &str) -> String {
    pods().path(&pod.namespace, &pod.name) + subresource
}

#[cfg(test)]
mod tests;
