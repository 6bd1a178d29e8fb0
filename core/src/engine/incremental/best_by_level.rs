//! The best nodes of each level of a plugin, whose scores change by level.

use super::best_tree::{ALL, BLOCK, BestTree, BlockBest, IN_WORD, blocks_of, kth_of_block};
use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::profile_api::plugin_results::SeparateLevels;

/// A tree of the best totals for each level of one plugin, whose scores these totals do not include. If the score of a
/// level changes, for example that of all nodes of a zone, no node and no tree changes.
#[derive(Debug, Default)]
pub(super) struct BestByLevel {
    /// The level of each node slot at the last refresh, for whole words of a node mask.
    level_of: Vec<u8>,
    /// The tree of each level, all of the same size. That of infeasible nodes stays empty.
    trees: Vec<BestTree>,
    /// The score of each level.
    scores: Vec<i64>,
    best: BlockBest,
}

impl BestByLevel {
    /// Makes the trees of all levels.
    pub(super) fn new(totals: &[i64], feasible: &NodeMask, levels: SeparateLevels<'_>) -> Self {
        let mut new = BestByLevel::default();
        let mut all = NodeSet::default();
        all.reset(totals.len());
        all.insert_all(feasible);
        new.refresh(&all, totals, levels);
        new
    }

    /// Updates the trees for nodes whose level or total changed, and the scores of all levels. Returns whether there are more trees.
    pub(super) fn refresh(&mut self, changed: &NodeSet, totals: &[i64], levels: SeparateLevels<'_>) -> bool {
        let trees = self.trees.len();
        self.resize(totals.len(), levels.scores.len());
        if BestTree::are_many(changed, totals.len()) {
            self.refresh_many(changed, totals, levels.of_node);
        } else {
            for (word, bits) in changed.words() {
                for block in blocks_of(word, bits) {
                    self.refresh_block(block, bits >> (block % IN_WORD * BLOCK) & ALL, totals, levels.of_node);
                }
            }
        }
        self.scores.clear();
        self.scores.extend_from_slice(levels.scores);
        self.find_best();
        self.trees.len() > trees
    }

    fn resize(&mut self, slots: usize, levels: usize) {
        self.trees.resize_with(levels.max(self.trees.len()), BestTree::default);
        self.trees.iter_mut().for_each(|tree| tree.resize(slots));
        self.level_of.resize(slots.next_multiple_of(64), SeparateLevels::INFEASIBLE as u8);
    }

    fn refresh_block(&mut self, block: usize, changed: u64, totals: &[i64], of_node: &[u32]) {
        let first = block * BLOCK;
        let mut levels = 0_u32;
        for node in nodes_of(0, changed) {
            let at = first + node.get();
            let before = std::mem::replace(&mut self.level_of[at], of_node[at] as u8);
            levels |= 1 << before | 1 << of_node[at];
        }
        for level in levels_in(levels & !(1 << SeparateLevels::INFEASIBLE)) {
            let bits = nodes_with(&self.level_of, first, level);
            let tree = &mut self.trees[level];
            let best = tree.block(block).after_changes(changed, totals, bits, block);
            tree.set(block, best);
        }
    }

    #[inline(never)]
    fn refresh_many(&mut self, changed: &NodeSet, totals: &[i64], of_node: &[u32]) {
        for (word, _) in changed.words() {
            let nodes = word * 64..(word + 1) * 64;
            let of_word = self.level_of[nodes.clone()].iter_mut().zip(&of_node[nodes]);
            of_word.for_each(|(level, now)| *level = *now as u8);
            for block in (word * IN_WORD..(word + 1) * IN_WORD).take_while(|block| block * BLOCK < totals.len()) {
                for (level, tree) in self.trees.iter_mut().enumerate().skip(1) {
                    let bits = nodes_with(&self.level_of, block * BLOCK, level);
                    tree.set_block(block, BlockBest::of_block(totals, bits, block));
                }
            }
        }
        self.trees.iter_mut().for_each(BestTree::update_ancestors);
    }

    fn find_best(&mut self) {
        self.best = BlockBest::default();
        for (tree, score) in self.trees.iter().zip(&self.scores) {
            self.best = self.best.join(tree.root().with_score(*score));
        }
    }

    /// Returns the best of all nodes.
    #[inline]
    pub(super) fn best(&self) -> BlockBest {
        self.best
    }

    /// Returns the part of a node's total that its level determines.
    pub(super) fn score_of(&self, node: NodeIndex) -> i64 {
        self.scores[usize::from(self.level_of[node.get()])]
    }

    /// Returns the `k`-th of the best nodes, in the order of node indices.
    pub(super) fn kth(&self, mut k: u32) -> Option<NodeIndex> {
        let is_best = |level: &usize| {
            let root = self.trees[*level].root().with_score(self.scores[*level]);
            root.ties > 0 && root.total == self.best.total
        };
        let best = (0..self.scores.len()).filter(is_best).fold(0_u32, |levels, level| levels | 1 << level);
        if best.count_ones() == 1 {
            return self.trees[best.trailing_zeros() as usize].kth(k);
        }
        // All trees have the same shape.
        let left_ties = |at: usize| levels_in(best).map(move |level| self.trees[level].left_ties_of_best(at));
        let blocks = self.trees.last()?.blocks();
        let mut at = 1;
        while at < blocks {
            let left = left_ties(at).sum();
            let is_right = k >= left;
            k -= if is_right { left } else { 0 };
            at = 2 * at + usize::from(is_right);
        }
        kth_of_block(left_ties(at).fold(0, |nodes, of_level| nodes | of_level), at - blocks, k)
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.level_of.capacity() + self.trees.iter().map(BestTree::bytes).sum::<usize>()
    }
}

/// Returns the levels in a set.
fn levels_in(mut levels: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let level = (levels != 0).then(|| levels.trailing_zeros() as usize)?;
        levels &= levels - 1;
        Some(level)
    })
}

/// Returns the nodes of a block that have a level, one bit each. `first` is the first node of the block.
#[inline(always)]
fn nodes_with(level_of: &[u8], first: usize, level: usize) -> u64 {
    let levels = &level_of[first..first + BLOCK];
    levels.iter().rev().fold(0, |bits, &of_node| bits << 1 | u64::from(usize::from(of_node) == level))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SLOTS: usize = 1999;
    const LEVELS: u32 = 5;

    proptest! {
        #[test]
        fn the_best_of_all_levels_are_found_in_order(
            history in prop::collection::vec((0..SLOTS, -2i64..2, 0..LEVELS), 1..80),
            scores in prop::collection::vec(prop::collection::vec(-1i64..2, LEVELS as usize), 9),
            step in 1usize..9,
        ) {
            let (mut totals, mut of_node) = (vec![0; SLOTS], vec![SeparateLevels::INFEASIBLE; SLOTS.next_multiple_of(64)]);
            let mut best = BestByLevel::default();
            for (changes, scores) in history.chunks(step).zip(scores.iter().cycle()) {
                let mut changed = NodeSet::default();
                changed.reset(SLOTS);
                for &(node, total, level) in changes {
                    (totals[node], of_node[node]) = (total, level);
                    changed.insert(NodeIndex(node as u32));
                }
                best.refresh(&changed, &totals, SeparateLevels { of_node: &of_node, scores });

                let feasible = || (0..SLOTS).filter(|&node| of_node[node] != SeparateLevels::INFEASIBLE);
                let total = |node: usize| totals[node] + scores[of_node[node] as usize];
                let highest = feasible().map(total).max();
                let expected: Vec<usize> = feasible().filter(|&node| Some(total(node)) == highest).collect();
                prop_assert_eq!(best.best().total, highest.unwrap_or(i64::MIN));
                prop_assert_eq!(best.best().ties as usize, expected.len());
                let found: Vec<usize> = (0..best.best().ties).filter_map(|k| best.kth(k)).map(NodeIndex::get).collect();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(best.kth(u32::MAX), None);
                let of_levels = feasible().all(|node| totals[node] + best.score_of(NodeIndex(node as u32)) == total(node));
                prop_assert!(of_levels);
            }
        }
    }
}
