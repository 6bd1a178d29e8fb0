//! What soft constraints say of feasible nodes.

use schedc_core::extension_points::NormalizeScore;
use schedc_core::intern::Symbol;
use schedc_core::mask::Mask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::View;

use super::constraints::{Constraint, Included, domains, has_all_keys};
use super::{PodTopologySpread, PodTopologySpreadPod};
use crate::indexes::Domain;

/// The raw score of each feasible node, by index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpreadScores {
    pub(super) of_node: Vec<i64>,
}

/// The entry of a domain without feasible nodes.
const ABSENT: i64 = i64::MIN;

/// Room for scoring.
#[derive(Debug, Default)]
pub(super) struct Room {
    nodes: Vec<NodeIndex>,
    scores: Vec<f64>,
    counts: Vec<i64>,
    of_domain: Vec<f64>,
    of_node: Vec<i64>,
}

impl Room {
    pub(super) fn take_back(&mut self, scores: SpreadScores) {
        if scores.of_node.capacity() > 0 {
            self.of_node = scores.of_node;
        }
    }
}

/// As many of one value, in the room of a vector.
fn fill<T: Clone>(vector: &mut Vec<T>, len: usize, value: T) {
    vector.clear();
    vector.resize(len, value);
}

/// Scores the feasible nodes: kube-scheduler's PreScore and Score. Less is better.
pub(super) fn score(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    view: View<'_, PodTopologySpread>,
    feasible: &Mask,
    room: &mut Room,
) -> SpreadScores {
    let Room { nodes, scores, counts, of_domain, of_node: by_node } = room;
    let domains = domains(constraints, &view);
    let takes_part = |node: &NodeIndex| !pod.all_keys || has_all_keys(&domains, *node);
    nodes.clear();
    nodes.extend(feasible.iter().filter(takes_part));
    fill(scores, nodes.len(), 0.0);
    for (at, constraint) in constraints.iter().enumerate() {
        let of_node = domains[at];
        let domain = |node: NodeIndex| of_node.get(node.get()).copied().unwrap_or(Domain::NONE);
        let weight = |domains: usize| ((domains + 2) as f64).ln();
        let more = f64::from(constraint.max_skew.wrapping_sub(1));
        if constraint.is_hostname {
            // The pods of the node itself, whatever the policies say.
            fill(counts, of_node.len(), 0);
            for (node, count) in constraint.counts(view.indexes.1).into_iter().flat_map(|counts| counts.iter()) {
                if let Some(entry) = counts.get_mut(node.get()) {
                    *entry = i64::from(count);
                }
            }
            let weight = weight(nodes.len());
            for (score, &node) in scores.iter_mut().zip(&*nodes).filter(|(_, node)| domain(**node) != Domain::NONE) {
                *score += counts[node.get()] as f64 * weight + more;
            }
        } else {
            count_in_domains(pod, constraints, at, view, nodes, &takes_part, counts);
            let weight = weight(counts.iter().filter(|count| **count != ABSENT).count());
            of_domain.clear();
            of_domain.extend(counts.iter().map(|count| *count as f64 * weight + more));
            for (score, &node) in scores.iter_mut().zip(&*nodes).filter(|(_, node)| domain(**node) != Domain::NONE) {
                *score += of_domain[domain(node).get()];
            }
        }
    }
    let mut of_node = std::mem::take(by_node);
    fill(&mut of_node, view.base.infos().len(), PodTopologySpread::IGNORED);
    for (score, node) in scores.iter().zip(&*nodes) {
        of_node[node.get()] = score.round() as i64;
    }
    SpreadScores { of_node }
}

/// The pods in each domain of a constraint that has nodes to be scored; nodes without the label are a domain, too.
fn count_in_domains(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    at: usize,
    view: View<'_, PodTopologySpread>,
    nodes: &[NodeIndex],
    takes_part: &impl Fn(&NodeIndex) -> bool,
    counts: &mut Vec<i64>,
) {
    let (topology, selected, _) = view.indexes;
    let constraint = &constraints[at];
    let of_node = topology.domains(constraint.key).as_slice();
    let domains = topology.domain_count(constraint.key);
    // A missing label is as good as an empty one here.
    let without_label = topology.find(constraint.key, Symbol::EMPTY).map_or(domains, Domain::get);
    let slot = |node: NodeIndex| match of_node.get(node.get()) {
        Some(&domain) if domain != Domain::NONE => domain.get(),
        _ => without_label,
    };
    fill(counts, domains + 1, ABSENT);
    nodes.iter().for_each(|node| counts[slot(*node)] = 0);
    let included = Included::new(constraints, &pod.inclusion);
    let pods = constraint.counts(selected).into_iter().flat_map(|counts| counts.iter());
    for (node, pods) in pods.filter(|(node, _)| takes_part(node)) {
        let count = &mut counts[slot(node)];
        let included = || included.on(view.row(node)).nth(at).is_some_and(|(_, counts)| counts);
        if *count != ABSENT && included() {
            *count += i64::from(pods);
        }
    }
}
