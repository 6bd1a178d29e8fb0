//! Which pods of a node would have to go.

use std::sync::Arc;

use schedc_core::imagined::Imagined;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_core::verdict::Verdict;

use super::budgets::split_by_violation;
use super::importance::sort_by_importance;
use crate::indexes::DisruptionBudgets;

/// The pods that would have to go.
pub(super) struct Victims {
    /// The most important first. There may be none: then the pod fits as it is.
    pub(super) pods: Vec<Arc<Pod>>,
    /// How many of them a budget protects.
    pub(super) violations: usize,
}

/// Why no pods of a node should go.
pub(super) enum NoVictims {
    /// None is of lower priority.
    NoneWeaker,
    /// The pod does not fit even without them.
    InVain(Verdict),
}

/// Whether a pod may go for another.
pub(super) fn may_go(pod: &Pod, preemptor: &Pod) -> bool {
    pod.spec.priority < preemptor.spec.priority
}

/// Finds the least important pods of a node that must go for `preemptor` to fit (`SelectVictimsOnNode`). `node` has the
/// pods `pods` on it; `nominated` are those that it must do with and without.
pub(super) fn select_victims<P: Profile>(
    node: &mut Imagined<'_, P>,
    pods: &[Arc<Pod>],
    nominated: &[Arc<Pod>],
    preemptor: &Pod,
    budgets: &DisruptionBudgets,
    now: i64,
) -> Result<Victims, NoVictims> {
    let mut potential: Vec<Arc<Pod>> = pods.iter().filter(|pod| may_go(pod, preemptor)).cloned().collect();
    if potential.is_empty() {
        return Err(NoVictims::NoneWeaker);
    }
    potential.iter().for_each(|pod| node.remove_pod(pod));
    if node.filter_with_nominated(nominated).is_err()
        && let Some(verdict) = node.verdict_with_nominated(nominated)
    {
        return Err(NoVictims::InVain(verdict));
    }
    sort_by_importance(&mut potential, now);
    let (violating, others) = split_by_violation(potential, budgets);
    let mixed = !violating.is_empty() && !others.is_empty();
    let mut can_stay = |pod: &Arc<Pod>| {
        let without = node.now();
        node.add_pod(pod);
        let fits = node.filter_with_nominated(nominated).is_ok();
        if !fits {
            node.back_to(without);
        }
        fits
    };
    let mut victims = violating;
    victims.retain(|pod| !can_stay(pod));
    let violations = victims.len();
    victims.extend(others.into_iter().filter(|pod| !can_stay(pod)));
    if mixed {
        sort_by_importance(&mut victims, now);
    }
    Ok(Victims { pods: victims, violations })
}
