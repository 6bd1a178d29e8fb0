//! Victims on a node.

use std::sync::Arc;

use schedc_core::extension_points::PostFilterContext;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_core::verdict::Verdict;
use smallvec::SmallVec;

use super::budgets::{Pods, split_by_violation};
use super::choice::VictimCost;
use super::importance::sort_by_importance;
use crate::indexes::DisruptionBudgets;

/// Positions of victims among the pods of their node, the most important victim first.
pub(super) type VictimPositions = SmallVec<[u32; 6]>;

/// The pods that preemption would remove from a node.
#[derive(Debug, Default)]
pub(super) struct Victims {
    pub(super) positions: VictimPositions,
    /// The cost of their removal.
    pub(super) cost: VictimCost,
}

/// Returns whether `preemptor` may evict the pod.
pub(super) fn may_evict(pod: &Pod, preemptor: &Pod) -> bool {
    pod.spec.priority < preemptor.spec.priority
}

/// Selects the victims on `node`: the least important pods whose removal lets the preemptor fit
/// (`SelectVictimsOnNode`). The preemptor is the pod of `cx`; `pods` are the pods on the node. The preemptor must fit
/// with and without the `nominated` pods.
///
/// Returns the victims, the most important first, and the number of victims whose removal violates a budget. If there
/// are no victims, the preemptor already fits.
///
/// # Errors
/// The node's rejection of the preemptor when all pods of lower priority are removed.
pub(super) fn select_victims<'a, P: Profile>(
    node: &mut HypotheticalNode<'a, P>,
    pods: &'a [Arc<Pod>],
    nominated: &'a [Arc<Pod>],
    cx: &PostFilterContext<'_, P>,
    budgets: &DisruptionBudgets,
) -> Result<(Pods<'a>, usize), Verdict> {
    let mut potential: Pods<'a> = pods.iter().filter(|pod| may_evict(pod, cx.pod)).collect();
    potential.iter().for_each(|pod| node.remove_borrowed(pod));
    if node.filter_with_nominated(nominated).is_err()
        && let Some(verdict) = node.verdict_with_nominated(nominated)
    {
        return Err(verdict);
    }
    sort_by_importance(&mut potential, cx.now);
    let (violating, others) = split_by_violation(potential, budgets);
    let mixed = !violating.is_empty() && !others.is_empty();
    let mut victims = violating;
    victims.retain(|pod| !node.add_borrowed_if_feasible(pod, nominated));
    let violations = victims.len();
    victims.extend(others.into_iter().filter(|pod| !node.add_borrowed_if_feasible(pod, nominated)));
    if mixed {
        sort_by_importance(&mut victims, cx.now);
    }
    Ok((victims, violations))
}
