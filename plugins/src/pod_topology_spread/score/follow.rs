//! Bringing the counts of soft constraints up to date.

use schedc_core::incremental::ScoreUpdate;
use schedc_core::node_mask::{NodeMask, nodes_of};
use schedc_core::model::NodeIndex;
use schedc_core::plugin::View;

use super::classes::Part;
use super::{Counts, PodTopologySpreadPod, Room, SpreadScores, has_all_keys, place_of_pods};
use crate::indexes::Domain;
use crate::pod_topology_spread::PodTopologySpread;
use crate::pod_topology_spread::constraints::{Constraint, Included, add_up};

/// Takes in what happened to pods and which nodes became feasible or ceased to be since the state was made or brought up to
/// date, and says on which nodes the score is another one. False: it takes a new count to know, and the state is of no use any
/// more.
pub(in super::super) fn follow(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    scores: &mut SpreadScores,
    view: View<'_, PodTopologySpread>,
    rescore: &mut ScoreUpdate<'_>,
    room: &mut Room,
) -> bool {
    let (topology, selected, _) = view.indexes;
    let SpreadScores { constraints: Some(counts), scored, feasible, has_classes, .. } = scores else { return false };
    if counts.iter().zip(constraints).any(|(counts, constraint)| counts.version != topology.version(constraint.key)) {
        return false;
    }
    let included = Included::new(constraints, &pod.inclusion);
    if rescore.changed.node_objects && !included.is_everywhere() {
        return false;
    }
    let mut news = false;
    let weights_moved = follow_feasible(pod, counts, scored, feasible, rescore);
    match (weights_moved, *has_classes) {
        (true, true) => rescore.mark_classes_changed(),
        (true, false) => rescore.reevaluate_all(),
        (false, _) => {}
    }
    for (at, constraint) in constraints.iter().enumerate() {
        let Some(question) = constraint.counted() else { continue };
        let log = selected.log(question);
        if log.end() == counts[at].seen {
            continue;
        }
        let Some(entries) = log.since(counts[at].seen) else { return false };
        counts[at].seen = log.end();
        news = true;
        let places =
            entries.filter_map(|&(node, by)| Some((place_of_pods(pod, counts, at, &included, view, node)?, by)));
        let changes = &mut room.changes;
        changes.clear();
        changes.extend(places);
        add_up(changes);
        for &(place, by) in &*changes {
            counts[at].pods[place] += by;
            if *has_classes && counts[at].part == Part::Domain {
                rescore.mark_classes_changed();
            } else if weights_moved && !*has_classes {
                // All are asked.
            } else if constraint.is_hostname {
                rescore.reevaluate.insert(NodeIndex(place as u32));
            } else {
                ask(topology.members(constraint.key).of(Domain::new(place)), rescore);
            }
        }
    }
    if news || weights_moved {
        scores.tabulate();
    }
    true
}

/// Takes in which nodes are feasible. Returns whether pods of a constraint weigh another amount now.
fn follow_feasible(
    pod: &PodTopologySpreadPod,
    counts: &mut [Counts],
    scored: &mut usize,
    feasible: &mut NodeMask,
    rescore: &ScoreUpdate<'_>,
) -> bool {
    for (word, _) in rescore.feasibility_changed.words() {
        let now = rescore.feasible.words().get(word).copied().unwrap_or(0);
        let Some(before) = feasible.words_mut().get_mut(word) else { continue };
        let flipped = std::mem::replace(before, now) ^ now;
        for node in nodes_of(word, flipped) {
            if pod.all_keys && !has_all_keys(counts, node) {
                continue;
            }
            let enters = rescore.feasible.contains(node);
            if enters {
                *scored += 1
            } else {
                *scored -= 1
            }
            counts.iter_mut().for_each(|counts| counts.enter(node, enters));
        }
    }
    if rescore.feasibility_changed.is_empty() {
        return false;
    }
    let mut moved = false;
    for counts in counts {
        if counts.is_hostname {
            counts.places = *scored;
        }
        let before = counts.weight.to_bits();
        counts.weigh();
        moved |= counts.weight.to_bits() != before;
    }
    moved
}

/// The feasible nodes of a domain must be scored again.
fn ask(members: &[(u32, u64)], rescore: &mut ScoreUpdate<'_>) {
    for &(word, bits) in members {
        let feasible = rescore.feasible.words().get(word as usize).copied().unwrap_or(0);
        rescore.reevaluate.insert_word(word as usize, bits & feasible);
    }
}
