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
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, FilterPlugin, HintContext, HintError, QueueingHint, Registration,
};
use schedc_core::incremental::Incremental;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Effect, PodSpec, Taint, Toleration};
use schedc_core::plugin::CompileContext;
use schedc_core::status::{Code, Reasons};
use schedc_core::{Plugin, plugin};

use crate::columns::NodeTaints;

const TAINT_KEY: &str = "node.kubernetes.io/unschedulable";

/// Reads `spec.unschedulable`.
#[derive(Debug, Default)]
pub struct NodeUnschedulable;

#[plugin]
impl Plugin for NodeUnschedulable {
    type Columns = NodeTaints;
    /// Whether the pod tolerates cordoned nodes.
    type Pod = bool;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> bool {
        tolerates(&pod.tolerations, cx.interner)
    }
}

impl FilterPlugin for NodeUnschedulable {
    type Cycle = ();
    type Rejection = ();

    #[inline(always)]
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

impl Incremental for NodeUnschedulable {
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(_: &()) -> Option<u32> {
        Some(0)
    }
}

impl EnqueueExtensions for NodeUnschedulable {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_TAINT)),
        Registration::hinted(EventResource::Pod, Action::UPDATE_POD_TOLERATION),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Node(old, Some(new)) => old.is_none_or(|old| old.unschedulable) && !new.unschedulable,
            EventObject::Pod(_, Some(pod)) => {
                pod.uid == rejected.uid && tolerates(&pod.spec.tolerations, view.interner())
            }
            _ => true,
        }))
    }
}

fn tolerates(tolerations: &[Toleration], interner: &Interner) -> bool {
    let effect = Effect::NoSchedule;
    if tolerations.iter().all(|toleration| toleration.effect.is_some_and(|other| other != effect)) {
        return false;
    }
    // A key that was never interned is in no toleration, but an empty key matches all.
    let key = interner.get(TAINT_KEY);
    tolerations.iter().filter(|toleration| toleration.key.is_none() || toleration.key == key).any(|toleration| {
        let key = toleration.key.unwrap_or(Symbol::EMPTY);
        toleration.tolerates(&Taint { key, value: Symbol::EMPTY, effect })
    })
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::{node, pod};

    use super::*;
    use crate::testing::{Cluster, hint};

    #[test]
    fn cordoned_nodes_take_pods_that_tolerate_the_taint() {
        let nodes = ["metadata: {name: open}", "{metadata: {name: cordoned}, spec: {unschedulable: true}}"];
        let rejected = "cordoned: UnschedulableAndUnresolvable: node(s) were unschedulable";
        let check = |tolerations: &str, expected: &str| {
            let pod = format!("spec: {{tolerations: {tolerations}}}");
            let verdicts = Cluster::new(&nodes).filter::<NodeUnschedulable>(&NoArgs, &pod);
            assert_eq!(verdicts, format!("open\n{expected}\n"), "{tolerations}");
        };
        check("[]", rejected);
        check("[{key: node.kubernetes.io/unschedulable, operator: Exists}]", "cordoned");
        check("[{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]", "cordoned");
        check("[{operator: Exists}]", "cordoned");
        check("[{key: node.kubernetes.io/unschedulable, value: 'yes'}]", rejected);
        check("[{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoExecute}]", rejected);
        check("[{key: dedicated, operator: Exists}]", rejected);
    }

    #[test]
    fn a_node_that_is_uncordoned_wakes_pods() {
        let mut interner = Interner::default();
        let waiting = pod("metadata: {name: waiting}", &mut interner);
        let open = node("metadata: {name: n1}", &mut interner);
        let cordoned = node("{metadata: {name: n1}, spec: {unschedulable: true}}", &mut interner);
        for (old, new, expected) in [
            (None, &open, QueueingHint::Queue),
            (None, &cordoned, QueueingHint::Skip),
            (Some(&cordoned), &open, QueueingHint::Queue),
            (Some(&open), &open, QueueingHint::Skip),
        ] {
            let object = EventObject::Node(old, Some(new));
            assert_eq!(hint::<NodeUnschedulable>(&NoArgs, &waiting, object, &interner), expected, "{object:?}");
        }
    }

    #[test]
    fn a_pod_wakes_when_it_tolerates_cordoned_nodes() {
        let mut interner = Interner::default();
        let waiting = pod("metadata: {name: waiting}", &mut interner);
        let tolerating = |name: &str, key: &str, interner: &mut Interner| {
            let spec = format!("spec: {{tolerations: [{{key: {key}, operator: Exists}}]}}");
            pod(&format!("{{metadata: {{name: {name}}}, {spec}}}"), interner)
        };
        for (name, key, expected) in [
            ("waiting", TAINT_KEY, QueueingHint::Queue),
            ("waiting", "dedicated", QueueingHint::Skip),
            ("other", TAINT_KEY, QueueingHint::Skip),
        ] {
            let changed = tolerating(name, key, &mut interner);
            let object = EventObject::pods(Some(&waiting), Some(&changed));
            assert_eq!(hint::<NodeUnschedulable>(&NoArgs, &waiting, object, &interner), expected, "{name} {key}");
        }
    }
}
