//! Updates of the counts of soft constraints.

use schedc_core::incremental::ScoreUpdate;
use schedc_core::model::NodeIndex;
use schedc_core::node_mask::{NodeMask, nodes_of};
use schedc_core::plugin::View;

use super::classes::ClassKey;
use super::{ConstraintCounts, PodTopologySpreadPod, ScoreScratch, SpreadScores, has_all_keys, index_of_pods};
use crate::indexes::Domain;
use crate::pod_topology_spread::PodTopologySpread;
use crate::pod_topology_spread::constraints::{NodeInclusion, merge_changes};

/// Applies the changes of pods and feasible nodes since the last update, and adds the nodes with changed scores to
/// `rescore`. Returns false if a full evaluation is needed; the state is invalid then.
pub(in super::super) fn update(
    pod: &PodTopologySpreadPod,
    scores: &mut SpreadScores,
    view: View<'_, PodTopologySpread>,
    rescore: &mut ScoreUpdate<'_>,
    scratch: &mut ScoreScratch,
) -> bool {
    let Ok(constraints) = pod.soft.as_deref() else { return false };
    let (topology, selected, _) = view.indexes;
    let SpreadScores { constraints: Some(counts), scored, feasible, has_class_parts, .. } = scores else {
        return false;
    };
    if counts.iter().zip(constraints).any(|(counts, constraint)| counts.version != topology.version(constraint.key)) {
        return false;
    }
    let included = NodeInclusion::new(constraints, &pod.inclusion, view);
    if rescore.changed.node_objects && !included.includes_all_nodes() {
        return false;
    }
    let mut has_changes = false;
    let weights_changed = update_feasible(pod, counts, scored, feasible, rescore);
    match (weights_changed, *has_class_parts) {
        (true, true) => rescore.mark_classes_changed(),
        (true, false) => rescore.reevaluate_all(),
        (false, _) => {}
    }
    for (at, constraint) in constraints.iter().enumerate() {
        let Some(query) = constraint.counted() else { continue };
        let log = selected.log(query);
        if log.end() == counts[at].seen {
            continue;
        }
        let Some(entries) = log.since(counts[at].seen) else { return false };
        counts[at].seen = log.end();
        has_changes = true;
        let new_changes =
            entries.filter_map(|&(node, by)| Some((index_of_pods(pod, counts, at, &included, node)?, by)));
        let changes = &mut scratch.changes;
        changes.clear();
        changes.extend(new_changes);
        merge_changes(changes);
        for &(index, by) in &*changes {
            counts[at].pods[index] += by;
            if *has_class_parts && counts[at].part == ClassKey::Domain {
                rescore.mark_classes_changed();
            } else if weights_changed && !*has_class_parts {
                // All nodes are scored again anyway.
            } else if constraint.is_hostname {
                rescore.reevaluate.insert(NodeIndex(index as u32));
            } else {
                rescore_domain(topology.nodes_by_domain(constraint.key).of(Domain::new(index)), rescore);
            }
        }
    }
    if has_changes || weights_changed {
        scores.tabulate();
    }
    true
}

/// Applies the changes of feasible nodes. Returns whether the weight of a constraint's pods changed.
fn update_feasible(
    pod: &PodTopologySpreadPod,
    counts: &mut [ConstraintCounts],
    scored: &mut usize,
    feasible: &mut NodeMask,
    rescore: &ScoreUpdate<'_>,
) -> bool {
    for (word, _) in rescore.feasibility_changed.words() {
        let now = rescore.feasible.words().get(word).copied().unwrap_or(0);
        let Some(before) = feasible.words_mut().get_mut(word) else { continue };
        let flipped = std::mem::replace(before, now) ^ now;
        for node in nodes_of(word, flipped) {
            if pod.requires_all_keys && !has_all_keys(counts, node) {
                continue;
            }
            let is_scored = rescore.feasible.contains(node);
            if is_scored {
                *scored += 1
            } else {
                *scored -= 1
            }
            counts.iter_mut().for_each(|counts| counts.set_scored(node, is_scored));
        }
    }
    if rescore.feasibility_changed.is_empty() {
        return false;
    }
    let mut changed = false;
    for counts in counts {
        if counts.is_hostname {
            counts.domain_count = *scored;
        }
        let before = counts.weight.to_bits();
        counts.weigh();
        changed |= counts.weight.to_bits() != before;
    }
    changed
}

/// Adds the feasible nodes of a domain to the nodes to score again.
fn rescore_domain(members: &[(u32, u64)], rescore: &mut ScoreUpdate<'_>) {
    for &(word, bits) in members {
        let feasible = rescore.feasible.words().get(word as usize).copied().unwrap_or(0);
        rescore.reevaluate.insert_word(word as usize, bits & feasible);
    }
}
