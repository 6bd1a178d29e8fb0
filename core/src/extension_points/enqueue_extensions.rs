//! EnqueueExtensions: which events can make a rejected pod schedulable, and QueueingHint: whether this one does.

use crate::intern::Interner;
use crate::model::{Node, Pod};
use crate::plugin::Plugin;

/// The kinds of objects that events are about, as in kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventResource {
    /// A pod that runs, or the pod itself.
    Pod,
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
    /// Anything, of any kind.
    Wildcard,
}

/// A set of things that happen to objects: kube-scheduler's `ActionType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action(u32);

impl Action {
    /// The object came.
    pub const ADD: Action = Action(1);
    /// The object went.
    pub const DELETE: Action = Action(1 << 1);
    /// A node's allocatable changed.
    pub const UPDATE_NODE_ALLOCATABLE: Action = Action(1 << 2);
    /// A node's labels changed.
    pub const UPDATE_NODE_LABEL: Action = Action(1 << 3);
    /// A node's taints, or whether it is schedulable, changed.
    pub const UPDATE_NODE_TAINT: Action = Action(1 << 4);
    /// A node's conditions changed.
    pub const UPDATE_NODE_CONDITION: Action = Action(1 << 5);
    /// A node's annotations changed.
    pub const UPDATE_NODE_ANNOTATION: Action = Action(1 << 6);
    /// A node's declared features changed.
    pub const UPDATE_NODE_DECLARED_FEATURE: Action = Action(1 << 7);
    /// A pod's labels changed.
    pub const UPDATE_POD_LABEL: Action = Action(1 << 8);
    /// A pod asks for less.
    pub const UPDATE_POD_SCALE_DOWN: Action = Action(1 << 9);
    /// Scheduling gates were taken off a pod.
    pub const UPDATE_POD_SCHEDULING_GATES_ELIMINATED: Action = Action(1 << 10);
    /// A pod got tolerations.
    pub const UPDATE_POD_TOLERATION: Action = Action(1 << 11);
    /// A pod's generated resource claim changed.
    pub const UPDATE_POD_GENERATED_RESOURCE_CLAIM: Action = Action(1 << 12);
    /// Another change.
    pub const UPDATE_OTHER: Action = Action(1 << 13);
    /// Any change.
    pub const UPDATE: Action = Action(((1 << 14) - 1) & !0b11);
    /// Anything.
    pub const ALL: Action = Action((1 << 14) - 1);

    /// Both.
    pub const fn or(self, other: Action) -> Action {
        Action(self.0 | other.0)
    }
    /// Whether the sets have something in common.
    pub const fn intersects(self, other: Action) -> bool {
        self.0 & other.0 != 0
    }
}

/// A kind of event that a plugin waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClusterEvent {
    /// What it is about.
    pub resource: EventResource,
    /// What happens.
    pub actions: Action,
}

/// Whether an event may make a pod schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueingHint {
    /// It cannot: leave the pod where it is.
    Skip,
    /// It may: try again.
    Queue,
}

/// The object of an event, before and after.
#[derive(Clone, Copy, Debug)]
pub enum EventObject<'a> {
    /// A node; none before it came and after it went.
    Node(Option<&'a Node>, Option<&'a Node>),
    /// A pod; none before it came and after it went.
    Pod(Option<&'a Pod>, Option<&'a Pod>),
    /// Another object, of which only the kind is known here.
    Other,
}

/// Tells which events are worth a new attempt for pods that this plugin rejected. A plugin without it is woken by
/// every event.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `EnqueueExtensions`",
    note = "its catalog entry says `enqueue-extensions = true`"
)]
pub trait EnqueueExtensions: Plugin {
    /// The events.
    const EVENTS: &'static [ClusterEvent];

    /// Looks closer at one of these events. A needless `Queue` costs an attempt; a wrong `Skip` leaves a pod behind.
    fn queueing_hint(
        _args: &Self::Args,
        _rejected: &Pod,
        _event: ClusterEvent,
        _object: EventObject<'_>,
        _interner: &Interner,
    ) -> QueueingHint {
        QueueingHint::Queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_change_is_an_update_and_no_arrival() {
        assert!(Action::UPDATE.intersects(Action::UPDATE_NODE_LABEL));
        assert!(!Action::UPDATE.intersects(Action::ADD.or(Action::DELETE)));
        assert!(Action::ALL.intersects(Action::UPDATE_OTHER) && Action::ALL.intersects(Action::ADD));
    }
}
