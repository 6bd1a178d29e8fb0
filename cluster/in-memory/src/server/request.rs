//! Requests and responses of the server.

use std::sync::Arc;

use schedc_core::client::{ApiError, Event, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_objects::AnyObject;
use serde_json::Value;

use super::Key;

/// Reference to a pod, with its uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// Namespace of the pod.
    pub namespace: Arc<str>,
    /// Name of the pod.
    pub name: Arc<str>,
    /// Uid of the pod.
    pub uid: Uid,
}

impl PodRef {
    /// Returns the reference to a pod of the model.
    pub fn of(pod: &Pod) -> PodRef {
        PodRef { namespace: pod.namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() }
    }

    /// Returns the key of the pod.
    pub fn key(&self) -> Key {
        Key::pod(self.namespace.clone(), self.name.clone())
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `create pods/binding`: sets the node of an unbound pod.
    Bind {
        /// The pod.
        pod: PodRef,
        /// The node's name.
        node: Arc<str>,
    },
    /// `patch pods/status`: sets a condition or the nominated node.
    PatchPodStatus {
        /// The pod.
        pod: PodRef,
        /// The patch.
        patch: StatusPatch,
    },
    /// `delete pods`, with the pod's grace period.
    DeletePod {
        /// The pod.
        pod: PodRef,
    },
    /// `create events`.
    Record(Box<Event>),
    /// `get`.
    Get(Key),
    /// `create`, from a manifest.
    CreateJson(Key, Value),
    /// `patch`, a JSON merge patch. A resource version or uid in it is a precondition.
    Patch(Key, Value),
    /// `delete`. If a uid is given, the object must have it.
    Delete(Key, Option<Uid>),
    /// `create`.
    Create(Box<AnyObject>),
    /// `kubectl replace`: updates an existing object, like [`Request::Apply`].
    Replace(Box<AnyObject>),
    /// `kubectl apply`: creates the object, or updates an existing one. [`ApiServer`](super::ApiServer) lists the
    /// fields that an update keeps.
    Apply(Box<AnyObject>),
}

impl Request {
    /// Returns the request that binds a pod to the scheduler's choice.
    pub fn bind(placement: &Placement) -> Request {
        Request::Bind { pod: PodRef::of(&placement.pod), node: placement.node_name.clone() }
    }
}

/// The object after the request; `None` if it does not exist, such as after a deletion, or if an event was recorded.
pub type Response = Result<Option<Arc<AnyObject>>, ApiError>;
