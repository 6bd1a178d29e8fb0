//! Owned events, which can be stored. They have the object before and after the change.

use std::sync::Arc;

use super::{Action, ClusterEvent, EventObject, EventPod, EventResource, Events, node_updated};
use crate::model::intern::Symbol;
use crate::model::{Node, Object, Pod};

/// A pod, and its current or future node.
#[derive(Clone, Debug)]
pub struct PodOnNode {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Its node. The spec may lack it: the cache stores the node of a pod apart from the spec.
    pub node: Option<Symbol>,
}

impl PodOnNode {
    /// Makes a value with the node in the pod's spec, if any.
    pub fn new(pod: Arc<Pod>) -> Self {
        PodOnNode { node: pod.spec.node_name, pod }
    }

    /// Returns the borrowed form, for hints.
    pub(crate) fn as_event(&self) -> EventPod<'_> {
        EventPod { pod: &self.pod, node: self.node }
    }
}

/// An object before (`None`: it was added) and after (`None`: it was removed) a change.
#[derive(Clone, Debug)]
pub enum ChangedObject {
    /// A node.
    Node(Option<Arc<Node>>, Option<Arc<Node>>),
    /// A pod.
    Pod(Option<PodOnNode>, Option<PodOnNode>),
    /// An object of another kind.
    Object(Option<Object>, Option<Object>),
}

impl ChangedObject {
    /// Returns the borrowed form, for hints.
    pub(crate) fn as_event(&self) -> EventObject<'_> {
        match self {
            ChangedObject::Node(old, new) => EventObject::Node(old.as_deref(), new.as_deref()),
            ChangedObject::Pod(old, new) => {
                EventObject::Pod(old.as_ref().map(PodOnNode::as_event), new.as_ref().map(PodOnNode::as_event))
            }
            ChangedObject::Object(old, new) => EventObject::Object(old.as_ref(), new.as_ref()),
        }
    }
}

/// One event.
#[derive(Clone, Debug)]
pub struct ObjectEvent {
    /// Kind and action.
    pub event: ClusterEvent,
    /// The object.
    pub changed: ChangedObject,
}

/// Returns the events of a node that was added, changed or removed.
pub fn node_changed(old: Option<&Node>, new: Option<&Node>) -> Events {
    match (old, new) {
        (Some(old), Some(new)) => node_updated(old, new),
        (old, new) => {
            let action = change_action(old.is_some(), new.is_some());
            action.map(|action| ClusterEvent::new(EventResource::Node, action)).into_iter().collect()
        }
    }
}

/// Returns the event of an object, other than a node or pod, that was added, changed or removed; `None` for kinds
/// without events.
pub fn object_changed(old: Option<&Object>, new: Option<&Object>) -> Option<ClusterEvent> {
    let resource = resource(new.or(old)?)?;
    change_action(old.is_some(), new.is_some()).map(|action| ClusterEvent::new(resource, action))
}

fn change_action(existed: bool, exists: bool) -> Option<Action> {
    match (existed, exists) {
        (false, false) => None,
        (false, true) => Some(Action::ADD),
        (true, true) => Some(Action::UPDATE),
        (true, false) => Some(Action::DELETE),
    }
}

/// Returns the kind that an object has in events; `None` if its kind has no events.
fn resource(object: &Object) -> Option<EventResource> {
    Some(match object {
        Object::PersistentVolume(_) => EventResource::PersistentVolume,
        Object::PersistentVolumeClaim(_) => EventResource::PersistentVolumeClaim,
        Object::StorageClass(_) => EventResource::StorageClass,
        Object::CsiNode(_) => EventResource::CsiNode,
        Object::CsiDriver(_) => EventResource::CsiDriver,
        Object::CsiStorageCapacity(_) => EventResource::CsiStorageCapacity,
        Object::VolumeAttachment(_) => EventResource::VolumeAttachment,
        Object::ResourceClaim(_) => EventResource::ResourceClaim,
        Object::ResourceSlice(_) => EventResource::ResourceSlice,
        Object::DeviceClass(_) => EventResource::DeviceClass,
        Object::Custom(object) => EventResource::Custom(object.kind.name),
        Object::Namespace(_) | Object::Workload(_) | Object::PodDisruptionBudget(_) => return None,
    })
}
