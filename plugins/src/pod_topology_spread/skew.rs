//! How evenly pods are spread over domains: what hard constraints look at.

use std::sync::Arc;

use schedc_core::mask::Mask;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::plugin::View;

use super::constraints::{Constraint, Included, domains, has_all_keys, make_empty};
use super::{PodTopologySpread, PodTopologySpreadPod};
use crate::indexes::Domain;

/// The entry of a domain none of whose nodes counts. Elsewhere are numbers of pods; they can be negative in thought, since
/// a pod that is being deleted does not count, but taking it away does.
const LEFT_OUT: i32 = i32::MIN;

/// How many pods there are in each domain, for each hard constraint: kube-scheduler's `preFilterState`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpreadCounts {
    /// In the order of the pod's constraints. `None`: PreFilter did not run.
    constraints: Option<Vec<DomainCounts>>,
}

impl SpreadCounts {
    /// The first constraint that keeps the pod from a node.
    #[inline(always)]
    pub(super) fn admit(&self, node: NodeIndex) -> Result<(), SpreadRejection> {
        let Some(constraints) = &self.constraints else { return Err(SpreadRejection::NotPrepared) };
        constraints.iter().try_for_each(|constraint| constraint.admits(node))
    }
}

/// The same for one constraint.
#[derive(Clone, Debug, PartialEq)]
struct DomainCounts {
    of_node: Arc<Vec<Domain>>,
    counts: Vec<i32>,
    /// How many domains count.
    domains: usize,
    /// The smallest count, and how many domains have it.
    lowest: i32,
    at_lowest: u32,
    /// The highest count with which a domain takes another pod.
    limit: i64,
}

/// Why a node is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadRejection {
    /// It has no label with the key of a constraint.
    MissingLabel,
    /// Its domain would be too far ahead.
    Skew,
    /// PreFilter did not run.
    NotPrepared,
}

impl DomainCounts {
    /// No domain counts. `counts` is for its room.
    fn new(of_node: Arc<Vec<Domain>>, domain_count: usize, mut counts: Vec<i32>) -> Self {
        counts.clear();
        counts.resize(domain_count, LEFT_OUT);
        DomainCounts { of_node, counts, domains: 0, lowest: i32::MAX, at_lowest: 0, limit: 0 }
    }

    /// The domain of a node counts.
    fn include(&mut self, node: NodeIndex) {
        let count = &mut self.counts[self.of_node[node.get()].get()];
        if *count == LEFT_OUT {
            *count = 0;
            self.domains += 1;
        }
    }

    fn find_lowest(&mut self) {
        let (mut lowest, mut at_lowest) = (i32::MAX, 0);
        for &count in self.counts.iter().filter(|count| **count != LEFT_OUT) {
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

    /// A pod that matches comes to the node (1) or leaves it (-1).
    fn change(&mut self, constraint: &Constraint, node: NodeIndex, by: i32) {
        let domain = self.of_node.get(node.get()).copied().unwrap_or(Domain::NONE);
        let Some(count) = self.counts.get_mut(domain.get()).filter(|count| **count != LEFT_OUT) else { return };
        let old = *count;
        *count += by;
        if *count < self.lowest {
            (self.lowest, self.at_lowest) = (*count, 1);
        } else if *count == self.lowest {
            self.at_lowest += 1;
        } else if old == self.lowest {
            self.at_lowest -= 1;
            if self.at_lowest == 0 {
                self.find_lowest();
            }
        }
        self.set_limit(constraint);
    }

    #[inline(always)]
    fn admits(&self, node: NodeIndex) -> Result<(), SpreadRejection> {
        let domain = self.of_node.get(node.get()).copied().unwrap_or(Domain::NONE);
        // No array is long enough for `Domain::NONE`.
        let Some(&count) = self.counts.get(domain.get()) else { return Err(SpreadRejection::MissingLabel) };
        let count = if count == LEFT_OUT { 0 } else { count };
        if i64::from(count) > self.limit { Err(SpreadRejection::Skew) } else { Ok(()) }
    }
}

/// Room for counting.
#[derive(Debug, Default)]
pub(super) struct Room {
    constraints: Vec<DomainCounts>,
    counts: Vec<Vec<i32>>,
    nodes: Vec<NodeIndex>,
    masks: Vec<Mask>,
}

impl Room {
    pub(super) fn take_back(&mut self, cycle: SpreadCounts) {
        let Some(mut constraints) = cycle.constraints else { return };
        self.counts.extend(constraints.drain(..).map(|constraint| constraint.counts));
        self.constraints = constraints;
    }
}

/// Counts pods for the hard constraints.
pub(super) fn count(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    view: View<'_, PodTopologySpread>,
    room: &mut Room,
) -> SpreadCounts {
    let (topology, selected, _) = view.indexes;
    let domains = domains(constraints, &view);
    let included = Included::new(constraints, &pod.inclusion);
    let mut counted = std::mem::take(&mut room.constraints);
    counted.extend(constraints.iter().map(|constraint| {
        let (of_node, domain_count) = (topology.domains(constraint.key), topology.domain_count(constraint.key));
        DomainCounts::new(of_node.clone(), domain_count, room.counts.pop().unwrap_or_default())
    }));
    let with_keys = &mut room.nodes;
    with_keys.clear();
    with_keys.extend(view.base.alive().iter().filter(|node| has_all_keys(&domains, *node)));
    let mut nodes: &mut [Mask] = &mut [];
    if included.is_everywhere() {
        counted.iter_mut().for_each(|counted| with_keys.iter().for_each(|node| counted.include(*node)));
    } else {
        room.masks.resize(room.masks.len().max(constraints.len()), Mask::default());
        nodes = &mut room.masks[..constraints.len()];
        nodes.iter_mut().for_each(|nodes| make_empty(nodes, &view));
        for &node in &*with_keys {
            let of_constraints = counted.iter_mut().zip(&mut *nodes);
            for ((counted, nodes), (_, counts)) in of_constraints.zip(included.on(view.row(node))) {
                if counts {
                    counted.include(node);
                    nodes.insert(node);
                }
            }
        }
    }
    for (at, (counted, constraint)) in counted.iter_mut().zip(constraints).enumerate() {
        for (node, count) in constraint.counts(selected).into_iter().flat_map(|counts| counts.iter()) {
            let counts = nodes.get(at).map_or_else(|| has_all_keys(&domains, node), |nodes| nodes.contains(node));
            if counts {
                counted.counts[counted.of_node[node.get()].get()] += count as i32;
            }
        }
        counted.find_lowest();
        counted.set_limit(constraint);
    }
    SpreadCounts { constraints: Some(counted) }
}

/// Another pod comes to a node in thought (1), or leaves it (-1): kube-scheduler's `updateWithPod`.
pub(super) fn update(
    pod: &PodTopologySpreadPod,
    cycle: &mut SpreadCounts,
    other: &Pod,
    view: View<'_, PodTopologySpread>,
    node: NodeIndex,
    by: i32,
) {
    let (Ok(constraints), Some(counted)) = (&pod.hard, &mut cycle.constraints) else { return };
    let included = Included::new(constraints, &pod.inclusion);
    if !has_all_keys(&domains(constraints, &view), node) {
        return;
    }
    for (counted, (constraint, counts)) in counted.iter_mut().zip(included.on(view.row(node))) {
        if counts && constraint.question.is_some_and(|question| view.indexes.1.selects(question, &other.spec)) {
            counted.change(constraint, node, by);
        }
    }
}
