//! NodeUnschedulable
//!
//! **What it does.** Rejects cordoned nodes (`spec.unschedulable`), unless the pod tolerates the taint
//! `node.kubernetes.io/unschedulable:NoSchedule`, whether or not the node has that taint.
//!
//! **Extension points.** Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodeunschedulable` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{
    Action, ClusterEvent, EnqueueExtensions, EventObject, EventResource, FilterPlugin, QueueingHint,
};
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Effect, Pod, PodSpec, Taint, Toleration};
use schedc_core::plugin::{Compile, Plugin};
use schedc_core::status::{Code, Reasons};

use crate::columns::NodeTaints;

const TAINT_KEY: &str = "node.kubernetes.io/unschedulable";

/// Looks at `spec.unschedulable`.
#[derive(Debug)]
pub struct NodeUnschedulable;

impl Plugin for NodeUnschedulable {
    const NAME: &'static str = "NodeUnschedulable";
    type Args = NoArgs;
    type Columns = NodeTaints;
    type Indexes = ();
    type Reads = ();
    /// Whether the pod tolerates cordoned nodes.
    type Pod = bool;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(NodeUnschedulable)
    }

    fn compile(_: &NoArgs, pod: &PodSpec, cx: Compile<'_, Self>) -> bool {
        tolerates(&pod.tolerations, cx.interner)
    }
}

impl FilterPlugin for NodeUnschedulable {
    type Cycle = ();
    type Rejection = ();

    #[inline]
    fn filter(_: &NoArgs, &tolerates: &bool, _: &(), node: &NodeTaints) -> Result<(), ()> {
        if node.unschedulable && !tolerates { Err(()) } else { Ok(()) }
    }

    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &NoArgs, _: &bool, _: &(), _: &NodeTaints, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) were unschedulable");
    }
}

impl EnqueueExtensions for NodeUnschedulable {
    const EVENTS: &'static [ClusterEvent] = &[
        ClusterEvent { resource: EventResource::Node, actions: Action::ADD.or(Action::UPDATE_NODE_TAINT) },
        ClusterEvent { resource: EventResource::Pod, actions: Action::UPDATE_POD_TOLERATION },
    ];

    fn queueing_hint(
        _: &NoArgs,
        rejected: &Pod,
        _: ClusterEvent,
        object: EventObject<'_>,
        interner: &Interner,
    ) -> QueueingHint {
        let queue = match object {
            EventObject::Node(old, Some(new)) => old.is_none_or(|old| old.unschedulable) && !new.unschedulable,
            EventObject::Pod(_, Some(pod)) => pod.uid == rejected.uid && tolerates(&pod.spec.tolerations, interner),
            _ => true,
        };
        if queue { QueueingHint::Queue } else { QueueingHint::Skip }
    }
}

fn tolerates(tolerations: &[Toleration], interner: &Interner) -> bool {
    // A key that was never seen is that of no toleration, but an empty key stands for all.
    let key = interner.get(TAINT_KEY);
    tolerations.iter().filter(|toleration| toleration.key.is_none() || toleration.key == key).any(|toleration| {
        let key = toleration.key.unwrap_or(Symbol::EMPTY);
        toleration.tolerates(&Taint { key, value: Symbol::EMPTY, effect: Effect::NoSchedule })
    })
}
