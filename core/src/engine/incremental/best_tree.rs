//! Best totals of blocks of nodes, and of all nodes.

use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;

/// Number of nodes in a block, which is a leaf of a [`BestTree`].
pub(super) const BLOCK: usize = 8;
/// All nodes of a block.
pub(super) const ALL: u64 = (1 << BLOCK) - 1;
/// Number of nodes in each set of nodes of a block. A lookup takes one instruction; counting bits takes ten, without
/// CPU support.
const COUNTS: [u8; 1 << BLOCK] = {
    let mut counts = [0; 1 << BLOCK];
    let mut nodes = 0;
    while nodes < counts.len() {
        counts[nodes] = nodes.count_ones() as u8;
        nodes += 1;
    }
    counts
};
/// Number of blocks in a word of a node mask.
pub(super) const IN_WORD: usize = 64 / BLOCK;

/// Returns the blocks of one word of a node mask that have nodes in `bits`.
#[inline]
pub(super) fn blocks_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
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
    pub(crate) total: i32,
    /// Number of nodes with it; 0 if no node is feasible.
    pub(crate) ties: u32,
    /// Number of these nodes in the left child. For a block, the set of these nodes, one bit each.
    left_ties: u32,
}

impl Default for BlockBest {
    fn default() -> Self {
        BlockBest { total: i32::MIN, ties: 0, left_ties: 0 }
    }
}

impl BlockBest {
    /// Combines two values, without branches, which the CPU could not predict. A value without nodes adds zero ties.
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        let total = self.total.max(other.total);
        let ties = |of: BlockBest| if of.total == total { of.ties } else { 0 };
        let left_ties = ties(self);
        BlockBest { total, ties: left_ties + ties(other), left_ties }
    }

    /// Adds a score to the total, if there are nodes.
    #[inline(always)]
    pub(super) fn with_score(self, score: i32) -> Self {
        BlockBest { total: if self.ties == 0 { i32::MIN } else { self.total.wrapping_add(score) }, ..self }
    }

    /// Returns the best of some nodes of a block, one bit each.
    #[inline(always)]
    pub(super) fn of_block(totals: &[i32], bits: u64, block: usize) -> BlockBest {
        let first = block * BLOCK;
        let (mut total, mut nodes) = (i32::MIN, 0);
        if let Some(totals) = totals.get(first..).and_then(<[i32]>::first_chunk::<BLOCK>) {
            // Without a branch for each node.
            for (at, &of_node) in totals.iter().enumerate() {
                total = total.max(if bits >> at & 1 == 1 { of_node } else { i32::MIN });
            }
            for &of_node in totals.iter().rev() {
                nodes = nodes << 1 | u32::from(of_node == total);
            }
            nodes &= bits as u32;
        } else {
            for node in nodes_of(0, bits) {
                let of_node = totals[first + node.get()];
                nodes = if of_node > total { 0 } else { nodes };
                total = total.max(of_node);
                nodes |= u32::from(of_node == total) << node.0;
            }
        }
        BlockBest::of_nodes(total, nodes)
    }

    /// Makes the best of a block from its highest total and the nodes with it, one bit each.
    #[inline(always)]
    fn of_nodes(total: i32, nodes: u32) -> BlockBest {
        BlockBest { total, ties: COUNTS[nodes as usize % COUNTS.len()].into(), left_ties: nodes }
    }

    /// Returns the best of the nodes `bits` of a block after changes of some nodes, one bit each. Other nodes are read only
    /// if all of the best have become worse.
    #[inline(always)]
    pub(super) fn after_changes(self, changed: u64, totals: &[i32], bits: u64, block: usize) -> BlockBest {
        let first = block * BLOCK;
        let (mut total, mut nodes) = (self.total, self.left_ties & !(changed as u32));
        for node in nodes_of(0, changed & bits) {
            let of_node = totals[first + node.get()];
            nodes = if of_node > total { 0 } else { nodes };
            total = total.max(of_node);
            nodes |= u32::from(of_node == total) << node.0;
        }
        if nodes == 0 { BlockBest::of_block(totals, bits, block) } else { BlockBest::of_nodes(total, nodes) }
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

    /// Returns the number of blocks.
    #[inline]
    pub(super) fn blocks(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Empties all blocks.
    pub(super) fn clear(&mut self) {
        self.nodes.fill(BlockBest::default());
    }

    /// Returns whether nodes are so many that the paths from their blocks to the root are longer than the whole tree. A
    /// single word has few blocks, and usually a single node.
    #[inline(always)]
    pub(super) fn are_many(nodes: &NodeSet, slots: usize) -> bool {
        let words = nodes.words().len();
        words > 1 && words * 64 * BLOCK >= slots
    }

    /// Computes the blocks of changed nodes and their ancestors again.
    #[inline]
    pub(super) fn refresh(&mut self, changed: &NodeSet, totals: &[i32], feasible: &NodeMask) {
        if Self::are_many(changed, totals.len()) {
            return self.refresh_many(changed, totals, feasible);
        }
        for (word, bits) in changed.words() {
            for block in blocks_of(word, bits) {
                let changed = bits >> (block % IN_WORD * BLOCK) & ALL;
                let bits = feasible.block(block, BLOCK);
                let best = self.block(block).after_changes(changed, totals, bits, block);
                self.set(block, best);
            }
        }
    }

    #[inline(never)]
    fn refresh_many(&mut self, changed: &NodeSet, totals: &[i32], feasible: &NodeMask) {
        let blocks = self.blocks();
        let leaves = &mut self.nodes[blocks..][..self.used];
        for (word, _) in changed.words() {
            let first = word * IN_WORD;
            for (at, leaf) in leaves[first..].iter_mut().take(IN_WORD).enumerate() {
                *leaf = BlockBest::of_block(totals, feasible.block(first + at, BLOCK), first + at);
            }
        }
        self.update_ancestors();
    }

    /// Computes all inner nodes again.
    pub(super) fn update_ancestors(&mut self) {
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

    /// Returns the best of a block.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> BlockBest {
        self.nodes[self.blocks() + block]
    }

    /// Sets the best of a block, but does not update its ancestors.
    #[inline]
    pub(super) fn set_block(&mut self, block: usize, best: BlockBest) {
        let at = self.blocks() + block;
        self.nodes[at] = best;
    }

    /// Returns the number of the best nodes below the left child of a tree node; the set of the best nodes if the tree node is a
    /// block.
    #[inline]
    pub(super) fn left_ties_of_best(&self, at: usize) -> u32 {
        let BlockBest { total, left_ties, .. } = self.nodes[at];
        if total == self.root().total { left_ties } else { 0 }
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

    /// Returns the size of the tree in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<BlockBest>()
    }

    /// Returns the `k`-th of the best nodes, in the order of node indices.
    #[inline]
    pub(super) fn kth(&self, mut k: u32) -> Option<NodeIndex> {
        // Every entry on the path has the total of the root.
        let (inner, blocks) = self.nodes.split_at(self.blocks());
        let mut at = 1;
        while let Some(&BlockBest { left_ties, .. }) = inner.get(at) {
            let is_right = k >= left_ties;
            k -= if is_right { left_ties } else { 0 };
            at = 2 * at + usize::from(is_right);
        }
        let block = at - inner.len();
        kth_of_block(blocks.get(block)?.left_ties, block, k)
    }
}

/// Returns the `k`-th of some nodes of a block, one bit each. A `k` beyond their number returns `None`.
#[inline(always)]
pub(super) fn kth_of_block(mut nodes: u32, block: usize, k: u32) -> Option<NodeIndex> {
    (0..k.min(BLOCK as u32)).for_each(|_| nodes &= nodes.wrapping_sub(1));
    (nodes != 0).then(|| NodeIndex(block as u32 * BLOCK as u32 + nodes.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a tree with one node in each block.
    fn best_of(totals: &[i32]) -> BestTree {
        let mut tree = BestTree::default();
        tree.resize(totals.len() * BLOCK);
        for (block, &total) in totals.iter().enumerate() {
            tree.set(block, BlockBest { total, ties: 1, left_ties: 1 });
        }
        tree
    }

    proptest! {
        #[test]
        fn every_one_of_the_best_is_found_in_order(totals in prop::collection::vec(-3i32..3, 1..40)) {
            let tree = best_of(&totals);
            let best = *totals.iter().max().expect("not empty");
            let expected: Vec<usize> = (0..totals.len()).filter(|&block| totals[block] == best).collect();
            prop_assert_eq!((tree.root().total, tree.root().ties), (best, expected.len() as u32));
            let found: Vec<_> = (0..tree.root().ties).filter_map(|k| tree.kth(k)).map(|node| node.get() / BLOCK).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn the_best_nodes_are_found_after_changes(
            history in prop::collection::vec((0usize..1999, -2i32..2, any::<bool>()), 1..60),
            step in 1usize..9,
        ) {
            let (mut totals, mut feasible) = (vec![0; 1999], NodeMask::default());
            feasible.resize(totals.len());
            let mut tree = BestTree::default();
            tree.resize(totals.len());
            for changes in history.chunks(step) {
                let mut changed = NodeSet::default();
                changed.reset(totals.len());
                for &(node, total, is_feasible) in changes {
                    let index = NodeIndex(node as u32);
                    totals[node] = total;
                    if is_feasible { feasible.insert(index) } else { feasible.remove(index) }
                    changed.insert(index);
                }
                tree.refresh(&changed, &totals, &feasible);
                let best = feasible.iter().map(|node| totals[node.get()]).max();
                let expected: Vec<_> = feasible.iter().filter(|node| Some(totals[node.get()]) == best).collect();
                prop_assert_eq!(best.unwrap_or(i32::MIN), tree.root().total);
                let found: Vec<_> = (0..tree.root().ties).filter_map(|k| tree.kth(k)).collect();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(tree.kth(u32::MAX), None);
            }
        }

        #[test]
        fn a_tree_that_grows_keeps_its_blocks(first in prop::collection::vec(-3i32..3, 1..9), new in -3i32..3) {
            let mut grown = best_of(&first);
            grown.resize((first.len() + 1) * BLOCK);
            grown.set(first.len(), BlockBest { total: new, ties: 1, left_ties: 1 });
            let all: Vec<i32> = first.iter().copied().chain([new]).collect();
            prop_assert_eq!(grown.root(), best_of(&all).root());
        }
    }
}
