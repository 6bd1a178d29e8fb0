//! Which events make room for a pod.

use schedc_core::column::Column;
use schedc_core::extension_points::{
    Action, ClusterEvent, EnqueueExtensions, EventObject, EventResource, QueueingHint,
};
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Pod, Resources};

use super::{NodeResourcesFit, NodeResourcesFitArgs, Requests};
use crate::columns::NodeResources;

impl EnqueueExtensions for NodeResourcesFit {
    const EVENTS: &'static [ClusterEvent] = &[
        ClusterEvent { resource: EventResource::Pod, actions: Action::DELETE.or(Action::UPDATE_POD_SCALE_DOWN) },
        ClusterEvent { resource: EventResource::Node, actions: Action::ADD.or(Action::UPDATE_NODE_ALLOCATABLE) },
    ];

    fn queueing_hint(
        _: &NodeResourcesFitArgs,
        rejected: &Pod,
        _: ClusterEvent,
        object: EventObject<'_>,
        interner: &Interner,
    ) -> QueueingHint {
        let queue = match object {
            EventObject::Node(old, Some(new)) => {
                fits_empty(rejected, new, interner)
                    && old.is_none_or(|old| {
                        new.allowed_pods > old.allowed_pods
                            || any_grew(&rejected.spec.requests, &old.allocatable, &new.allocatable)
                    })
            }
            EventObject::Pod(Some(old), Some(new)) => {
                new.uid == rejected.uid || any_grew(&rejected.usage.requests, &new.usage.requests, &old.usage.requests)
            }
            _ => true,
        };
        if queue { QueueingHint::Queue } else { QueueingHint::Skip }
    }
}

/// Whether the node could take the pod if it had no pods. Ignored resources are not ignored here.
fn fits_empty(pod: &Pod, node: &Node, interner: &Interner) -> bool {
    Requests::new(&pod.spec.requests, |_| false).fit(&NodeResources::build(node, interner)).is_ok()
}

/// Whether there is more than before of a resource that is asked for.
fn any_grew(asked: &Resources, before: &Resources, after: &Resources) -> bool {
    let grew = |asked: i64, before: i64, after: i64| asked > 0 && after > before;
    grew(asked.milli_cpu, before.milli_cpu, after.milli_cpu)
        || grew(asked.memory, before.memory, after.memory)
        || grew(asked.ephemeral_storage, before.ephemeral_storage, after.ephemeral_storage)
        || asked
            .scalars
            .iter()
            .any(|&(name, amount)| grew(amount, before.scalar(name).unwrap_or(0), after.scalar(name).unwrap_or(0)))
}
