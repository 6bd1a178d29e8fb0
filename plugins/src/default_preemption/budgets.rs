//! Pods protected by disruption budgets.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::Pod;
use smallvec::SmallVec;

use crate::indexes::DisruptionBudgets;

/// Some pods of a node.
pub(super) type Pods<'a> = SmallVec<[&'a Arc<Pod>; 8]>;

/// Splits pods into those whose removal violates a budget, and the others (`filterPodsWithPDBViolation`). Removals are
/// counted in the order of `pods`. Both results keep this order.
pub(super) fn split_by_violation<'a>(pods: Pods<'a>, budgets: &DisruptionBudgets) -> (Pods<'a>, Pods<'a>) {
    if budgets.is_empty() {
        return (Pods::new(), pods);
    }
    let mut left: Map<(Symbol, Symbol), i32> = Map::default();
    pods.into_iter().partition(|pod| {
        let mut violates = false;
        for budget in budgets.of(pod.spec.namespace).iter().filter(|budget| budget.protects(pod)) {
            let left = left.entry((budget.namespace, budget.name)).or_insert(budget.disruptions_allowed);
            *left = left.wrapping_sub(1);
            violates |= *left < 0;
        }
        violates
    })
}
