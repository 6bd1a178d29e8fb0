//! What soft constraints say of feasible nodes.

use schedc_core::extension_points::NormalizeScore;
use schedc_core::mask::Mask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::View;
use smallvec::SmallVec;

use super::constraints::{Constraint, Included, domains, has_all_keys};
use super::{PodTopologySpread, PodTopologySpreadPod};
use crate::indexes::Domain;
use schedc_core::intern::Symbol;

/// The raw score of each feasible node, by index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpreadScores {
    pub(super) of_node: Vec<i64>,
}

/// The entry of a domain without feasible nodes.
const ABSENT: i64 = i64::MIN;

/// The pods of one constraint, where they count for the score.
enum Counts<'a> {
    /// In each domain with feasible nodes.
    Domains { of_node: &'a [Domain], counts: Vec<i64>, without_label: usize },
    /// On each node with the label.
    Nodes { of_node: &'a [Domain], counts: Vec<i64> },
}

impl<'a> Counts<'a> {
    fn new(constraint: &Constraint, view: &View<'a, PodTopologySpread>) -> Self {
        let topology = view.indexes.0;
        let of_node = topology.domains(constraint.key).as_slice();
        if constraint.is_hostname {
            let mut counts = vec![0; of_node.len()];
            for (node, count) in constraint.counts(view.indexes.1).into_iter().flat_map(|counts| counts.iter()) {
                if let Some(entry) = counts.get_mut(node.get()) {
                    *entry = i64::from(count);
                }
            }
            return Counts::Nodes { of_node, counts };
        }
        let domains = topology.domain_count(constraint.key);
        // A missing label is as good as an empty one here.
        let without_label = topology.find(constraint.key, Symbol::EMPTY).map_or(domains, Domain::get);
        Counts::Domains { of_node, counts: vec![ABSENT; domains + 1], without_label }
    }

    /// A node is feasible and has what a score takes.
    fn include(&mut self, node: NodeIndex) {
        if let Counts::Domains { of_node, counts, without_label } = self {
            counts[slot(of_node, *without_label, node)] = 0;
        }
    }

    fn add(&mut self, node: NodeIndex, pods: u32) {
        if let Counts::Domains { of_node, counts, without_label } = self {
            let count = &mut counts[slot(of_node, *without_label, node)];
            if *count != ABSENT {
                *count += i64::from(pods);
            }
        }
    }

    /// The number of domains; `nodes` is the number of nodes that are scored.
    fn size(&self, nodes: usize) -> usize {
        match self {
            Counts::Domains { counts, .. } => counts.iter().filter(|count| **count != ABSENT).count(),
            Counts::Nodes { .. } => nodes,
        }
    }

    /// The number of pods that speak against a node; none if it lacks the label.
    #[inline]
    fn of(&self, node: NodeIndex) -> Option<i64> {
        match self {
            Counts::Domains { of_node, counts, .. } => counts.get(of_node.get(node.get())?.get()).copied(),
            Counts::Nodes { of_node, counts } => {
                (*of_node.get(node.get())? != Domain::NONE).then(|| counts[node.get()])
            }
        }
    }
}

fn slot(of_node: &[Domain], without_label: usize, node: NodeIndex) -> usize {
    match of_node.get(node.get()) {
        Some(&domain) if domain != Domain::NONE => domain.get(),
        _ => without_label,
    }
}

/// Scores the feasible nodes: kube-scheduler's PreScore and Score. Less is better.
pub(super) fn score(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    view: View<'_, PodTopologySpread>,
    feasible: &Mask,
) -> SpreadScores {
    let domains = domains(constraints, &view);
    let takes_part = |node: &NodeIndex| !pod.all_keys || has_all_keys(&domains, *node);
    let mut counts: SmallVec<[Counts<'_>; 4]> = constraints.iter().map(|c| Counts::new(c, &view)).collect();
    let mut nodes = 0;
    for node in feasible.iter().filter(takes_part) {
        nodes += 1;
        counts.iter_mut().for_each(|counts| counts.include(node));
    }
    let weights: SmallVec<[f64; 4]> = counts.iter().map(|counts| ((counts.size(nodes) + 2) as f64).ln()).collect();
    let included = Included::new(constraints, &pod.inclusion);
    for (at, constraint) in constraints.iter().enumerate().filter(|(_, constraint)| !constraint.is_hostname) {
        let pods = constraint.counts(view.indexes.1).into_iter().flat_map(|counts| counts.iter());
        for (node, pods) in pods.filter(|(node, _)| takes_part(node)) {
            if included.is_everywhere() || included.on(view.row(node)).nth(at).is_some_and(|(_, counts)| counts) {
                counts[at].add(node, pods);
            }
        }
    }
    let mut of_node = vec![PodTopologySpread::IGNORED; view.base.infos().len()];
    for node in feasible.iter().filter(takes_part) {
        let mut score = 0.0;
        for ((constraint, counts), weight) in constraints.iter().zip(&counts).zip(&weights) {
            if let Some(count) = counts.of(node) {
                score += count as f64 * weight + f64::from(constraint.max_skew.wrapping_sub(1));
            }
        }
        of_node[node.get()] = score.round() as i64;
    }
    SpreadScores { of_node }
}
