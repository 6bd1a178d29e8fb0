//! Skew of topology domains, for hard constraints.

use std::sync::Arc;

use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::constraints::{Constraint, NodeInclusion, clear_for_nodes, domains, has_all_keys};
use super::{PodTopologySpread, PodTopologySpreadPod};
use crate::indexes::Domain;

mod update;

pub(super) use update::update;

/// The entry of a domain without nodes that count. Other entries are numbers of pods. They can be negative in
/// hypothetical states: a pod that is being deleted does not count, but its hypothetical removal does.
const EXCLUDED: i32 = i32::MIN;

/// Number of matching pods in each domain, for each hard constraint: kube-scheduler's `preFilterState`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpreadCounts {
    /// In the order of the pod's constraints. `None`: PreFilter did not run.
    constraints: Option<Vec<DomainCounts>>,
}

impl SpreadCounts {
    /// Returns whether nothing was counted.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.constraints.is_none()
    }

    /// Returns the rejection by the first constraint that rejects the node.
    #[inline(always)]
    pub(super) fn admit(&self, node: NodeIndex) -> Result<(), SpreadRejection> {
        let Some(constraints) = &self.constraints else { return Err(SpreadRejection::NotPrepared) };
        constraints.iter().try_for_each(|constraint| constraint.admits(node))
    }
}

/// Number of matching pods by domain, for one constraint.
#[derive(Clone, Debug)]
struct DomainCounts {
    of_node: Arc<Vec<Domain>>,
    /// [`Topology::version`](crate::indexes::Topology::version) of the domains.
    version: u64,
    /// Position in the change log up to which pods are counted.
    seen: u64,
    /// The nodes that count. Empty if all nodes with the keys count.
    nodes: NodeMask,
    /// The nodes of the domains that can have another pod. Empty until the first update of a cached state.
    open: NodeMask,
    counts: Vec<i32>,
    /// Number of domains that count.
    domains: usize,
    /// The minimum count.
    lowest: i32,
    /// Number of domains with the minimum count.
    at_lowest: u32,
    /// The maximum count of a domain that can have another pod.
    limit: i64,
}

/// Only these fields determine Filter's results and hypothetical changes. The other fields are log positions,
/// or follow from these fields and the cluster.
impl PartialEq for DomainCounts {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |this: &Self| (this.domains, this.lowest, this.at_lowest, this.limit);
        numbers(self) == numbers(other)
            && self.counts == other.counts
            && (Arc::ptr_eq(&self.of_node, &other.of_node) || self.of_node == other.of_node)
    }
}

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadRejection {
    /// The node does not have the label of a constraint.
    MissingLabel,
    /// The skew of the node's domain would exceed the maximum.
    Skew,
    /// PreFilter did not run.
    NotPrepared,
}

impl DomainCounts {
    #[inline(always)]
    fn domain(&self, node: NodeIndex) -> Domain {
        self.of_node.get(node.get()).copied().unwrap_or(Domain::NONE)
    }

    /// Includes the domain of a node.
    fn include(&mut self, node: NodeIndex) {
        let count = &mut self.counts[self.of_node[node.get()].get()];
        if *count == EXCLUDED {
            *count = 0;
            self.domains += 1;
        }
    }

    fn find_lowest(&mut self) {
        let (mut lowest, mut at_lowest) = (i32::MAX, 0);
        for &count in self.counts.iter().filter(|count| **count != EXCLUDED) {
            if count < lowest {
                (lowest, at_lowest) = (count, 0);
            }
            at_lowest += u32::from(count == lowest);
        }
        (self.lowest, self.at_lowest) = (lowest, at_lowest);
    }

    fn set_limit(&mut self, constraint: &Constraint) {
        let too_few = (self.domains as i64) < i64::from(constraint.min_domains);
        let lowest = if too_few { 0 } else { i64::from(self.lowest) };
        self.limit = i64::from(constraint.max_skew) - i64::from(constraint.matches_itself) + lowest;
    }

    /// Adds matching pods to a domain or removes them. Returns false if the minimum must be computed again.
    #[inline]
    fn shift(&mut self, domain: Domain, by: i32) -> bool {
        let Some(count) = self.counts.get_mut(domain.get()).filter(|count| **count != EXCLUDED) else { return true };
        let old = *count;
        *count += by;
        if *count < self.lowest {
            (self.lowest, self.at_lowest) = (*count, 1);
        } else if *count == self.lowest {
            self.at_lowest += 1;
        } else if old == self.lowest {
            self.at_lowest -= 1;
            return self.at_lowest > 0;
        }
        true
    }

    /// Applies a matching pod that is added to the node (1) or removed from it (-1).
    fn change(&mut self, constraint: &Constraint, node: NodeIndex, by: i32) {
        if !self.shift(self.domain(node), by) {
            self.find_lowest();
        }
        self.set_limit(constraint);
    }

    /// Returns whether a domain with this count can have another pod.
    #[inline(always)]
    fn has_room(count: i32, limit: i64) -> bool {
        let count = if count == EXCLUDED { 0 } else { count };
        i64::from(count) <= limit
    }

    #[inline(always)]
    fn admits(&self, node: NodeIndex) -> Result<(), SpreadRejection> {
        // `Domain::NONE` is out of bounds of every array.
        let Some(&count) = self.counts.get(self.domain(node).get()) else { return Err(SpreadRejection::MissingLabel) };
        if Self::has_room(count, self.limit) { Ok(()) } else { Err(SpreadRejection::Skew) }
    }
}

/// Scratch memory for counting.
#[derive(Debug, Default)]
pub(super) struct SkewScratch {
    constraints: Vec<DomainCounts>,
    counts: Vec<Vec<i32>>,
    nodes: Vec<NodeIndex>,
    masks: Vec<NodeMask>,
    changes: Vec<(Domain, i32)>,
    flips: Vec<(u32, u64)>,
}

impl SkewScratch {
    pub(super) fn reclaim(&mut self, cycle: SpreadCounts) {
        let Some(mut constraints) = cycle.constraints else { return };
        for DomainCounts { counts, nodes, open, .. } in constraints.drain(..) {
            self.counts.push(counts);
            self.masks.extend([nodes, open].into_iter().filter(|mask| !mask.words().is_empty()));
        }
        self.constraints = constraints;
    }

    /// Returns the counts of a constraint before any domains are included.
    fn constraint(&mut self, constraint: &Constraint, view: View<'_, PodTopologySpread>) -> DomainCounts {
        let (topology, selected, _) = view.indexes;
        let mut counts = self.counts.pop().unwrap_or_default();
        counts.clear();
        counts.resize(topology.domain_count(constraint.key), EXCLUDED);
        DomainCounts {
            of_node: topology.domains(constraint.key).clone(),
            version: topology.version(constraint.key),
            seen: constraint.position(selected),
            nodes: NodeMask::default(),
            open: NodeMask::default(),
            counts,
            domains: 0,
            lowest: i32::MAX,
            at_lowest: 0,
            limit: 0,
        }
    }
}

/// Counts pods for the hard constraints.
pub(super) fn count(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    view: View<'_, PodTopologySpread>,
    scratch: &mut SkewScratch,
) -> SpreadCounts {
    let (_, selected, _) = view.indexes;
    let domains = domains(constraints, &view);
    let included = NodeInclusion::new(constraints, &pod.inclusion, view);
    let mut counted = std::mem::take(&mut scratch.constraints);
    counted.extend(constraints.iter().map(|constraint| scratch.constraint(constraint, view)));
    let with_keys = &mut scratch.nodes;
    with_keys.clear();
    with_keys.extend(view.base.alive().iter().filter(|node| has_all_keys(&domains, *node)));
    let everywhere = included.includes_all_nodes();
    if everywhere {
        counted.iter_mut().for_each(|counted| with_keys.iter().for_each(|node| counted.include(*node)));
    } else {
        for counted in &mut counted {
            counted.nodes = scratch.masks.pop().unwrap_or_default();
            clear_for_nodes(&mut counted.nodes, &view);
        }
        for &node in &*with_keys {
            for (counted, (_, counts)) in counted.iter_mut().zip(included.evaluate(node)) {
                if counts {
                    counted.include(node);
                    counted.nodes.insert(node);
                }
            }
        }
    }
    for (counted, constraint) in counted.iter_mut().zip(constraints) {
        for (node, count) in constraint.counts(selected).into_iter().flat_map(|counts| counts.iter()) {
            if if everywhere { has_all_keys(&domains, node) } else { counted.nodes.contains(node) } {
                counted.counts[counted.of_node[node.get()].get()] += count as i32;
            }
        }
        counted.find_lowest();
        counted.set_limit(constraint);
    }
    SpreadCounts { constraints: Some(counted) }
}

/// Adds a hypothetical pod to a node (1) or removes one (-1), as kube-scheduler's `updateWithPod` does.
pub(super) fn apply_hypothetical_pod(
    pod: &PodTopologySpreadPod,
    cycle: &mut SpreadCounts,
    other: &Pod,
    view: View<'_, PodTopologySpread>,
    node: NodeIndex,
    by: i32,
) {
    let (Ok(constraints), Some(counted)) = (&pod.hard, &mut cycle.constraints) else { return };
    let included = NodeInclusion::new(constraints, &pod.inclusion, view);
    if !has_all_keys(&domains(constraints, &view), node) {
        return;
    }
    for (counted, (constraint, counts)) in counted.iter_mut().zip(included.evaluate(node)) {
        if counts && constraint.query.is_some_and(|query| view.indexes.1.selects(query, &other.spec)) {
            counted.change(constraint, node, by);
        }
    }
}
