//! Best totals of blocks of nodes, and of all nodes.

use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;

/// Number of nodes in a block, which is a leaf of a [`BestTree`].
pub(super) const BLOCK: usize = 8;
/// Number of blocks in a word of a node mask.
const IN_WORD: usize = 64 / BLOCK;

/// Returns the blocks of one word of a node mask that have nodes in `bits`.
#[inline]
fn blocks_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let block = bits.trailing_zeros() as usize / BLOCK;
        bits &= !(((1 << BLOCK) - 1) << (block * BLOCK));
        Some(word * IN_WORD + block)
    })
}

/// The highest total, and the number of nodes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockBest {
    /// The total.
    pub(crate) total: i64,
    /// Number of nodes with it; 0 if no node is feasible.
    pub(crate) ties: u32,
    /// Number of these nodes in the left child, if there are children.
    left_ties: u32,
}

impl Default for BlockBest {
    fn default() -> Self {
        BlockBest { total: i64::MIN, ties: 0, left_ties: 0 }
    }
}

impl BlockBest {
    /// Combines two values. Without branches, which the CPU could not predict: without nodes, zero ties are added.
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        let total = self.total.max(other.total);
        let ties = |of: BlockBest| if of.total == total { of.ties } else { 0 };
        let left_ties = ties(self);
        BlockBest { total, ties: left_ties + ties(other), left_ties }
    }

    /// Returns the best of the feasible nodes of a block.
    #[inline(always)]
    fn of_block(totals: &[i64], feasible: &NodeMask, block: usize) -> BlockBest {
        const ALL: u64 = (1 << BLOCK) - 1;
        let (first, bits) = (block * BLOCK, feasible.block(block, BLOCK));
        let mut best = BlockBest::default();
        if bits == ALL
            && let Some(totals) = totals.get(first..).and_then(<[i64]>::first_chunk::<BLOCK>)
        {
            // The usual case, without a branch for each node.
            for &total in totals {
                best.total = best.total.max(total);
            }
            for &total in totals {
                best.ties += u32::from(total == best.total);
            }
            return best;
        }
        for node in nodes_of(0, bits) {
            best = best.join(BlockBest { total: totals[first + node.get()], ties: 1, left_ties: 0 });
        }
        BlockBest { left_ties: 0, ..best }
    }
}

/// The best of each block of nodes, of pairs of blocks, and so on up to all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct BestTree {
    /// The root is at 1, the children of `n` are at `2n` and `2n + 1`; blocks are the second half. The number of blocks
    /// is a power of two.
    nodes: Vec<BlockBest>,
    /// Number of blocks with node slots.
    used: usize,
}

impl BestTree {
    /// Resizes to this number of node slots; new blocks are empty.
    pub(super) fn resize(&mut self, slots: usize) {
        self.used = self.used.max(slots.div_ceil(BLOCK));
        let blocks = self.used.next_power_of_two();
        if blocks <= self.blocks() {
            return;
        }
        let leaves = self.nodes.split_off(self.blocks());
        self.nodes.clear();
        self.nodes.resize(2 * blocks, BlockBest::default());
        self.nodes[blocks..][..leaves.len()].copy_from_slice(&leaves);
        self.update_ancestors();
    }

    #[inline]
    fn blocks(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Removes the best of all blocks.
    pub(super) fn clear(&mut self) {
        self.nodes.fill(BlockBest::default());
    }

    /// Computes the blocks of these nodes.
    #[inline]
    pub(super) fn refresh(&mut self, changed: &NodeSet, totals: &[i64], feasible: &NodeMask) {
        // For many blocks, the paths to the root are longer than the whole tree.
        if changed.words().len() * 64 >= self.used {
            return self.refresh_many(changed, totals, feasible);
        }
        for (word, bits) in changed.words() {
            for block in blocks_of(word, bits) {
                self.set(block, BlockBest::of_block(totals, feasible, block));
            }
        }
    }

    #[inline(never)]
    fn refresh_many(&mut self, changed: &NodeSet, totals: &[i64], feasible: &NodeMask) {
        let blocks = self.blocks();
        let leaves = &mut self.nodes[blocks..][..self.used];
        for (word, _) in changed.words() {
            let first = word * IN_WORD;
            for (at, leaf) in leaves[first..].iter_mut().take(IN_WORD).enumerate() {
                *leaf = BlockBest::of_block(totals, feasible, first + at);
            }
        }
        self.update_ancestors();
    }

    fn update_ancestors(&mut self) {
        let (mut first, mut used) = (self.blocks(), self.used);
        while first > 1 {
            let (above, below) = self.nodes.split_at_mut(first);
            (first, used) = (first / 2, used.div_ceil(2));
            let (pairs, _) = below.as_chunks();
            for (node, [left, right]) in above[first..first + used].iter_mut().zip(pairs) {
                *node = left.join(*right);
            }
        }
    }

    /// Sets the best of a block, and updates its ancestors.
    #[inline]
    pub(super) fn set(&mut self, block: usize, mut best: BlockBest) {
        let mut at = self.blocks() + block;
        let (pairs, _) = self.nodes.as_chunks_mut::<2>();
        loop {
            let pair = &mut pairs[at / 2];
            if pair[at % 2] == best {
                return;
            }
            pair[at % 2] = best;
            if at <= 1 {
                return;
            }
            best = pair[0].join(pair[1]);
            at /= 2;
        }
    }

    /// Returns the best of all nodes.
    #[inline]
    pub(super) fn root(&self) -> BlockBest {
        self.nodes.get(1).copied().unwrap_or_default()
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<BlockBest>()
    }

    /// Returns the block with the `k`-th of the best nodes, and the number of this node among the best of the block.
    #[inline]
    pub(super) fn kth(&self, mut k: u32) -> (usize, u32) {
        // Every node on the path has the total of the root.
        let (inner, _) = self.nodes.split_at(self.blocks());
        let mut at = 1;
        while let Some(&BlockBest { left_ties, .. }) = inner.get(at) {
            let is_right = k >= left_ties;
            k -= if is_right { left_ties } else { 0 };
            at = 2 * at + usize::from(is_right);
        }
        (at - inner.len(), k)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a tree as if each block had one node.
    fn best_of(totals: &[i64]) -> BestTree {
        let mut tree = BestTree::default();
        tree.resize(totals.len() * BLOCK);
        for (block, &total) in totals.iter().enumerate() {
            tree.set(block, BlockBest { total, ties: 1, left_ties: 0 });
        }
        tree
    }

    proptest! {
        #[test]
        fn every_one_of_the_best_is_found_in_order(totals in prop::collection::vec(-3i64..3, 1..40)) {
            let tree = best_of(&totals);
            let best = *totals.iter().max().expect("not empty");
            let expected: Vec<usize> = (0..totals.len()).filter(|&block| totals[block] == best).collect();
            prop_assert_eq!((tree.root().total, tree.root().ties), (best, expected.len() as u32));
            let found: Vec<usize> = (0..tree.root().ties).map(|k| tree.kth(k).0).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_tree_that_grows_keeps_its_blocks(first in prop::collection::vec(-3i64..3, 1..9), new in -3i64..3) {
            let mut grown = best_of(&first);
            grown.resize((first.len() + 1) * BLOCK);
            grown.set(first.len(), BlockBest { total: new, ties: 1, left_ties: 0 });
            let all: Vec<i64> = first.iter().copied().chain([new]).collect();
            prop_assert_eq!(grown.root(), best_of(&all).root());
        }
    }
}
