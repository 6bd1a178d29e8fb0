//! Cluster events: object changes, for plugins' registrations and for the queue.
//!
//! One change of an object can be several events, one for each aspect that plugins distinguish: see [`node_updated`]
//! and [`pod_updated`].

mod changes;
mod object_event;

pub use changes::{Events, node_updated, pod_updated};
pub use object_event::{ChangedObject, ObjectEvent, PodOnNode, node_changed, object_changed};

use std::fmt;
use std::ops::Deref;

use crate::model::intern::Symbol;
use crate::model::{Node, Object, Pod};

/// Kinds of objects in events, as in kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventResource {
    /// All pods. Only for registrations: an event has one of the next two kinds.
    Pod,
    /// A pod on a node, or one that leaves its nominated node.
    AssignedPod,
    /// A pending pod.
    UnschedulablePod,
    /// A node.
    Node,
    /// A persistent volume.
    PersistentVolume,
    /// A claim on a volume.
    PersistentVolumeClaim,
    /// A CSI node.
    CsiNode,
    /// A CSI driver.
    CsiDriver,
    /// A volume attachment.
    VolumeAttachment,
    /// Storage capacity that a driver reports.
    CsiStorageCapacity,
    /// A storage class.
    StorageClass,
    /// A resource claim.
    ResourceClaim,
    /// A resource slice.
    ResourceSlice,
    /// A device class.
    DeviceClass,
    /// A workload's pod group.
    PodGroup,
    /// A kind that a plugin declares, by its resource, version and group: `podgroups.v1alpha1.scheduling.x-k8s.io`. See
    /// [`CustomResource::RESOURCE`](crate::custom::CustomResource::RESOURCE).
    Custom(&'static str),
    /// Objects of all kinds.
    Wildcard,
}

impl EventResource {
    const ALL: [EventResource; 16] = [
        EventResource::Pod,
        EventResource::AssignedPod,
        EventResource::UnschedulablePod,
        EventResource::Node,
        EventResource::PersistentVolume,
        EventResource::PersistentVolumeClaim,
        EventResource::CsiNode,
        EventResource::CsiDriver,
        EventResource::VolumeAttachment,
        EventResource::CsiStorageCapacity,
        EventResource::StorageClass,
        EventResource::ResourceClaim,
        EventResource::ResourceSlice,
        EventResource::DeviceClass,
        EventResource::PodGroup,
        EventResource::Wildcard,
    ];

    /// Returns kube-scheduler's name.
    pub const fn name(self) -> &'static str {
        match self {
            EventResource::Pod => "Pod",
            EventResource::AssignedPod => "AssignedPod",
            EventResource::UnschedulablePod => "UnschedulablePod",
            EventResource::Node => "Node",
            EventResource::PersistentVolume => "PersistentVolume",
            EventResource::PersistentVolumeClaim => "PersistentVolumeClaim",
            EventResource::CsiNode => "storage.k8s.io/CSINode",
            EventResource::CsiDriver => "storage.k8s.io/CSIDriver",
            EventResource::VolumeAttachment => "storage.k8s.io/VolumeAttachment",
            EventResource::CsiStorageCapacity => "storage.k8s.io/CSIStorageCapacity",
            EventResource::StorageClass => "storage.k8s.io/StorageClass",
            EventResource::ResourceClaim => "resource.k8s.io/ResourceClaim",
            EventResource::ResourceSlice => "resource.k8s.io/ResourceSlice",
            EventResource::DeviceClass => "resource.k8s.io/DeviceClass",
            EventResource::PodGroup => "scheduling.k8s.io/PodGroup",
            EventResource::Custom(name) => name,
            EventResource::Wildcard => "*",
        }
    }

    /// Returns the kind with this name; `None` for kinds that plugins declare, and for unknown names.
    pub fn from_name(name: &str) -> Option<EventResource> {
        EventResource::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Returns whether a registration for this kind covers `happened`.
    fn covers(self, happened: EventResource) -> bool {
        use EventResource::{AssignedPod, Pod, UnschedulablePod, Wildcard};
        matches!(self, Wildcard)
            || self == happened
            || matches!((self, happened), (Pod, AssignedPod | UnschedulablePod))
    }
}

/// A set of actions on objects: kube-scheduler's `ActionType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action(u32);

impl Action {
    /// The object was added.
    pub const ADD: Action = Action(1);
    /// The object was removed.
    pub const DELETE: Action = Action(1 << 1);
    /// A node's allocatable changed.
    pub const UPDATE_NODE_ALLOCATABLE: Action = Action(1 << 2);
    /// A node's labels changed.
    pub const UPDATE_NODE_LABEL: Action = Action(1 << 3);
    /// A node's taints changed, or it was uncordoned.
    pub const UPDATE_NODE_TAINT: Action = Action(1 << 4);
    /// A node's conditions changed.
    pub const UPDATE_NODE_CONDITION: Action = Action(1 << 5);
    /// A node's annotations changed.
    pub const UPDATE_NODE_ANNOTATION: Action = Action(1 << 6);
    /// A node's declared features changed.
    pub const UPDATE_NODE_DECLARED_FEATURE: Action = Action(1 << 7);
    /// A pod's labels changed.
    pub const UPDATE_POD_LABEL: Action = Action(1 << 8);
    /// A pod requests less.
    pub const UPDATE_POD_SCALE_DOWN: Action = Action(1 << 9);
    /// The last scheduling gates of a pod were removed.
    pub const UPDATE_POD_SCHEDULING_GATES_ELIMINATED: Action = Action(1 << 10);
    /// The number of a pod's tolerations changed.
    pub const UPDATE_POD_TOLERATION: Action = Action(1 << 11);
    /// A pod's generated resource claims changed.
    pub const UPDATE_POD_GENERATED_RESOURCE_CLAIM: Action = Action(1 << 12);
    /// In a registration: any change. In an event: a change that has no other action.
    pub const UPDATE: Action = Action(((1 << 13) - 1) & !0b11);
    /// All actions.
    pub const ALL: Action = Action((1 << 13) - 1);

    /// Actions with kube-scheduler's names.
    const NAMES: [(Action, &'static str); 15] = [
        (Action::ADD, "Add"),
        (Action::DELETE, "Delete"),
        (Action::UPDATE_NODE_ALLOCATABLE, "UpdateNodeAllocatable"),
        (Action::UPDATE_NODE_LABEL, "UpdateNodeLabel"),
        (Action::UPDATE_NODE_TAINT, "UpdateNodeTaint"),
        (Action::UPDATE_NODE_CONDITION, "UpdateNodeCondition"),
        (Action::UPDATE_NODE_ANNOTATION, "UpdateNodeAnnotation"),
        (Action::UPDATE_NODE_DECLARED_FEATURE, "UpdateNodeDeclaredFeature"),
        (Action::UPDATE_POD_LABEL, "UpdatePodLabel"),
        (Action::UPDATE_POD_SCALE_DOWN, "UpdatePodScaleDown"),
        (Action::UPDATE_POD_SCHEDULING_GATES_ELIMINATED, "UpdatePodSchedulingGatesEliminated"),
        (Action::UPDATE_POD_TOLERATION, "UpdatePodToleration"),
        (Action::UPDATE_POD_GENERATED_RESOURCE_CLAIM, "UpdatePodGeneratedResourceClaim"),
        (Action::UPDATE, "Update"),
        (Action::ALL, "All"),
    ];

    /// Returns the union of the two sets.
    pub const fn or(self, other: Action) -> Action {
        Action(self.0 | other.0)
    }
    /// Returns whether the sets intersect.
    pub const fn intersects(self, other: Action) -> bool {
        self.0 & other.0 != 0
    }
    /// Returns whether this set contains all of `other`.
    pub const fn contains(self, other: Action) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns kube-scheduler's name; `None` for a set without a name.
    pub fn name(self) -> Option<&'static str> {
        Action::NAMES.iter().find(|(action, _)| *action == self).map(|(_, name)| *name)
    }
    /// Returns the action with this name.
    pub fn from_name(name: &str) -> Option<Action> {
        Action::NAMES.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
    }
}

/// An event or a set of events: actions on objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClusterEvent {
    /// Kind of the object.
    pub resource: EventResource,
    /// The actions; a single one for an event that happened.
    pub actions: Action,
}

impl ClusterEvent {
    /// Makes an event.
    pub const fn new(resource: EventResource, actions: Action) -> ClusterEvent {
        ClusterEvent { resource, actions }
    }

    /// Returns whether a registration for this event covers `happened` (`MatchClusterEvents`). Only a registration for
    /// all of [`Action::UPDATE`] covers a general update.
    pub fn covers(self, happened: ClusterEvent) -> bool {
        self.resource.covers(happened.resource) && self.actions.contains(happened.actions)
    }
}

impl fmt::Display for ClusterEvent {
    /// Writes kube-scheduler's label: `NodeUpdateNodeTaint`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource.name(), self.actions.name().unwrap_or("Unknown"))
    }
}

/// A pod in an event.
#[derive(Clone, Copy, Debug)]
pub struct EventPod<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// Its node. The spec may lack it: the cache stores the node of a pod apart from the spec.
    pub node: Option<Symbol>,
}

impl<'a> EventPod<'a> {
    /// Makes a value with the node in the pod's spec, if any.
    pub fn new(pod: &'a Pod) -> Self {
        EventPod { pod, node: pod.spec.node_name }
    }

    /// Returns whether it uses resources of its node or of its nominated node.
    pub fn occupies_node(&self) -> bool {
        self.node.is_some() || self.pod.nominated_node.is_some()
    }
}

impl Deref for EventPod<'_> {
    type Target = Pod;
    fn deref(&self) -> &Pod {
        self.pod
    }
}

/// The object of an event before (`None`: it was added) and after (`None`: it was removed).
#[derive(Clone, Copy, Debug)]
pub enum EventObject<'a> {
    /// A node.
    Node(Option<&'a Node>, Option<&'a Node>),
    /// A pod.
    Pod(Option<EventPod<'a>>, Option<EventPod<'a>>),
    /// An object of another kind.
    Object(Option<&'a Object>, Option<&'a Object>),
    /// An object without details.
    Other,
}

impl<'a> EventObject<'a> {
    /// Makes the object of a pod's event; the nodes are those in the pod's specs.
    pub fn pods(old: Option<&'a Pod>, new: Option<&'a Pod>) -> Self {
        EventObject::Pod(old.map(EventPod::new), new.map(EventPod::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(resource: EventResource, actions: Action) -> ClusterEvent {
        ClusterEvent { resource, actions }
    }

    #[test]
    fn a_label_change_is_an_update_and_not_an_addition() {
        assert!(Action::UPDATE.contains(Action::UPDATE_NODE_LABEL));
        assert!(!Action::UPDATE.intersects(Action::ADD.or(Action::DELETE)));
        assert!(Action::ALL.contains(Action::UPDATE) && Action::ALL.contains(Action::ADD));
    }

    #[test]
    fn registrations_cover_events() {
        use EventResource::{AssignedPod, Node, Pod, UnschedulablePod, Wildcard};
        for (registered, happened, expected) in [
            ((Pod, Action::DELETE), (AssignedPod, Action::DELETE), true),
            ((Pod, Action::UPDATE), (UnschedulablePod, Action::UPDATE_POD_LABEL), true),
            ((Pod, Action::UPDATE), (UnschedulablePod, Action::UPDATE), true),
            ((Pod, Action::UPDATE_POD_LABEL), (UnschedulablePod, Action::UPDATE), false),
            ((Pod, Action::DELETE), (Node, Action::DELETE), false),
            ((AssignedPod, Action::DELETE), (UnschedulablePod, Action::DELETE), false),
            ((Node, Action::ADD), (Node, Action::UPDATE_NODE_LABEL), false),
            ((Wildcard, Action::ALL), (Node, Action::UPDATE_NODE_LABEL), true),
        ] {
            let registered = event(registered.0, registered.1);
            let happened = event(happened.0, happened.1);
            assert_eq!(registered.covers(happened), expected, "{registered} {happened}");
        }
    }

    #[test]
    fn actions_have_the_names_of_kube_scheduler() {
        for (action, name) in Action::NAMES {
            assert_eq!(action.name(), Some(name));
            assert_eq!(Action::from_name(name), Some(action));
        }
        for resource in EventResource::ALL {
            assert_eq!(EventResource::from_name(resource.name()), Some(resource));
        }
        assert_eq!(Action::ADD.or(Action::DELETE).name(), None);
        let event = event(EventResource::CsiNode, Action::UPDATE);
        assert_eq!(event.to_string(), "storage.k8s.io/CSINodeUpdate");
    }
}
