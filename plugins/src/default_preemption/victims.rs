//! Which pods of a node would have to go.

use std::sync::Arc;

use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_core::verdict::Verdict;
use smallvec::SmallVec;

use super::budgets::split_by_violation;
use super::choice::VictimCost;
use super::importance::sort_by_importance;
use crate::indexes::DisruptionBudgets;

/// The pods that would have to go.
#[derive(Debug)]
pub(super) struct Victims {
    /// The most important first.
    pub(super) pods: Arc<[Arc<Pod>]>,
    /// What that would mean.
    pub(super) cost: VictimCost,
}

/// Some pods of a node.
pub(super) type Pods<'a> = SmallVec<[&'a Arc<Pod>; 8]>;

/// Why no pods of a node should go.
pub(super) enum NoVictims {
    /// None is of lower priority.
    NoLowerPriority,
    /// The pod does not fit even without them.
    StillUnschedulable(Verdict),
}

/// Whether a pod may go for another.
pub(super) fn may_evict(pod: &Pod, preemptor: &Pod) -> bool {
    pod.spec.priority < preemptor.spec.priority
}

/// Finds the least important pods of a node that must go for `preemptor` to fit (`SelectVictimsOnNode`). `node` has the
/// pods `pods` on it; `nominated` are those that it must do with and without. The most important victims come first, and
/// their number is followed by how many of them a budget protects. There may be none: then the pod fits as it is.
pub(super) fn select_victims<'a, P: Profile>(
    node: &mut HypotheticalNode<'a, P>,
    pods: &'a [Arc<Pod>],
    nominated: &'a [Arc<Pod>],
    preemptor: &Pod,
    budgets: &DisruptionBudgets,
    now: i64,
) -> Result<(Pods<'a>, usize), NoVictims> {
    let mut potential: Pods<'a> = pods.iter().filter(|pod| may_evict(pod, preemptor)).collect();
    if potential.is_empty() {
        return Err(NoVictims::NoLowerPriority);
    }
    potential.iter().for_each(|pod| node.remove_borrowed(pod));
    if node.filter_with_nominated(nominated).is_err()
        && let Some(verdict) = node.verdict_with_nominated(nominated)
    {
        return Err(NoVictims::StillUnschedulable(verdict));
    }
    sort_by_importance(&mut potential, now);
    let (violating, others) = split_by_violation(potential, budgets);
    let mixed = !violating.is_empty() && !others.is_empty();
    let mut victims = violating;
    victims.retain(|pod| !node.add_borrowed_if_feasible(pod, nominated));
    let violations = victims.len();
    victims.extend(others.into_iter().filter(|pod| !node.add_borrowed_if_feasible(pod, nominated)));
    if mixed {
        sort_by_importance(&mut victims, now);
    }
    Ok((victims, violations))
}
