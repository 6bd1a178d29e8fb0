//! Best totals of words of 64 nodes, and of all nodes.

use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;

/// Number of nodes in a word of a node mask, which is a leaf of a [`BestTree`].
pub(super) const WORD: usize = 64;
/// Number of nodes whose bits are combined in a vector of 32-bit integers.
const HALF: usize = 32;
/// The bit of each node.
const BITS: [u32; HALF] = {
    let mut bits = [0; HALF];
    let mut node = 0;
    while node < HALF {
        bits[node] = 1 << node;
        node += 1;
    }
    bits
};
/// If at least one in this many words changed, updating the whole tree is faster than updating the path of each changed
/// word.
const WORDS_PER_CHANGE: usize = 8;

/// The highest total, and the number of nodes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Best {
    /// The total.
    pub(crate) total: i32,
    /// Number of nodes with it; 0 if no node is feasible.
    pub(crate) ties: u32,
    /// Number of these nodes in the left child.
    left_ties: u32,
}

impl Default for Best {
    fn default() -> Self {
        Best { total: i32::MIN, ties: 0, left_ties: 0 }
    }
}

impl Best {
    /// Combines two values, without branches, which the CPU could not predict. A value without nodes adds zero ties.
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        let total = self.total.max(other.total);
        let ties = |of: Best| if of.total == total { of.ties } else { 0 };
        let left_ties = ties(self);
        Best { total, ties: left_ties + ties(other), left_ties }
    }

    /// Adds a score to the total, if there are nodes.
    #[inline(always)]
    pub(super) fn with_score(self, score: i32) -> Self {
        Best { total: if self.ties == 0 { i32::MIN } else { self.total.wrapping_add(score) }, ..self }
    }
}

/// The highest total of some nodes of a word, and the nodes with it, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BestOfWord {
    total: i32,
    nodes: u64,
}

impl BestOfWord {
    /// Returns the best of some nodes of a word, one bit each.
    #[inline]
    pub(super) fn new(totals: &[i32], bits: u64, word: usize) -> Self {
        let totals = &totals[word * WORD..];
        match totals.first_chunk::<WORD>() {
            Some(totals) if bits == u64::MAX => Self::of_all(totals),
            Some(totals) => {
                let best = Self::of_all(&only(totals, bits));
                BestOfWord { nodes: best.nodes & bits, ..best }
            }
            None => BestOfWord { total: i32::MIN, nodes: 0 }.or_better(totals, bits),
        }
    }

    fn of_all(totals: &[i32; WORD]) -> Self {
        let total = highest(totals);
        BestOfWord { total, nodes: nodes_with(totals, total) }
    }

    /// Returns the best of this value and of the nodes `bits` of the word.
    #[inline(always)]
    fn or_better(self, totals: &[i32], bits: u64) -> Self {
        let BestOfWord { mut total, mut nodes } = self;
        for node in nodes_of(0, bits) {
            let of_node = totals[node.get()];
            nodes = if of_node > total { 0 } else { nodes };
            total = total.max(of_node);
            nodes |= u64::from(of_node == total) << node.0;
        }
        BestOfWord { total, nodes }
    }

    /// Returns the best of the nodes `bits` after changes of some nodes, one bit each. Other nodes are read only if all
    /// of the best have become worse.
    #[inline(always)]
    pub(super) fn after_changes(self, changed: u64, totals: &[i32], bits: u64, word: usize) -> Self {
        let unchanged = BestOfWord { nodes: self.nodes & !changed, ..self };
        let best = unchanged.or_better(&totals[word * WORD..], changed & bits);
        if best.nodes == 0 { BestOfWord::new(totals, bits, word) } else { best }
    }
}

// These functions are not inlined, because otherwise the compiler unrolls their loops before it finds vector
// instructions for them.

#[inline(never)]
fn highest(totals: &[i32; WORD]) -> i32 {
    totals.iter().copied().fold(i32::MIN, i32::max)
}

/// Returns the nodes with a total, one bit each.
#[inline(never)]
fn nodes_with(totals: &[i32; WORD], total: i32) -> u64 {
    let (halves, _) = totals.as_chunks::<HALF>();
    halves.iter().rev().fold(0, |nodes, half| {
        let bits = half.iter().zip(BITS).map(|(&of_node, bit)| if of_node == total { bit } else { 0 });
        nodes << HALF | u64::from(bits.fold(0, |nodes, bit| nodes | bit))
    })
}

/// Returns the totals of the nodes `bits`, and the lowest value for the others.
#[inline(never)]
fn only(totals: &[i32; WORD], bits: u64) -> [i32; WORD] {
    let mut some = [i32::MIN; WORD];
    let halves = some.as_chunks_mut::<HALF>().0.iter_mut().zip(totals.as_chunks::<HALF>().0);
    for ((some, totals), bits) in halves.zip([bits as u32, (bits >> HALF) as u32]) {
        for ((of_node, &total), bit) in some.iter_mut().zip(totals).zip(BITS) {
            *of_node = if bits & bit != 0 { total } else { i32::MIN };
        }
    }
    some
}

/// The best of each word of nodes, of pairs of words, and so on up to all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct BestTree {
    /// The root is at 1, the children of `n` are at `2n` and `2n + 1`; words are the second half. The number of words
    /// is a power of two.
    tree: Vec<Best>,
    /// For each word with node slots, the nodes with its highest total.
    nodes: Vec<u64>,
}

impl BestTree {
    /// Resizes to this number of node slots; new words are empty.
    pub(super) fn resize(&mut self, slots: usize) {
        let used = self.nodes.len().max(slots.div_ceil(WORD));
        self.nodes.resize(used, 0);
        let words = used.next_power_of_two();
        if words <= self.words() {
            return;
        }
        let leaves = self.tree.split_off(self.words());
        self.tree.clear();
        self.tree.resize(2 * words, Best::default());
        self.tree[words..][..leaves.len()].copy_from_slice(&leaves);
        self.update_ancestors();
    }

    /// Returns the number of words.
    #[inline]
    pub(super) fn words(&self) -> usize {
        self.tree.len() / 2
    }

    /// Empties all words.
    pub(super) fn clear(&mut self) {
        self.tree.fill(Best::default());
        self.nodes.fill(0);
    }

    /// Returns whether nodes are so many that the paths from their words to the root are longer than the whole tree. A
    /// single word, which usually contains a single changed node, has one path.
    #[inline(always)]
    pub(super) fn are_many(nodes: &NodeSet, slots: usize) -> bool {
        let words = nodes.words().len();
        words > 1 && words * WORD * WORDS_PER_CHANGE >= slots
    }

    /// Computes the words of changed nodes and their ancestors again.
    #[inline]
    pub(super) fn refresh(&mut self, changed: &NodeSet, totals: &[i32], feasible: &NodeMask) {
        if Self::are_many(changed, totals.len()) {
            return self.refresh_many(changed, totals, feasible);
        }
        for (word, changed) in changed.words() {
            let best = self.word(word).after_changes(changed, totals, feasible.words()[word], word);
            self.set(word, best);
        }
    }

    #[inline(never)]
    fn refresh_many(&mut self, changed: &NodeSet, totals: &[i32], feasible: &NodeMask) {
        for (word, _) in changed.words() {
            self.set_word(word, BestOfWord::new(totals, feasible.words()[word], word));
        }
        self.update_ancestors();
    }

    /// Computes all inner nodes again.
    pub(super) fn update_ancestors(&mut self) {
        let (mut first, mut used) = (self.words(), self.nodes.len());
        while first > 1 {
            let (above, below) = self.tree.split_at_mut(first);
            (first, used) = (first / 2, used.div_ceil(2));
            let (pairs, _) = below.as_chunks();
            for (node, [left, right]) in above[first..first + used].iter_mut().zip(pairs) {
                *node = left.join(*right);
            }
        }
    }

    /// Returns the best of a word.
    #[inline(always)]
    pub(super) fn word(&self, word: usize) -> BestOfWord {
        BestOfWord { total: self.tree[self.words() + word].total, nodes: self.nodes[word] }
    }

    /// Sets the best of a word, but does not update its ancestors.
    #[inline]
    pub(super) fn set_word(&mut self, word: usize, BestOfWord { total, nodes }: BestOfWord) {
        let at = self.words() + word;
        self.nodes[word] = nodes;
        self.tree[at] = Best { total, ties: nodes.count_ones(), left_ties: 0 };
    }

    /// Returns the number of the best nodes below the left child of a tree node that is not a word.
    #[inline]
    pub(super) fn left_ties_of_best(&self, at: usize) -> u32 {
        let Best { total, left_ties, .. } = self.tree[at];
        if total == self.root().total { left_ties } else { 0 }
    }

    /// Returns the best nodes of a word, one bit each.
    #[inline]
    pub(super) fn best_nodes(&self, word: usize) -> u64 {
        let BestOfWord { total, nodes } = self.word(word);
        if total == self.root().total { nodes } else { 0 }
    }

    /// Sets the best of a word, and updates its ancestors.
    #[inline]
    pub(super) fn set(&mut self, word: usize, BestOfWord { total, nodes }: BestOfWord) {
        self.nodes[word] = nodes;
        let mut best = Best { total, ties: nodes.count_ones(), left_ties: 0 };
        let mut at = self.words() + word;
        let (pairs, _) = self.tree.as_chunks_mut::<2>();
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
    pub(super) fn root(&self) -> Best {
        self.tree.get(1).copied().unwrap_or_default()
    }

    /// Returns the size of the tree in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.tree.capacity() * size_of::<Best>() + self.nodes.capacity() * size_of::<u64>()
    }

    /// Returns the `k`-th of the best nodes, in the order of node indices.
    #[inline]
    pub(super) fn kth(&self, mut k: u32) -> Option<NodeIndex> {
        // Every entry on the path has the total of the root.
        let (inner, _) = self.tree.split_at(self.words());
        let mut at = 1;
        while let Some(&Best { left_ties, .. }) = inner.get(at) {
            let is_right = k >= left_ties;
            k -= if is_right { left_ties } else { 0 };
            at = 2 * at + usize::from(is_right);
        }
        let word = at - inner.len();
        kth_of_word(*self.nodes.get(word)?, word, k)
    }
}

/// Returns the `k`-th of some nodes of a word, one bit each. A `k` beyond their number returns `None`.
#[inline(always)]
pub(super) fn kth_of_word(mut nodes: u64, word: usize, k: u32) -> Option<NodeIndex> {
    (0..k.min(WORD as u32)).for_each(|_| nodes &= nodes.wrapping_sub(1));
    (nodes != 0).then(|| NodeIndex(word as u32 * WORD as u32 + nodes.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds a tree with one node in each word.
    fn best_of(totals: &[i32]) -> BestTree {
        let mut tree = BestTree::default();
        tree.resize(totals.len() * WORD);
        for (word, &total) in totals.iter().enumerate() {
            tree.set(word, BestOfWord { total, nodes: 1 });
        }
        tree
    }

    proptest! {
        #[test]
        fn every_one_of_the_best_is_found_in_order(totals in prop::collection::vec(-3i32..3, 1..40)) {
            let tree = best_of(&totals);
            let best = *totals.iter().max().expect("not empty");
            let expected: Vec<usize> = (0..totals.len()).filter(|&word| totals[word] == best).collect();
            prop_assert_eq!((tree.root().total, tree.root().ties), (best, expected.len() as u32));
            let found = (0..tree.root().ties).filter_map(|k| tree.kth(k)).map(|node| node.get() / WORD);
            let found: Vec<_> = found.collect();
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
        fn a_tree_that_grows_keeps_its_words(first in prop::collection::vec(-3i32..3, 1..9), new in -3i32..3) {
            let mut grown = best_of(&first);
            grown.resize((first.len() + 1) * WORD);
            grown.set(first.len(), BestOfWord { total: new, nodes: 1 });
            let all: Vec<i32> = first.iter().copied().chain([new]).collect();
            prop_assert_eq!(grown.root(), best_of(&all).root());
        }
    }
}
