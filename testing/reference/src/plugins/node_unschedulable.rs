//! NodeUnschedulable: rejects cordoned nodes, unless the pod tolerates their taint.

use schedc_core::intern::Symbol;
use schedc_core::model::{Effect, Node, Taint, TolerationOperator};

use crate::matching::is_tolerated;
use crate::plugin::{Cycle, Plugin, Rejection};

pub(super) struct NodeUnschedulable;

const TAINT: &str = "node.kubernetes.io/unschedulable";

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        "NodeUnschedulable"
    }
    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        if !node.unschedulable || tolerates_cordon(cx) {
            Ok(())
        } else {
            Err(Rejection::unresolvable("node(s) were unschedulable"))
        }
    }
}

fn tolerates_cordon(cx: &Cycle<'_>) -> bool {
    match cx.names.get(TAINT) {
        Some(key) => is_tolerated(&cx.pod.spec, &Taint { key, value: Symbol::EMPTY, effect: Effect::NoSchedule }),
        // The key is in no object, but a toleration may match any key.
        None => cx.pod.spec.tolerations.iter().any(|toleration| {
            toleration.key.is_none()
                && toleration.effect.is_none_or(|effect| effect == Effect::NoSchedule)
                && match toleration.operator {
                    TolerationOperator::Exists => true,
                    TolerationOperator::Equal => toleration.value == Symbol::EMPTY,
                    TolerationOperator::Never => false,
                }
        }),
    }
}
