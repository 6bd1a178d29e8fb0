//! The best nodes of each of a few groups of nodes.

use super::best_tree::{Best, BestOfWord, BestTree, WORD, kth_of_word};
use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::profile_api::plugin_results::SeparateLevels;

/// Maximum number of groups, including that of nodes without a tree.
pub(super) const MAX_GROUPS: usize = SeparateLevels::MAX;
/// The group of nodes without a tree.
const NO_GROUP: u8 = 0;

/// Groups of nodes, such as the levels of a plugin.
#[derive(Clone, Copy)]
pub(super) struct Groups<'a> {
    /// The group of each node, for whole words of a node mask; 0 for nodes that do not count.
    pub(super) of_node: &'a [u16],
    /// The part of the totals that all nodes of a group have in common.
    pub(super) scores: &'a [i32],
    /// The groups that do not count, one bit each.
    pub(super) suspended: u32,
}

impl<'a> From<SeparateLevels<'a>> for Groups<'a> {
    fn from(SeparateLevels { of_node, scores }: SeparateLevels<'a>) -> Self {
        Groups { of_node, scores, suspended: 0 }
    }
}

/// A tree of the best totals for each group of nodes. These totals do not include the group's score. If the score of a group
/// changes, for example that of all nodes of a zone, no node and no tree changes.
#[derive(Debug, Default)]
pub(super) struct BestByGroup {
    /// Number of node slots.
    slots: usize,
    /// The group of each node slot at the last refresh, for whole words of a node mask.
    group_of: Vec<u8>,
    /// The tree of each group, all of the same size. The first one stays empty.
    trees: Vec<BestTree>,
    /// The score of each group.
    scores: Vec<i32>,
    /// The groups with nodes of the highest total, one bit each.
    groups_of_best: u32,
    best: Best,
}

impl BestByGroup {
    /// Makes the trees of all feasible nodes.
    pub(super) fn new(totals: &[i32], feasible: &NodeMask, groups: Groups<'_>) -> Self {
        let mut new = BestByGroup::default();
        let mut all = NodeSet::default();
        all.reset(totals.len());
        all.insert_all(feasible);
        new.refresh(&all, totals, groups);
        new
    }

    /// Updates the trees for nodes whose group or total changed, and the scores of all groups. Returns whether there are
    /// more trees.
    pub(super) fn refresh(&mut self, changed: &NodeSet, totals: &[i32], groups: Groups<'_>) -> bool {
        let is_larger = self.resize(totals.len(), groups.scores.len());
        if BestTree::are_many(changed, totals.len()) {
            self.refresh_many(changed, totals, groups.of_node);
        } else {
            for (word, bits) in changed.words() {
                self.refresh_word(word, bits, totals, groups.of_node);
            }
        }
        self.scores.clear();
        self.scores.extend_from_slice(groups.scores);
        self.find_best(groups.suspended);
        is_larger
    }

    /// Returns whether it grew.
    fn resize(&mut self, slots: usize, groups: usize) -> bool {
        if self.trees.len() >= groups && self.slots == slots {
            return false;
        }
        self.slots = slots;
        self.trees.resize_with(groups.max(self.trees.len()), BestTree::default);
        self.trees.iter_mut().for_each(|tree| tree.resize(slots));
        self.group_of.resize(slots.next_multiple_of(64), NO_GROUP);
        true
    }

    fn refresh_word(&mut self, word: usize, changed: u64, totals: &[i32], of_node: &[u16]) {
        let mut groups = 0_u32;
        for node in nodes_of(word, changed) {
            let at = node.get();
            let before = std::mem::replace(&mut self.group_of[at], of_node[at] as u8);
            groups |= 1 << before | 1 << of_node[at];
        }
        for group in groups_in(groups & !(1 << NO_GROUP)) {
            let bits = nodes_in(&self.group_of, word, group);
            let tree = &mut self.trees[group];
            let best = tree.word(word).after_changes(changed, totals, bits, word);
            tree.set(word, best);
        }
    }

    #[inline(never)]
    fn refresh_many(&mut self, changed: &NodeSet, totals: &[i32], of_node: &[u16]) {
        for (word, _) in changed.words() {
            let nodes = word * WORD..(word + 1) * WORD;
            let of_word = self.group_of[nodes.clone()].iter_mut().zip(&of_node[nodes]);
            of_word.for_each(|(group, now)| *group = *now as u8);
            for (group, tree) in self.trees.iter_mut().enumerate().skip(1) {
                let bits = nodes_in(&self.group_of, word, group);
                tree.set_word(word, BestOfWord::new(totals, bits, word));
            }
        }
        self.trees.iter_mut().for_each(BestTree::update_ancestors);
    }

    fn find_best(&mut self, suspended: u32) {
        (self.best, self.groups_of_best) = (Best::default(), 0);
        for (group, (tree, &score)) in self.trees.iter().zip(&self.scores).enumerate() {
            let of_group = tree.root().with_score(score);
            if of_group.ties == 0 || suspended >> group & 1 == 1 || of_group.total < self.best.total {
                continue;
            }
            if of_group.total > self.best.total {
                (self.best, self.groups_of_best) = (of_group, 1 << group);
            } else {
                self.best.ties += of_group.ties;
                self.groups_of_best |= 1 << group;
            }
        }
    }

    /// Returns the best of all nodes.
    #[inline]
    pub(super) fn best(&self) -> Best {
        self.best
    }

    /// Returns the score of a node's group.
    pub(super) fn score_of(&self, node: NodeIndex) -> i32 {
        self.scores[usize::from(self.group_of[node.get()])]
    }

    /// Returns the `k`-th of the best nodes, in the order of node indices.
    pub(super) fn kth(&self, mut k: u32) -> Option<NodeIndex> {
        let groups = self.groups_of_best;
        if groups.is_power_of_two() {
            return self.trees[groups.trailing_zeros() as usize].kth(k);
        }
        // All trees have the same shape.
        let left_ties = |at: usize| groups_in(groups).map(move |group| self.trees[group].left_ties_of_best(at));
        let words = self.trees.last()?.words();
        let mut at = 1;
        while at < words {
            let left = left_ties(at).sum();
            let is_right = k >= left;
            k -= if is_right { left } else { 0 };
            at = 2 * at + usize::from(is_right);
        }
        let word = at - words;
        let best_nodes = groups_in(groups).map(|group| self.trees[group].best_nodes(word));
        kth_of_word(best_nodes.fold(0, |nodes, of_group| nodes | of_group), word, k)
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.group_of.capacity() + self.trees.iter().map(BestTree::bytes).sum::<usize>()
    }
}

/// Returns the groups in a set.
#[inline]
fn groups_in(mut groups: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let group = (groups != 0).then(|| groups.trailing_zeros() as usize)?;
        groups &= groups - 1;
        Some(group)
    })
}

/// Returns the nodes of a word that are in a group, one bit each.
#[inline(always)]
fn nodes_in(group_of: &[u8], word: usize, group: usize) -> u64 {
    let Some(groups) = group_of[word * WORD..].first_chunk::<WORD>() else { return 0 };
    let (chunks, _) = groups.as_chunks::<8>();
    let mut nodes = [0; WORD / 8];
    for (nodes, chunk) in nodes.iter_mut().zip(chunks) {
        // The multiplication moves the lowest bit of each byte into the highest byte.
        let are_in = u64::from_le_bytes(chunk.map(|of_node| u8::from(usize::from(of_node) == group)));
        *nodes = (are_in.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(nodes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SLOTS: usize = 1999;
    const GROUPS: u32 = 5;

    proptest! {
        #[test]
        fn the_best_of_all_groups_are_found_in_order(
            history in prop::collection::vec((0..SLOTS, -2i32..2, 0..GROUPS as u16), 1..80),
            scores in prop::collection::vec((prop::collection::vec(-1i32..2, GROUPS as usize), 0u32..1 << GROUPS), 9),
            step in 1usize..9,
        ) {
            let (mut totals, mut of_node) = (vec![0; SLOTS], vec![0; SLOTS.next_multiple_of(64)]);
            let mut best = BestByGroup::default();
            for (changes, (scores, suspended)) in history.chunks(step).zip(scores.iter().cycle()) {
                let mut changed = NodeSet::default();
                changed.reset(SLOTS);
                for &(node, total, group) in changes {
                    (totals[node], of_node[node]) = (total, group);
                    changed.insert(NodeIndex(node as u32));
                }
                best.refresh(&changed, &totals, Groups { of_node: &of_node, scores, suspended: *suspended });

                let counts = |group: u16| group != 0 && suspended >> group & 1 == 0;
                let feasible = || (0..SLOTS).filter(|&node| counts(of_node[node]));
                let total = |node: usize| totals[node] + scores[of_node[node] as usize];
                let highest = feasible().map(total).max();
                let expected: Vec<usize> = feasible().filter(|&node| Some(total(node)) == highest).collect();
                prop_assert_eq!(best.best().total, highest.unwrap_or(i32::MIN));
                prop_assert_eq!(best.best().ties as usize, expected.len());
                let found: Vec<usize> = (0..best.best().ties).filter_map(|k| best.kth(k)).map(NodeIndex::get).collect();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(best.kth(u32::MAX), None);
                let of_groups = feasible().all(|node| totals[node] + best.score_of(NodeIndex(node as u32)) == total(node));
                prop_assert!(of_groups);
            }
        }
    }
}
