//! Derivation of scheduler events from a change of an object.

use schedc_core::events::{
    Action, ClusterEvent, EventObject, EventPod, EventResource, node_changed, object_changed, pod_updated,
};
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Object, Pod};
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod, is_finished};
use serde::Serialize;

/// An object before and after a change.
#[derive(Clone, Debug)]
pub(super) enum ObjectChange {
    Node(Option<Box<Node>>, Option<Box<Node>>),
    Pod(Option<Box<Pod>>, Option<Box<Pod>>),
    Object(Option<Object>, Option<Object>),
}

/// The pods that are notified of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Every unschedulable pod.
    All,
    /// The pod that changed.
    #[serde(rename = "self")]
    SamePod,
    /// The pod of the scenario, for an event that the scenario names.
    Direct,
}

/// An event with its object.
pub(super) struct DerivedEvent<'a> {
    pub(super) event: ClusterEvent,
    pub(super) object: EventObject<'a>,
    pub(super) scope: Scope,
    /// Only pods with at most this priority are notified.
    pub(super) up_to_priority: Option<i32>,
}

impl ObjectChange {
    /// Converts the object before and after the change. A finished pod counts as deleted.
    pub(super) fn new(old: Option<&AnyObject>, new: Option<&AnyObject>, interner: &mut Interner) -> ObjectChange {
        fn pod(object: &AnyObject, interner: &mut Interner) -> Option<Box<Pod>> {
            match object {
                AnyObject::Pod(pod) if !is_finished(pod) => Some(convert_pod(pod, interner).into()),
                _ => None,
            }
        }
        fn node(object: &AnyObject, interner: &mut Interner) -> Option<Box<Node>> {
            match object {
                AnyObject::Node(node) => Some(convert_node(node, interner).into()),
                _ => None,
            }
        }
        match new.or(old) {
            Some(AnyObject::Pod(_)) => {
                ObjectChange::Pod(old.and_then(|o| pod(o, interner)), new.and_then(|o| pod(o, interner)))
            }
            Some(AnyObject::Node(_)) => {
                ObjectChange::Node(old.and_then(|o| node(o, interner)), new.and_then(|o| node(o, interner)))
            }
            _ => {
                let old = old.and_then(|object| convert_object(object, interner));
                ObjectChange::Object(old, new.and_then(|object| convert_object(object, interner)))
            }
        }
    }

    /// Returns the object in the form that hints receive.
    pub(super) fn object(&self) -> EventObject<'_> {
        match self {
            ObjectChange::Node(old, new) => EventObject::Node(old.as_deref(), new.as_deref()),
            ObjectChange::Pod(old, new) => EventObject::pods(old.as_deref(), new.as_deref()),
            ObjectChange::Object(old, new) => EventObject::Object(old.as_ref(), new.as_ref()),
        }
    }

    /// Returns the events that kube-scheduler's event handlers derive. `is_same_pod`: whether the pod of the scenario
    /// itself changes. `is_served` returns whether the scheduler is responsible for a pod without a node.
    pub(super) fn events(&self, is_same_pod: bool, is_served: impl Fn(&Pod) -> bool) -> Vec<DerivedEvent<'_>> {
        match self {
            ObjectChange::Node(old, new) => {
                let events = node_changed(old.as_deref(), new.as_deref()).into_iter();
                events.map(|event| event_for_all(event, self.object())).collect()
            }
            ObjectChange::Pod(old, new) => {
                let [old, new] = [old, new].map(|pod| pod.as_deref().map(EventPod::new));
                pod_events(old, new, is_same_pod, is_served)
            }
            ObjectChange::Object(old, new) => {
                let event = object_changed(old.as_ref(), new.as_ref());
                event.map(|event| event_for_all(event, self.object())).into_iter().collect()
            }
        }
    }
}

fn event_for_all(event: ClusterEvent, object: EventObject<'_>) -> DerivedEvent<'_> {
    DerivedEvent { event, object, scope: Scope::All, up_to_priority: None }
}

fn pod_events<'a>(
    old: Option<EventPod<'a>>,
    new: Option<EventPod<'a>>,
    is_same_pod: bool,
    is_served: impl Fn(&Pod) -> bool,
) -> Vec<DerivedEvent<'a>> {
    let assigned = |action| ClusterEvent::new(EventResource::AssignedPod, action);
    let object = EventObject::Pod(old, new);
    let mut events = Vec::new();
    match (old, new) {
        (Some(old), None) if old.node.is_some() => events.push(event_for_all(assigned(Action::DELETE), object)),
        (Some(old), Some(new)) if old.node.is_some() => {
            events.extend(pod_updated(old, new).into_iter().map(|event| event_for_all(event, object)));
        }
        // A binding counts as an added assigned pod.
        (_, Some(new)) if new.node.is_some() => {
            events.push(event_for_all(assigned(Action::ADD), EventObject::Pod(None, Some(new))));
        }
        (Some(old), new) if is_served(&old) => {
            if let Some(new) = new.filter(|_| is_same_pod) {
                let updated = pod_updated(old, new).into_iter();
                events.extend(
                    updated.map(|event| DerivedEvent { scope: Scope::SamePod, ..event_for_all(event, object) }),
                );
            }
            // Other pods were evaluated as if this pod were on its nominated node. They are notified that the pod left
            // the node.
            let before = old.nominated_node;
            if before.is_some() && new.and_then(|new| new.nominated_node) != before {
                let removal = event_for_all(assigned(Action::DELETE), EventObject::Pod(Some(old), None));
                events.push(DerivedEvent { up_to_priority: Some(old.spec.priority), ..removal });
            }
        }
        _ => {}
    }
    events
}
