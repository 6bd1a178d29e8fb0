//! Taints of a node, by their effect on new pods.

use schedc_core::column::Column;
use schedc_core::intern::Interner;
use schedc_core::model::{Effect, Node, Taint};
use smallvec::SmallVec;

/// Taints with a scheduling effect, and whether the node is cordoned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTaints {
    /// `spec.unschedulable`. The taint that the node controller adds to such nodes is in `hard`.
    pub unschedulable: bool,
    /// Taints with the effect `NoSchedule` or `NoExecute`.
    pub hard: SmallVec<[Taint; 1]>,
    /// Taints with the effect `PreferNoSchedule`.
    pub soft: SmallVec<[Taint; 1]>,
}

/// Returns whether the effect of the taint excludes new pods.
pub(crate) fn is_hard(taint: &Taint) -> bool {
    matches!(taint.effect, Effect::NoSchedule | Effect::NoExecute)
}

impl Column for NodeTaints {
    const READS_ONLY_NODE: bool = true;

    fn build(node: &Node, _: &Interner) -> Self {
        NodeTaints {
            unschedulable: node.unschedulable,
            hard: node.taints.iter().copied().filter(is_hard).collect(),
            soft: node.taints.iter().copied().filter(|taint| taint.effect == Effect::PreferNoSchedule).collect(),
        }
    }
}
