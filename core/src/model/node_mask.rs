//! Dense sets of nodes, one bit each.

use crate::model::NodeIndex;

/// A set of nodes: bit `n % 64` of word `n / 64` is node `n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMask {
    words: Vec<u64>,
}

impl NodeMask {
    /// Resizes the set to `nodes` nodes; new ones are not in it.
    pub fn resize(&mut self, nodes: usize) {
        self.words.resize(nodes.div_ceil(64), 0);
    }

    /// Returns whether the node is in the set; false beyond its end.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.words.get(node.get() / 64).is_some_and(|word| word >> (node.0 % 64) & 1 == 1)
    }

    /// Inserts a node, for which the set must have been resized.
    #[inline]
    pub fn insert(&mut self, node: NodeIndex) {
        self.words[node.get() / 64] |= 1 << (node.0 % 64);
    }

    /// Removes a node, for which the set must have been resized.
    #[inline]
    pub fn remove(&mut self, node: NodeIndex) {
        self.words[node.get() / 64] &= !(1 << (node.0 % 64));
    }

    /// Returns the number of nodes in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the words, for loops over 64 nodes at a time.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words, for changes of up to 64 nodes at a time.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Returns the nodes of the set, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.words.iter().enumerate().flat_map(|(word, &bits)| nodes_of(word, bits))
    }

    /// Returns the nodes of one block of `size` nodes, the first in the lowest bit. `size` is a divisor of 64.
    #[inline]
    pub fn block(&self, block: usize, size: usize) -> u64 {
        let first = block * size;
        self.words.get(first / 64).copied().unwrap_or(0) >> (first % 64) & u64::MAX >> (64 - size)
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    /// Returns the first node of the set.
    #[inline]
    pub fn first(&self) -> Option<NodeIndex> {
        let (word, bits) = self.words.iter().enumerate().find(|(_, bits)| **bits != 0)?;
        nodes_of(word, *bits).next()
    }

    /// Returns the `n`-th node of the set, counted from 0.
    pub fn nth(&self, mut n: usize) -> Option<NodeIndex> {
        for (word, bits) in self.words.iter().enumerate() {
            let ones = bits.count_ones() as usize;
            if n < ones {
                return nodes_of(word, *bits).nth(n);
            }
            n -= ones;
        }
        None
    }

    /// Returns the words with their nodes: first the nodes from `first` on, then the nodes before it, each in ascending
    /// order. The word of `first` occurs twice.
    pub fn words_from(&self, first: NodeIndex) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (at, from_there) = (first.get() / 64, !0 << (first.0 % 64));
        let bits = |word: usize| self.words.get(word).copied().unwrap_or(0);
        let before = (0..at).map(move |word| (word, bits(word))).chain([(at, bits(at) & !from_there)]);
        let after = (at + 1..self.words.len()).map(move |word| (word, bits(word)));
        [(at, bits(at) & from_there)].into_iter().chain(after).chain(before)
    }

    /// Removes all nodes. The set then has no words; its memory is kept.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Removes empty words at the end: equal sets are then equal values.
    pub fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// Copies `other` into the memory of this set.
    pub fn copy_from(&mut self, other: &NodeMask) {
        self.words.clear();
        self.words.extend_from_slice(&other.words);
    }

    /// Keeps only nodes that are also in `other`.
    pub fn intersect(&mut self, other: &NodeMask) {
        for (at, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(at).copied().unwrap_or(0);
        }
    }

    /// Removes all nodes of `other`.
    pub(crate) fn remove_all(&mut self, other: &NodeMask) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }
}

impl Extend<NodeIndex> for NodeMask {
    fn extend<I: IntoIterator<Item = NodeIndex>>(&mut self, nodes: I) {
        for node in nodes {
            if self.words.len() <= node.get() / 64 {
                self.resize(node.get() + 1);
            }
            self.insert(node);
        }
    }
}

impl FromIterator<NodeIndex> for NodeMask {
    fn from_iter<I: IntoIterator<Item = NodeIndex>>(nodes: I) -> Self {
        let mut mask = NodeMask::default();
        mask.extend(nodes);
        mask
    }
}

/// Returns the nodes of one word of a node mask.
#[inline]
pub fn nodes_of(word: usize, mut bits: u64) -> impl Iterator<Item = NodeIndex> {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let bit = bits.trailing_zeros();
        bits &= bits - 1;
        Some(NodeIndex(word as u32 * 64 + bit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_returned_in_order() {
        let nodes = [3, 64, 65, 200].map(NodeIndex);
        let mut mask: NodeMask = nodes.into_iter().collect();
        assert_eq!(mask.iter().collect::<Vec<_>>(), nodes);
        assert_eq!(mask.count(), 4);
        mask.remove(NodeIndex(64));
        assert!(!mask.contains(NodeIndex(64)) && mask.contains(NodeIndex(65)));
        assert!(!mask.contains(NodeIndex(100_000)));
    }

    #[test]
    fn iteration_can_begin_at_any_node() {
        let nodes = [3, 64, 65, 200].map(NodeIndex);
        let mask: NodeMask = nodes.into_iter().collect();
        for n in 0..4 {
            let first = mask.nth(n).unwrap_or(NodeIndex(0));
            let walk: Vec<_> = mask.words_from(first).flat_map(|(word, bits)| nodes_of(word, bits)).collect();
            let expected: Vec<_> = nodes.into_iter().cycle().skip(n).take(4).collect();
            assert_eq!(walk, expected);
        }
        assert_eq!(mask.nth(4), None);
        assert_eq!(mask.first(), Some(NodeIndex(3)));
        assert_eq!(NodeMask::from_iter([NodeIndex(200)]).first(), Some(NodeIndex(200)));
        assert_eq!(NodeMask::default().first(), None);
    }

    #[test]
    fn intersecting_with_a_shorter_set_removes_the_nodes_beyond_it() {
        let mut mask: NodeMask = [1, 2, 130].map(NodeIndex).into_iter().collect();
        mask.intersect(&[2, 3].map(NodeIndex).into_iter().collect());
        assert_eq!(mask.iter().collect::<Vec<_>>(), [NodeIndex(2)]);
    }
}
