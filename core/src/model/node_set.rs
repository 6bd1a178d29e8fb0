//! Sparse sets of nodes.

use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};

/// A sparse set of nodes: the cost of clearing and iterating depends on its content, not on the size of the cluster.
#[derive(Clone, Debug, Default)]
pub struct NodeSet {
    bits: Vec<u64>,
    /// Indices of the words in `bits` that are not 0, in the order of their first insertions.
    words: Vec<u32>,
}

impl NodeSet {
    /// Clears the set, and resizes it to at least this number of node slots.
    #[inline]
    pub fn reset(&mut self, slots: usize) {
        self.clear();
        if self.bits.len() * 64 < slots {
            self.grow(slots);
        }
    }

    /// Clears the set.
    #[inline]
    pub fn clear(&mut self) {
        for &word in &self.words {
            self.bits[word as usize] = 0;
        }
        self.words.clear();
    }

    /// Resizes the set to at least this number of node slots.
    pub fn grow(&mut self, slots: usize) {
        if self.bits.len() < slots.div_ceil(64) {
            self.bits.resize(slots.div_ceil(64), 0);
        }
    }

    /// Inserts a node, for which the set must have been resized.
    #[inline]
    pub fn insert(&mut self, node: NodeIndex) {
        self.insert_word(node.get() / 64, 1 << (node.0 % 64));
    }

    /// Inserts a node. Returns whether it was not in the set.
    #[inline]
    pub fn insert_new(&mut self, node: NodeIndex) -> bool {
        let (word, bit) = (node.get() / 64, 1 << (node.0 % 64));
        let known = &mut self.bits[word];
        if *known & bit != 0 {
            return false;
        }
        if *known == 0 {
            self.words.push(word as u32);
        }
        *known |= bit;
        true
    }

    /// Inserts the nodes of one word of a [`NodeMask`].
    #[inline]
    pub fn insert_word(&mut self, word: usize, bits: u64) {
        if bits == 0 {
            return;
        }
        let known = &mut self.bits[word];
        if *known == 0 {
            self.words.push(word as u32);
        }
        *known |= bits;
    }

    /// Inserts all nodes of a node mask.
    pub fn insert_all(&mut self, nodes: &NodeMask) {
        for (word, &bits) in nodes.words().iter().enumerate() {
            self.insert_word(word, bits);
        }
    }

    /// Inserts all nodes of another set.
    #[inline]
    pub fn extend(&mut self, other: &NodeSet) {
        other.words().for_each(|(word, bits)| self.insert_word(word, bits));
    }

    /// Keeps only the nodes that `keep` returns; it is called for each word with nodes.
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(usize, u64) -> u64) {
        let bits = &mut self.bits;
        self.words.retain(|&word| {
            let kept = &mut bits[word as usize];
            *kept &= keep(word as usize, *kept);
            *kept != 0
        });
    }

    /// Sorts the words if many have nodes. Memory accesses in this order are faster.
    #[inline]
    pub fn sort_if_many(&mut self) {
        const MIN_WORDS: usize = 16;
        if self.words.len() >= MIN_WORDS {
            self.sort();
        }
    }

    #[inline(never)]
    fn sort(&mut self) {
        self.words.sort_unstable();
    }

    /// Returns whether a node is in the set.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.word(node.get() / 64) >> (node.0 % 64) & 1 == 1
    }

    /// Returns the nodes of one word.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.bits.get(word).copied().unwrap_or(0)
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words that are not empty, unordered, each with its nodes.
    #[inline]
    pub fn words(&self) -> impl ExactSizeIterator<Item = (usize, u64)> + '_ {
        self.words.iter().map(|&word| (word as usize, self.bits[word as usize]))
    }

    /// Returns the nodes, unordered.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.words().flat_map(|(word, bits)| nodes_of(word, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_inserted_twice_is_there_once() {
        let mut set = NodeSet::default();
        set.reset(200);
        [130, 3, 131, 3].map(NodeIndex).into_iter().for_each(|node| set.insert(node));
        assert_eq!(set.iter().collect::<Vec<_>>(), [130, 131, 3].map(NodeIndex));
        set.reset(200);
        assert!(set.is_empty() && !set.contains(NodeIndex(3)));
    }

    #[test]
    fn only_new_nodes_are_inserted() {
        let mut set = NodeSet::default();
        set.reset(200);
        let inserted = [130, 3, 131, 3, 130].map(|node| set.insert_new(NodeIndex(node)));
        assert_eq!(inserted, [true, true, true, false, false]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [130, 131, 3].map(NodeIndex));
    }

    #[test]
    fn many_nodes_are_sorted() {
        let mut set = NodeSet::default();
        set.reset(64 * 64);
        (0..60).rev().for_each(|word| set.insert(NodeIndex(word * 64 + 7)));
        set.sort_if_many();
        assert!(set.iter().eq((0..60).map(|word| NodeIndex(word * 64 + 7))));
    }
}
