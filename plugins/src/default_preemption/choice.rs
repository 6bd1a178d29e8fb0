//! The choice among the candidates for preemption.

use std::cmp::Reverse;
use std::sync::Arc;

use schedc_core::extension_points::Candidate;
use schedc_core::model::Pod;

use super::importance::start_time;

/// Marks the best candidates (`pickOneNodeForPreemption`), and returns their number.
pub(super) fn mark_best(candidates: &mut [Candidate], costs: &[VictimCost]) -> usize {
    let least = costs.iter().min();
    for (candidate, cost) in candidates.iter_mut().zip(costs) {
        candidate.best = Some(cost) == least;
    }
    candidates.iter().filter(|candidate| candidate.best).count()
}

/// Cost of the victims of one node, the most important criterion first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VictimCost {
    /// Number of victims that a budget protects.
    pub(super) violations: usize,
    highest_priority: i32,
    /// Each priority counts from the lowest possible one. Therefore more victims cost more, even if priorities
    /// are negative.
    sum_of_priorities: i64,
    pods: usize,
    /// Earliest start time among the pods of the highest priority; a later one is better.
    earliest_start: Reverse<i64>,
}

impl VictimCost {
    /// Returns the cost of evicting these pods.
    pub(super) fn of(victims: &[Arc<Pod>], violations: usize, now: i64) -> VictimCost {
        let priorities = || victims.iter().map(|pod| pod.spec.priority);
        let highest_priority = priorities().max().unwrap_or(i32::MIN);
        let most_important = victims.iter().filter(|pod| pod.spec.priority == highest_priority);
        VictimCost {
            violations,
            highest_priority,
            sum_of_priorities: priorities().map(|priority| i64::from(priority) - i64::from(i32::MIN)).sum(),
            pods: victims.len(),
            earliest_start: Reverse(most_important.map(|pod| start_time(pod, now)).min().unwrap_or(now)),
        }
    }
}
