//! What is best, or extreme, over blocks of nodes, and over all.

use crate::extension_points::Extent;
use crate::mask::Mask;
use crate::touched::Touched;

/// Nodes in a block: the leaves of a [`Tree`].
pub(super) const BLOCK: usize = 8;

/// The blocks of one word of a mask that have nodes in `bits`.
#[inline]
pub(super) fn blocks_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    const IN_WORD: usize = 64 / BLOCK;
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let block = bits.trailing_zeros() as usize / BLOCK;
        bits &= !(((1 << BLOCK) - 1) << (block * BLOCK));
        Some(word * IN_WORD + block)
    })
}

/// The values of the feasible nodes of a block.
#[inline(always)]
pub(super) fn each_of_block(values: &[i64], feasible: &Mask, block: usize, mut take: impl FnMut(i64)) {
    const ALL: u64 = (1 << BLOCK) - 1;
    let (first, mut bits) = (block * BLOCK, feasible.block(block, BLOCK));
    if bits == ALL {
        // The usual case, without a question for each node.
        values[first..first + BLOCK].iter().for_each(|&value| take(value));
        return;
    }
    while bits != 0 {
        take(values[first + bits.trailing_zeros() as usize]);
        bits &= bits - 1;
    }
}

/// What blocks can be summed up by. The default is that of no node.
pub(super) trait Summary: Copy + Default + PartialEq {
    /// Of both, the nodes of `self` first.
    fn join(self, other: Self) -> Self;
}

/// A summary of each block of nodes, of pairs of blocks, and so on to that of all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree<S> {
    /// The root is at 1, the children of `n` at `2n` and `2n + 1`; blocks are the second half. A power of two of them.
    nodes: Vec<S>,
    /// Number of blocks that there are slots of nodes for.
    used: usize,
}

impl<S: Summary> Tree<S> {
    /// Makes room for the blocks of so many slots of nodes; new ones are empty.
    pub(super) fn resize(&mut self, slots: usize) {
        self.used = self.used.max(slots.div_ceil(BLOCK));
        let blocks = self.used.next_power_of_two();
        if blocks <= self.blocks() {
            return;
        }
        let leaves = self.nodes.split_off(self.blocks());
        self.nodes.clear();
        self.nodes.resize(2 * blocks, S::default());
        self.nodes[blocks..][..leaves.len()].copy_from_slice(&leaves);
        self.sum_up();
    }

    fn blocks(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Sums every block up anew.
    pub(super) fn fill(&mut self, block: impl Fn(usize) -> S) {
        let blocks = self.blocks();
        for (at, leaf) in self.nodes[blocks..][..self.used].iter_mut().enumerate() {
            *leaf = block(at);
        }
        self.sum_up();
    }

    /// Sums the blocks of touched nodes up anew.
    #[inline]
    pub(super) fn refresh(&mut self, touched: &Touched, summary: impl Fn(usize) -> S) {
        // A way to the root for each block is longer than all of the tree if they are many.
        if touched.words().len() * 64 < self.used {
            for (word, bits) in touched.words() {
                blocks_of(word, bits).for_each(|block| self.set(block, summary(block)));
            }
            return;
        }
        let first = self.blocks();
        for (word, bits) in touched.words() {
            blocks_of(word, bits).for_each(|block| self.nodes[first + block] = summary(block));
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let (mut first, mut used) = (self.blocks(), self.used);
        while first > 1 {
            (first, used) = (first / 2, used.div_ceil(2));
            for at in first..first + used {
                self.nodes[at] = self.nodes[2 * at].join(self.nodes[2 * at + 1]);
            }
        }
    }

    /// Takes a block's new summary in.
    #[inline]
    pub(super) fn set(&mut self, block: usize, summary: S) {
        let mut at = self.blocks() + block;
        if self.nodes[at] == summary {
            return;
        }
        self.nodes[at] = summary;
        while at > 1 {
            at /= 2;
            let joined = self.nodes[2 * at].join(self.nodes[2 * at + 1]);
            if self.nodes[at] == joined {
                return;
            }
            self.nodes[at] = joined;
        }
    }

    /// The summary of all nodes.
    #[inline]
    pub(super) fn root(&self) -> S {
        self.nodes.get(1).copied().unwrap_or_default()
    }

    /// What it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<S>()
    }
}

impl Summary for Extent {
    #[inline]
    fn join(self, other: Self) -> Self {
        Extent { max: self.max.max(other.max), min: self.min.min(other.min) }
    }
}

/// The highest total, and how many nodes have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Best {
    /// The total.
    pub(crate) total: i64,
    /// Number of nodes; 0 if no node is feasible.
    pub(crate) ties: u32,
}

impl Best {
    /// Takes another node's total in.
    #[inline(always)]
    pub(super) fn include(&mut self, total: i64) {
        if self.ties == 0 || total > self.total {
            *self = Best { total, ties: 1 };
        } else if total == self.total {
            self.ties += 1;
        }
    }
}

impl Default for Best {
    fn default() -> Self {
        Best { total: i64::MIN, ties: 0 }
    }
}

impl Summary for Best {
    #[inline]
    fn join(self, other: Self) -> Self {
        match (self.ties, other.ties) {
            (_, 0) => self,
            (0, _) => other,
            _ if self.total == other.total => Best { total: self.total, ties: self.ties + other.ties },
            _ if self.total > other.total => self,
            _ => other,
        }
    }
}

impl Tree<Best> {
    /// The block with the `k`-th of the best nodes, and which of those in the block it is.
    #[inline]
    pub(super) fn kth(&self, mut k: u32) -> (usize, u32) {
        let best = self.root().total;
        let mut at = 1;
        while at < self.blocks() {
            let left = self.nodes[2 * at];
            let on_the_left = if left.total == best { left.ties } else { 0 };
            at *= 2;
            if k >= on_the_left {
                k -= on_the_left;
                at += 1;
            }
        }
        (at - self.blocks(), k)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One summary a block, as if each held one node.
    fn best_of(totals: &[i64]) -> Tree<Best> {
        let mut tree = Tree::default();
        tree.resize(totals.len() * BLOCK);
        for (block, &total) in totals.iter().enumerate() {
            tree.set(block, Best { total, ties: 1 });
        }
        tree
    }

    proptest! {
        #[test]
        fn every_one_of_the_best_is_found_in_order(totals in prop::collection::vec(-3i64..3, 1..40)) {
            let tree = best_of(&totals);
            let best = *totals.iter().max().expect("not empty");
            let expected: Vec<usize> = (0..totals.len()).filter(|&block| totals[block] == best).collect();
            prop_assert_eq!(tree.root(), Best { total: best, ties: expected.len() as u32 });
            let found: Vec<usize> = (0..tree.root().ties).map(|k| tree.kth(k).0).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_tree_that_grows_keeps_its_blocks(first in prop::collection::vec(-3i64..3, 1..9), new in -3i64..3) {
            let mut grown = best_of(&first);
            grown.resize((first.len() + 1) * BLOCK);
            grown.set(first.len(), Best { total: new, ties: 1 });
            let all: Vec<i64> = first.iter().copied().chain([new]).collect();
            prop_assert_eq!(grown.root(), best_of(&all).root());
        }
    }
}
