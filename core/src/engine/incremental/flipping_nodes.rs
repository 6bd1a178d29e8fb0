//! Nodes that become feasible and infeasible together, such as those of a topology domain.

use super::best_by_group::{BestByGroup, Groups, MAX_GROUPS};
use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::profile_api::plugin_results::ScoreChanges;

/// Number of updates in which many nodes became infeasible, before groups pay off.
const FLIPS_BEFORE_GROUPS: u32 = 2;
/// Minimum size of a cluster for groups, in node slots. Debug builds have groups in all clusters.
const MIN_SLOTS: usize = if cfg!(debug_assertions) { 1 } else { 1024 };
/// The group of nodes that did not become infeasible together with many others.
const OTHERS: u16 = 1;
/// The first group of nodes that became infeasible together.
const FIRST: u16 = 2;
/// The scores of groups: all nodes have their complete totals.
const SCORES: [i32; MAX_GROUPS] = [0; MAX_GROUPS];

/// Groups of nodes that became infeasible in one update. Each group has a separate tree of its best nodes in a
/// [`BestByGroup`]. Without a feasible node, a group is suspended: its tree stays as it was, but does not count. When
/// the nodes become feasible again, only those that changed meanwhile are updated in the tree.
///
/// This requires that the totals of infeasible nodes stay current: no plugin has scores by node.
#[derive(Debug, Default)]
pub(super) struct FlippingNodes {
    /// Number of updates in which many nodes became infeasible.
    flips: u32,
    /// The nodes of each group from `FIRST` on.
    groups: Vec<NodeMask>,
    /// The groups without feasible nodes, one bit each.
    suspended: u32,
    /// The nodes of suspended groups.
    suspended_nodes: NodeMask,
    /// The nodes of groups that are no longer suspended since the current changes.
    resumed_nodes: NodeMask,
    /// The nodes in trees: those that are feasible, and those of suspended groups.
    in_trees: NodeMask,
    /// The group of each node in a tree, for whole words of a node mask; 0 for other nodes.
    group_of: Vec<u16>,
    /// The nodes that changed in trees.
    changed: NodeSet,
}

/// Returns whether nodes are so many that a separate tree may pay off.
pub(super) fn are_many(nodes: impl Iterator<Item = u64>, slots: usize) -> bool {
    nodes.map(u64::count_ones).sum::<u32>() as usize * 16 >= slots.max(MIN_SLOTS)
}

impl FlippingNodes {
    /// Returns whether there are groups.
    pub(super) fn are_grouped(&self) -> bool {
        !self.group_of.is_empty()
    }

    /// Counts an update in which many nodes became infeasible. Returns whether groups are worth their cost.
    pub(super) fn should_be_grouped_after_flip(&mut self) -> bool {
        self.flips += 1;
        self.flips >= FLIPS_BEFORE_GROUPS
    }

    /// Removes all groups.
    pub(super) fn clear(&mut self) {
        *self = FlippingNodes::default();
    }

    /// Makes one group of all nodes that were feasible before some became feasible or infeasible. Returns its tree.
    pub(super) fn begin(&mut self, totals: &[i32], feasible: &NodeMask, flipped: &NodeSet) -> BestByGroup {
        self.resize(totals.len());
        self.changed.reset(totals.len());
        for (word, bits) in self.in_trees.words_mut().iter_mut().enumerate() {
            *bits = feasible.words().get(word).copied().unwrap_or(0) ^ flipped.word(word);
            nodes_of(word, *bits).for_each(|node| self.group_of[node.get()] = OTHERS);
            self.changed.insert_word(word, *bits);
        }
        let mut best = BestByGroup::default();
        best.refresh(&self.changed, totals, self.groups());
        best
    }

    fn resize(&mut self, slots: usize) {
        let masks = [&mut self.in_trees, &mut self.suspended_nodes, &mut self.resumed_nodes];
        masks.into_iter().chain(&mut self.groups).for_each(|nodes| nodes.resize(slots));
        self.group_of.resize(slots.next_multiple_of(64), 0);
    }

    fn groups(&self) -> Groups<'_> {
        let scores = &SCORES[..FIRST as usize + self.groups.len()];
        Groups { of_node: &self.group_of, scores, suspended: self.suspended }
    }

    /// Updates the trees after changes of scores and of feasible nodes. Returns whether there is a new group.
    pub(super) fn refresh(
        &mut self,
        best: &mut BestByGroup,
        totals: &[i32],
        feasible: &NodeMask,
        flipped: &NodeSet,
        scores: &ScoreChanges,
    ) -> bool {
        self.resize(totals.len());
        let has_resumed = !flipped.is_empty() && self.find_suspended(feasible);
        self.find_changed(has_resumed, feasible, scores, totals.len());
        let is_new = !flipped.is_empty() && self.split(feasible, totals.len());
        let new = self.groups.last().filter(|_| is_new);
        for (word, bits) in self.changed.words() {
            let stays = bits & (feasible.words()[word] | new.map_or(0, |new| new.words()[word]));
            let in_trees = &mut self.in_trees.words_mut()[word];
            *in_trees = *in_trees & !bits | stays;
            for node in nodes_of(word, bits) {
                let is_in = stays >> (node.0 % 64) & 1 == 1;
                self.group_of[node.get()] = if is_in { group_of(&self.groups, node) } else { 0 };
            }
        }
        best.refresh(&self.changed, totals, self.groups()) || is_new
    }

    /// Finds the groups without feasible nodes. Returns whether some have feasible nodes again.
    fn find_suspended(&mut self, feasible: &NodeMask) -> bool {
        let mut suspended = 0;
        for (group, members) in (FIRST..).zip(&self.groups) {
            let mut both = members.words().iter().zip(feasible.words());
            suspended |= u32::from(!both.any(|(members, feasible)| members & feasible != 0)) << group;
        }
        let before = std::mem::replace(&mut self.suspended, suspended);
        if before == suspended {
            return false;
        }
        let resumed = before & !suspended;
        for (nodes, of_groups) in [(&mut self.suspended_nodes, suspended), (&mut self.resumed_nodes, resumed)] {
            nodes.words_mut().fill(0);
            for (_, members) in (FIRST..).zip(&self.groups).filter(|(group, _)| of_groups >> group & 1 == 1) {
                nodes.words_mut().iter_mut().zip(members.words()).for_each(|(nodes, members)| *nodes |= members);
            }
        }
        resumed != 0
    }

    /// Finds the nodes whose entries in trees are not current. Suspended groups are not updated. `has_resumed`: whether
    /// groups are no longer suspended since the current changes.
    fn find_changed(&mut self, has_resumed: bool, feasible: &NodeMask, scores: &ScoreChanges, slots: usize) {
        let FlippingNodes { suspended_nodes, resumed_nodes, in_trees, changed, .. } = self;
        let (in_trees, feasible) = (in_trees.words(), feasible.words());
        let (suspended, resumed) = (suspended_nodes.words(), resumed_nodes.words());
        changed.reset(slots);
        let scored = scores.nodes_to_score_base();
        for (word, bits) in scores.to_score.words() {
            let mut outdated = bits & !suspended[word];
            if has_resumed {
                // While a group is suspended, the totals of its unchanged nodes stay current.
                outdated &= !(resumed[word] & in_trees[word] & feasible[word]) | scored.word(word);
            }
            changed.insert_word(word, outdated);
        }
        if has_resumed {
            let entries = resumed.iter().zip(in_trees).zip(feasible).enumerate();
            for (word, ((resumed, in_trees), feasible)) in entries {
                changed.insert_word(word, resumed & in_trees & !feasible);
            }
        }
    }

    /// If many nodes leave the trees, makes them a suspended group. Returns whether it did.
    fn split(&mut self, feasible: &NodeMask, slots: usize) -> bool {
        let FlippingNodes { groups, suspended, suspended_nodes, in_trees, changed, .. } = self;
        let leaving = |(word, bits): (usize, u64)| bits & in_trees.words()[word] & !feasible.words()[word];
        let group = FIRST + groups.len() as u16;
        if group as usize >= MAX_GROUPS || !are_many(changed.words().map(leaving), slots) {
            return false;
        }
        let mut new = NodeMask::default();
        new.resize(slots);
        for (word, bits) in changed.words() {
            let leaving = leaving((word, bits));
            new.words_mut()[word] = leaving;
            suspended_nodes.words_mut()[word] |= leaving;
            groups.iter_mut().for_each(|group| group.words_mut()[word] &= !leaving);
        }
        groups.push(new);
        *suspended |= 1 << group;
        true
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.group_of.capacity() * size_of::<u16>() + self.groups.iter().map(NodeMask::bytes).sum::<usize>()
    }
}

/// Returns the group of a node.
#[inline]
fn group_of(groups: &[NodeMask], node: NodeIndex) -> u16 {
    groups.iter().zip(FIRST..).find(|(members, _)| members.contains(node)).map_or(OTHERS, |(_, group)| group)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::incremental::reusable_scores::ReusableScores;
    use crate::profile_api::plugin_results::UpdateScratch;

    const SLOTS: usize = 300;
    const DOMAINS: usize = 3;

    /// Nodes that are feasible if their domain is open and they are not full.
    struct Model {
        work: UpdateScratch,
        reusable: ReusableScores,
        feasible: NodeMask,
        is_open: [bool; DOMAINS],
        is_full: Vec<bool>,
        current_totals: Vec<i32>,
        /// The totals of the last Score.
        totals: Vec<i32>,
        flipping: FlippingNodes,
        best: Option<BestByGroup>,
    }

    impl Model {
        fn new() -> Self {
            Model {
                work: UpdateScratch::default(),
                reusable: ReusableScores::default(),
                feasible: (0..SLOTS as u32).map(NodeIndex).collect(),
                is_open: [true; DOMAINS],
                is_full: vec![false; SLOTS],
                current_totals: vec![0; SLOTS],
                totals: vec![0; SLOTS],
                flipping: FlippingNodes::default(),
                best: None,
            }
        }

        fn update(&mut self, changes: &[(usize, i32, bool)], flipped: &[usize]) {
            self.work.begin(SLOTS);
            for &(node, total, is_full) in changes {
                (self.current_totals[node], self.is_full[node]) = (total, is_full);
                self.work.add_changed_pods(NodeIndex(node as u32));
            }
            flipped.iter().for_each(|&domain| self.is_open[domain] ^= true);
            for at in 0..SLOTS {
                let (node, is_feasible) = (NodeIndex(at as u32), self.is_open[at % DOMAINS] && !self.is_full[at]);
                if self.feasible.contains(node) != is_feasible {
                    if is_feasible {
                        self.feasible.insert(node)
                    } else {
                        self.feasible.remove(node)
                    }
                    self.work.verdicts.dirty.insert(node);
                    self.work.feasibility_changed.insert(node);
                }
            }
            self.work.find_nodes_to_score(&self.feasible);
            self.reusable.update(SLOTS, &self.feasible, &mut self.work);
            for node in self.work.scores.nodes_to_score_base().iter() {
                self.totals[node.get()] = self.current_totals[node.get()];
            }
            let Model { work, feasible, totals, flipping, best, .. } = self;
            let UpdateScratch { feasibility_changed: flipped, scores, .. } = work;
            scores.to_score.extend(flipped);
            let lost = |(word, bits): (usize, u64)| bits & !feasible.words()[word];
            let are_many_lost = are_many(flipped.words().map(lost), SLOTS);
            if best.is_none() && are_many_lost && flipping.should_be_grouped_after_flip() {
                *best = Some(flipping.begin(totals, feasible, flipped));
            }
            if let Some(best) = best {
                flipping.refresh(best, totals, feasible, flipped, scores);
            }
        }

        fn expected(&self) -> Vec<NodeIndex> {
            let highest = self.feasible.iter().map(|node| self.current_totals[node.get()]).max();
            self.feasible.iter().filter(|node| Some(self.current_totals[node.get()]) == highest).collect()
        }
    }

    #[test]
    fn a_domain_that_flips_again_changes_no_tree() {
        let mut model = Model::new();
        for _ in 0..2 {
            model.update(&[], &[0]);
            model.update(&[], &[0]);
        }
        model.update(&[], &[0]);
        assert!(model.flipping.are_grouped() && model.flipping.changed.is_empty());
        model.update(&[(3, 1, false), (6, 1, true)], &[]);
        assert!(model.flipping.changed.is_empty());
        model.update(&[], &[0]);
        assert_eq!(model.flipping.changed.iter().collect::<Vec<_>>(), [3, 6].map(NodeIndex));
        assert_eq!(model.best.expect("there are groups").kth(0), Some(NodeIndex(3)));
    }

    proptest! {
        #[test]
        fn the_best_nodes_are_found_while_domains_flip(
            history in prop::collection::vec(
                (prop::collection::vec((0..SLOTS, -2i32..2, any::<bool>()), 0..6), prop::collection::vec(0..DOMAINS, 0..3)),
                1..60,
            ),
        ) {
            let mut model = Model::new();
            for (changes, flipped) in history {
                model.update(&changes, &flipped);
                let Some(best) = &model.best else { continue };
                let found: Vec<NodeIndex> = (0..best.best().ties).filter_map(|k| best.kth(k)).collect();
                prop_assert_eq!(found, model.expected());
            }
        }
    }
}
