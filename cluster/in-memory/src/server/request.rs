//! What a server is asked, and what it answers.

use std::sync::Arc;

use schedc_core::client::{ApiError, Event, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_objects::AnyObject;
use serde_json::Value;

use super::Key;

/// A pod, and no other of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its uid.
    pub uid: Uid,
}

impl PodRef {
    /// A pod as the scheduler knows it.
    pub fn of(pod: &Pod) -> PodRef {
        PodRef { namespace: pod.namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() }
    }

    /// Where it is.
    pub fn key(&self) -> Key {
        Key::pod(self.namespace.clone(), self.name.clone())
    }
}

/// Something that a server is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `create pods/binding`: the pod gets its node, if it has none yet.
    Bind {
        /// The pod.
        pod: PodRef,
        /// The node's name.
        node: Arc<str>,
    },
    /// `patch pods/status`: a condition, the nominated node.
    PatchPodStatus {
        /// The pod.
        pod: PodRef,
        /// What changes.
        patch: StatusPatch,
    },
    /// `delete pods`, with the time that the pod is granted to end.
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
    /// `patch`, a JSON merge patch. A resource version in it is a condition.
    Patch(Key, Value),
    /// `delete`, of this uid if one is given.
    Delete(Key, Option<Uid>),
    /// `create`.
    Create(Box<AnyObject>),
    /// As `kubectl replace`: changes the object that is there, as [`Request::Apply`] does.
    Replace(Box<AnyObject>),
    /// As `kubectl apply`: creates the object, or changes the one that is there. See [`ApiServer`](super::Server) for what
    /// stays of that.
    Apply(Box<AnyObject>),
}

impl Request {
    /// To bind a pod as the scheduler has decided.
    pub fn bind(placement: &Placement) -> Request {
        Request::Bind { pod: PodRef::of(&placement.pod), node: placement.node_name.clone() }
    }
}

/// The object as it is after the request; `None` where there is none, as after a deletion.
pub type Response = Result<Option<Arc<AnyObject>>, ApiError>;
