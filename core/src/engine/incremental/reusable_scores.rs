//! Scores of infeasible nodes that are still current.

use crate::model::node_mask::NodeMask;
use crate::profile_api::plugin_results::UpdateScratch;

/// The infeasible nodes whose sum of scores without normalisation is current. If such nodes become feasible again, for
/// example all nodes of a topology domain, they are not scored again.
#[derive(Debug, Default)]
pub(super) struct ReusableScores {
    nodes: NodeMask,
    /// Whether the set may contain nodes.
    may_have_nodes: bool,
}

impl ReusableScores {
    /// Removes all nodes.
    pub(super) fn clear(&mut self) {
        self.nodes.words_mut().fill(0);
        self.may_have_nodes = false;
    }

    /// Removes the nodes that became feasible or changed, and adds unchanged ones that became infeasible. `work` gets the nodes to
    /// score.
    #[inline(always)]
    pub(super) fn update(&mut self, slots: usize, feasible: &NodeMask, work: &mut UpdateScratch) {
        if self.may_have_nodes || !work.feasibility_changed.is_empty() {
            self.update_some(slots, feasible, work);
        }
    }

    #[inline(never)]
    fn update_some(&mut self, slots: usize, feasible: &NodeMask, work: &mut UpdateScratch) {
        if self.nodes.words().len() * 64 < slots {
            self.nodes.resize(slots);
        }
        if work.scores.unnormalized_changed {
            self.clear();
        }
        let reusable = self.nodes.words_mut();
        let changed = &work.changes.existing;
        // A removed node may stay. If a node gets its slot, that one is a changed node.
        changed.words().for_each(|(word, bits)| reusable[word] &= !bits);
        work.scores.skip_base(slots, reusable);
        for (word, bits) in work.feasibility_changed.words() {
            let lost = bits & !feasible.words()[word] & !changed.word(word);
            let lost = if work.scores.unnormalized_changed { 0 } else { lost };
            reusable[word] = reusable[word] & !bits | lost;
            self.may_have_nodes |= lost != 0;
        }
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::NodeIndex;

    const SLOTS: usize = 130;

    /// Nodes with versions of their scores: the current one, and that of the last Score.
    struct Model {
        scores: ReusableScores,
        work: UpdateScratch,
        feasible: NodeMask,
        current: Vec<u32>,
        scored: Vec<u32>,
    }

    impl Model {
        fn new() -> Self {
            let feasible = (0..SLOTS as u32).map(NodeIndex).collect();
            let (scores, work) = (ReusableScores::default(), UpdateScratch::default());
            Model { scores, work, feasible, current: vec![0; SLOTS], scored: vec![0; SLOTS] }
        }

        /// Changes nodes, flips the feasibility of others, and updates. Returns the number of nodes that were scored.
        fn update(&mut self, changed: &[u32], flipped: &[u32], changes_all: bool) -> usize {
            self.work.begin(SLOTS);
            for &node in changed {
                self.current[node as usize] += 1;
                self.work.add_changed_pods(NodeIndex(node));
            }
            for node in flipped.iter().copied().map(NodeIndex) {
                self.work.verdicts.dirty.insert(node);
                if !self.work.feasibility_changed.contains(node) {
                    let is_feasible = self.feasible.contains(node);
                    if is_feasible {
                        self.feasible.remove(node)
                    } else {
                        self.feasible.insert(node)
                    }
                    self.work.feasibility_changed.insert(node);
                }
            }
            self.work.find_nodes_to_score(&self.feasible);
            if changes_all {
                self.current.iter_mut().for_each(|version| *version += 1);
                self.work.scores.unnormalized_changed = true;
                self.feasible.iter().for_each(|node| self.scored[node.get()] = self.current[node.get()]);
            }
            self.scores.update(SLOTS, &self.feasible, &mut self.work);
            let nodes: Vec<NodeIndex> = self.work.scores.nodes_to_score_base().iter().collect();
            nodes.iter().for_each(|node| self.scored[node.get()] = self.current[node.get()]);
            nodes.len()
        }
    }

    #[test]
    fn a_domain_that_flips_is_scored_only_where_nodes_changed() {
        let mut model = Model::new();
        let domain: Vec<u32> = (40..100).collect();
        assert_eq!(model.update(&[], &domain, false), 0);
        assert_eq!(model.update(&[50, 3], &[], false), 1);
        assert_eq!(model.update(&[60], &domain, false), 2);
        // Unless a plugin gives other scores to all nodes.
        model.update(&[], &domain, false);
        model.update(&[], &[], true);
        assert_eq!(model.update(&[], &domain, false), domain.len());
    }

    proptest! {
        #[test]
        fn feasible_nodes_have_current_scores(
            history in prop::collection::vec(
                (prop::collection::vec(0..SLOTS as u32, 0..4), prop::collection::vec(0..SLOTS as u32, 0..9), 0..9),
                1..60,
            ),
        ) {
            let mut model = Model::new();
            for (changed, flipped, kind) in history {
                model.update(&changed, &flipped, kind == 0);
                for node in model.feasible.iter() {
                    prop_assert_eq!(model.scored[node.get()], model.current[node.get()]);
                }
            }
        }
    }
}
