//! The choice among the candidates for preemption.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use schedc_core::model::{NodeIndex, Pod};

use super::importance::start_time;

/// The candidates with the lowest cost (`pickOneNodeForPreemption`).
#[derive(Debug, Default)]
pub(super) struct BestCandidates {
    cost: Option<VictimCost>,
    nodes: Vec<NodeIndex>,
}

impl BestCandidates {
    /// Forgets all candidates.
    pub(super) fn clear(&mut self) {
        self.cost = None;
        self.nodes.clear();
    }
    /// Adds a candidate.
    #[inline]
    pub(super) fn add(&mut self, node: NodeIndex, cost: &VictimCost) {
        match self.cost.as_ref().map_or(Ordering::Less, |best| cost.cmp(best)) {
            Ordering::Greater => return,
            Ordering::Equal => {}
            Ordering::Less => {
                self.cost = Some(*cost);
                self.nodes.clear();
            }
        }
        self.nodes.push(node);
    }
    /// Returns the best candidates, in the order of their addition.
    pub(super) fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }
    /// Returns the lowest cost; `None` without candidates.
    pub(super) fn cost(&self) -> Option<&VictimCost> {
        self.cost.as_ref()
    }
}

/// Cost of the victims of one node, the most important criterion first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VictimCost {
    /// Number of victims whose removal violates a budget.
    pub(super) violations: u32,
    highest_priority: i32,
    /// Sum of the distances of the priorities from the lowest possible priority. Therefore more victims cost more,
    /// even if priorities are negative.
    sum_of_priorities: i64,
    pods: u32,
    /// Earliest start time among the pods of the highest priority; a later one is better.
    earliest_start: Reverse<i64>,
}

impl VictimCost {
    /// Returns the cost of evicting these pods.
    pub(super) fn of<'a>(
        victims: impl Iterator<Item = &'a Arc<Pod>> + Clone,
        violations: usize,
        now: i64,
    ) -> VictimCost {
        let priorities = || victims.clone().map(|pod| pod.spec.priority);
        let highest_priority = priorities().max().unwrap_or(i32::MIN);
        let most_important = victims.clone().filter(|pod| pod.spec.priority == highest_priority);
        VictimCost {
            violations: violations as u32,
            highest_priority,
            sum_of_priorities: priorities().map(|priority| i64::from(priority) - i64::from(i32::MIN)).sum(),
            pods: priorities().count() as u32,
            earliest_start: Reverse(most_important.map(|pod| start_time(pod, now)).min().unwrap_or(now)),
        }
    }
}
