//! Conversion of object changes to cluster events.

use smallvec::SmallVec;

use super::{Action, ClusterEvent, EventPod, EventResource};
use crate::model::{Node, Resources};

/// The events of one change, in the order of delivery.
pub type Events = SmallVec<[ClusterEvent; 4]>;

/// Returns the events of a changed node: one for each changed aspect that scheduling reads, as in
/// `NodeSchedulingPropertiesChange`. Uncordoning causes a separate `UPDATE_NODE_TAINT` event; cordoning causes no
/// event.
pub fn node_updated(old: &Node, new: &Node) -> Events {
    let changed = [
        (old.unschedulable && !new.unschedulable, Action::UPDATE_NODE_TAINT),
        (old.allocatable != new.allocatable || old.allowed_pods != new.allowed_pods, Action::UPDATE_NODE_ALLOCATABLE),
        (old.labels != new.labels, Action::UPDATE_NODE_LABEL),
        (old.taints != new.taints, Action::UPDATE_NODE_TAINT),
        (old.conditions != new.conditions, Action::UPDATE_NODE_CONDITION),
        (old.annotations != new.annotations, Action::UPDATE_NODE_ANNOTATION),
        (old.declared_features != new.declared_features, Action::UPDATE_NODE_DECLARED_FEATURE),
    ];
    let events = changed.into_iter().filter(|(changed, _)| *changed);
    events.map(|(_, action)| ClusterEvent::new(EventResource::Node, action)).collect()
}

/// Returns the events of a changed pod, one for each changed aspect that scheduling reads, as in
/// `PodSchedulingPropertiesChange`. If there is none, returns one general event ([`Action::UPDATE`]).
pub fn pod_updated(old: EventPod<'_>, new: EventPod<'_>) -> Events {
    let resource = if new.node.is_some() { EventResource::AssignedPod } else { EventResource::UnschedulablePod };
    let gates = |pod: EventPod<'_>| !pod.spec.scheduling_gates.is_empty();
    let changed = [
        (old.spec.labels != new.spec.labels, Action::UPDATE_POD_LABEL),
        (requests_less(&old.usage.requests, &new.usage.requests), Action::UPDATE_POD_SCALE_DOWN),
        (gates(old) && !gates(new), Action::UPDATE_POD_SCHEDULING_GATES_ELIMINATED),
        (old.spec.tolerations.len() != new.spec.tolerations.len(), Action::UPDATE_POD_TOLERATION),
        (old.claim_statuses != new.claim_statuses, Action::UPDATE_POD_GENERATED_RESOURCE_CLAIM),
    ];
    let events = changed.into_iter().filter(|(changed, _)| *changed);
    let mut events: Events = events.map(|(_, action)| ClusterEvent::new(resource, action)).collect();
    if events.is_empty() {
        events.push(ClusterEvent::new(resource, Action::UPDATE));
    }
    events
}

/// Returns whether the request of some resource became smaller or disappeared.
fn requests_less(old: &Resources, new: &Resources) -> bool {
    new.milli_cpu < old.milli_cpu
        || new.memory < old.memory
        || new.ephemeral_storage < old.ephemeral_storage
        || old.scalars.iter().any(|&(name, amount)| new.scalar(name).is_none_or(|new| new < amount))
}
