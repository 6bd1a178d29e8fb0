//! Scores of feasible nodes by soft constraints, and their normalization.

use std::sync::Arc;

use schedc_core::extension_points::{Extent, MAX_NODE_SCORE, NormalizeScore};
use schedc_core::intern::Symbol;
use schedc_core::model::NodeIndex;
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::constraints::{Constraint, NodeInclusion, clear_for_nodes};
use super::{PodTopologySpread, PodTopologySpreadArgs, PodTopologySpreadPod};
use crate::indexes::Domain;

mod classes;
mod update;

use classes::ClassKey;
pub(super) use update::update;

/// Number of matching pods by domain, for each soft constraint: kube-scheduler's `preScoreState`.
#[derive(Clone, Debug, Default)]
pub struct SpreadScores {
    /// In the order of the pod's constraints. `None`: PreScore did not run.
    constraints: Option<Vec<ConstraintCounts>>,
    /// Number of feasible nodes with a score.
    scored: usize,
    /// The feasible nodes, with or without a score.
    feasible: NodeMask,
    /// The score of each domain. Empty, unless there is only one constraint and its key is not the host name.
    of_domain: Vec<i64>,
    /// Whether a node's score class consists of a part for each constraint. Otherwise, it is the node's score.
    has_class_parts: bool,
}

/// Only these fields determine scores. The weights already reflect the feasible nodes.
impl PartialEq for SpreadScores {
    fn eq(&self, other: &Self) -> bool {
        (self.scored, &self.constraints) == (other.scored, &other.constraints)
    }
}

/// Number of matching pods for one constraint.
#[derive(Clone, Debug)]
struct ConstraintCounts {
    of_node: Arc<Vec<Domain>>,
    /// [`Topology::version`](crate::indexes::Topology::version) of the domains.
    version: u64,
    /// Position in the change log up to which pods are counted.
    seen: u64,
    /// Whether every node is a separate domain.
    is_hostname: bool,
    /// What a node's score class contains for this constraint.
    part: ClassKey,
    /// Index of the domain of nodes without the label. Nodes with an empty value are in the same domain.
    without_label: usize,
    /// The number of pods in each domain; on each node, if each node is a domain.
    pods: Vec<i32>,
    /// The number of scored nodes in each domain; empty if each node is a domain.
    nodes: Vec<u32>,
    /// Number of domains with scored nodes.
    domain_count: usize,
    /// Contribution of a pod: `ln(domain_count + 2)`.
    weight: f64,
    /// Constant added to the sum: the maximum skew minus 1.
    constant: f64,
}

impl PartialEq for ConstraintCounts {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |this: &Self| {
            (this.is_hostname, this.without_label, this.domain_count, this.weight.to_bits(), this.constant.to_bits())
        };
        numbers(self) == numbers(other)
            && self.pods == other.pods
            && self.nodes == other.nodes
            && (Arc::ptr_eq(&self.of_node, &other.of_node) || self.of_node == other.of_node)
    }
}

impl ConstraintCounts {
    #[inline(always)]
    fn domain(&self, node: NodeIndex) -> Domain {
        self.of_node.get(node.get()).copied().unwrap_or(Domain::NONE)
    }

    /// Returns the index in `pods` for a node with the label.
    #[inline(always)]
    fn index_of(&self, node: NodeIndex, domain: Domain) -> usize {
        if self.is_hostname { node.get() } else { domain.get() }
    }

    /// Returns the contribution of this number of pods to a score.
    #[inline(always)]
    fn score_of(&self, pods: i32) -> f64 {
        f64::from(pods) * self.weight + self.constant
    }

    /// Returns the index of a node's domain, with or without the label. Not for constraints on the host name.
    #[inline]
    fn domain_index(&self, node: NodeIndex) -> usize {
        let domain = self.domain(node);
        if domain == Domain::NONE { self.without_label } else { domain.get() }
    }

    /// Adds a node to the scored nodes, or removes it.
    #[inline]
    fn set_scored(&mut self, node: NodeIndex, is_scored: bool) {
        let index = self.domain_index(node);
        let Some(nodes) = self.nodes.get_mut(index) else { return };
        if is_scored {
            self.domain_count += usize::from(*nodes == 0);
            *nodes += 1;
        } else {
            *nodes -= 1;
            self.domain_count -= usize::from(*nodes == 0);
        }
    }

    /// Sets the weight of pods from the number of domains.
    fn weigh(&mut self) {
        self.weight = ((self.domain_count + 2) as f64).ln();
    }
}

/// Returns whether a node has the labels of all constraints. If all keys are required, only such nodes are scored.
#[inline]
fn has_all_keys(counts: &[ConstraintCounts], node: NodeIndex) -> bool {
    counts.iter().all(|counts| counts.domain(node) != Domain::NONE)
}

impl SpreadScores {
    /// Returns the score of a feasible node. Less is better. `None`: PreScore did not run.
    #[inline(always)]
    pub(super) fn of_node(&self, pod: &PodTopologySpreadPod, node: NodeIndex) -> Option<i64> {
        let constraints = self.constraints.as_ref()?;
        if let [counts] = constraints.as_slice()
            && let Some(&score) = self.of_domain.get(counts.domain(node).get())
        {
            return Some(score);
        }
        let mut sum = 0.0;
        for counts in constraints {
            let domain = counts.domain(node);
            if domain != Domain::NONE {
                sum += counts.score_of(counts.pods[counts.index_of(node, domain)]);
            } else if pod.requires_all_keys {
                return Some(PodTopologySpread::IGNORED);
            }
        }
        Some(round(sum))
    }

    /// Computes the score of each domain, if a score depends only on the domain.
    fn tabulate(&mut self) {
        self.of_domain.clear();
        if let Some([counts]) = self.constraints.as_deref()
            && !counts.is_hostname
        {
            self.of_domain.extend(counts.pods.iter().map(|&pods| round(counts.score_of(pods))));
        }
    }
}

impl NormalizeScore for PodTopologySpread {
    #[inline(always)]
    fn normalize(_: &PodTopologySpreadArgs, extent: Extent, raw: i64) -> i64 {
        // kube-scheduler marks excluded nodes with -1, so scores of -1 are excluded too.
        if raw == Self::IGNORED || raw == -1 {
            return 0;
        }
        let max = extent.max.max(0);
        if max == 0 {
            return MAX_NODE_SCORE;
        }
        MAX_NODE_SCORE.wrapping_mul(max.wrapping_add(extent.min).wrapping_sub(raw)) / max
    }
}

/// Rounds halves away from zero, as `f64::round`.
#[inline(always)]
fn round(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    whole.saturating_add(i64::from(rest >= 0.5) - i64::from(rest <= -0.5))
}

/// Scratch memory for scoring.
#[derive(Debug, Default)]
pub(super) struct ScoreScratch {
    constraints: Vec<ConstraintCounts>,
    pods: Vec<Vec<i32>>,
    nodes: Vec<Vec<u32>>,
    feasible: NodeMask,
    of_domain: Vec<i64>,
    changes: Vec<(usize, i32)>,
}

impl ScoreScratch {
    pub(super) fn reclaim(&mut self, scores: SpreadScores) {
        let Some(mut constraints) = scores.constraints else { return };
        for ConstraintCounts { pods, nodes, .. } in constraints.drain(..) {
            self.pods.push(pods);
            self.nodes.push(nodes);
        }
        self.constraints = constraints;
        self.feasible = scores.feasible;
        self.of_domain = scores.of_domain;
    }

    /// Returns the counts of a constraint before any pods and nodes are counted.
    fn constraint(&mut self, constraint: &Constraint, view: View<'_, PodTopologySpread>) -> ConstraintCounts {
        let (topology, selected, _) = view.indexes;
        let key = constraint.key;
        let (of_node, domains) = (topology.domains(key).clone(), topology.domain_count(key));
        let is_hostname = constraint.is_hostname;
        let (mut pods, mut nodes) = (self.pods.pop().unwrap_or_default(), self.nodes.pop().unwrap_or_default());
        fill(&mut pods, if is_hostname { of_node.len() } else { domains + 1 });
        fill(&mut nodes, if is_hostname { 0 } else { domains + 1 });
        ConstraintCounts {
            version: topology.version(key),
            seen: constraint.position(selected),
            without_label: topology.find(key, Symbol::EMPTY).map_or(domains, Domain::get),
            of_node,
            is_hostname,
            part: ClassKey::new(is_hostname, domains),
            pods,
            nodes,
            domain_count: 0,
            weight: 0.0,
            constant: f64::from(constraint.max_skew.wrapping_sub(1)),
        }
    }
}

/// Sets a vector to `len` zeros, in its existing memory.
fn fill<T: Clone + Default>(vector: &mut Vec<T>, len: usize) {
    vector.clear();
    vector.resize(len, T::default());
}

/// Counts pods for the soft constraints, as kube-scheduler's PreScore does.
pub(super) fn count(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    view: View<'_, PodTopologySpread>,
    feasible: &NodeMask,
    scratch: &mut ScoreScratch,
) -> SpreadScores {
    let (_, selected, _) = view.indexes;
    let mut counts = std::mem::take(&mut scratch.constraints);
    counts.extend(constraints.iter().map(|constraint| scratch.constraint(constraint, view)));
    let included = NodeInclusion::new(constraints, &pod.inclusion, view);
    let mut scored = 0;
    for node in feasible.iter() {
        if !pod.requires_all_keys || has_all_keys(&counts, node) {
            scored += 1;
            counts.iter_mut().for_each(|counts| counts.set_scored(node, true));
        }
    }
    for (at, constraint) in constraints.iter().enumerate() {
        for (node, pods) in constraint.counts(selected).into_iter().flat_map(|counts| counts.iter()) {
            if let Some(index) = index_of_pods(pod, &counts, at, &included, node) {
                counts[at].pods[index] += pods as i32;
            }
        }
        if constraint.is_hostname {
            counts[at].domain_count = scored;
        }
        counts[at].weigh();
    }
    let mut copy = std::mem::take(&mut scratch.feasible);
    clear_for_nodes(&mut copy, &view);
    copy.words_mut().iter_mut().zip(feasible.words()).for_each(|(copy, word)| *copy = *word);
    let of_domain = std::mem::take(&mut scratch.of_domain);
    let has_class_parts = classes::fit_class_bits(&counts);
    let mut scores = SpreadScores { constraints: Some(counts), scored, feasible: copy, of_domain, has_class_parts };
    scores.tabulate();
    scores
}

/// Returns the index at which a node's pods count in `pods` of the constraint at position `at`; `None` if they do not
/// count.
#[inline]
fn index_of_pods(
    pod: &PodTopologySpreadPod,
    counts: &[ConstraintCounts],
    at: usize,
    included: &NodeInclusion<'_, '_>,
    node: NodeIndex,
) -> Option<usize> {
    if counts[at].is_hostname {
        // The pods of the node itself count regardless of the policies.
        return (node.get() < counts[at].pods.len()).then_some(node.get());
    }
    let counted = (!pod.requires_all_keys || has_all_keys(counts, node))
        && (included.includes_all_nodes() || included.evaluate(node).nth(at).is_some_and(|(_, counts)| counts));
    counted.then(|| counts[at].domain_index(node))
}
