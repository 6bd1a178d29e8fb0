//! Nodes to look at again.

use crate::model::NodeIndex;
use crate::node_mask::{NodeMask, nodes_of};

/// A set of nodes, few of many: emptying it and going through it cost what is in it, not the size of the cluster.
#[derive(Clone, Debug, Default)]
pub struct NodeSet {
    bits: Vec<u64>,
    /// The words of `bits` that are not 0, in the order in which they were touched.
    words: Vec<u32>,
}

impl NodeSet {
    /// Empties the set, and makes room for so many slots of nodes.
    #[inline]
    pub fn reset(&mut self, slots: usize) {
        self.clear();
        if self.bits.len() * 64 < slots {
            self.grow(slots);
        }
    }

    /// Empties the set.
    #[inline]
    pub fn clear(&mut self) {
        for &word in &self.words {
            self.bits[word as usize] = 0;
        }
        self.words.clear();
    }

    /// Makes room for so many slots of nodes.
    pub fn grow(&mut self, slots: usize) {
        if self.bits.len() < slots.div_ceil(64) {
            self.bits.resize(slots.div_ceil(64), 0);
        }
    }

    /// Puts a node in.
    #[inline]
    pub fn insert(&mut self, node: NodeIndex) {
        self.insert_word(node.get() / 64, 1 << (node.0 % 64));
    }

    /// Puts the nodes of one word of a [`NodeMask`] in.
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

    /// Puts all nodes of a set in.
    pub fn insert_all(&mut self, nodes: &NodeMask) {
        for (word, &bits) in nodes.words().iter().enumerate() {
            self.insert_word(word, bits);
        }
    }

    /// Puts what is in another set in.
    #[inline]
    pub fn extend(&mut self, other: &NodeSet) {
        other.words().for_each(|(word, bits)| self.insert_word(word, bits));
    }

    /// Keeps of each word what `keep` says.
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(usize, u64) -> u64) {
        let bits = &mut self.bits;
        self.words.retain(|&word| {
            let kept = &mut bits[word as usize];
            *kept &= keep(word as usize, *kept);
            *kept != 0
        });
    }

    /// Whether a node is in it.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.word(node.get() / 64) >> (node.0 % 64) & 1 == 1
    }

    /// The nodes of one word.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.bits.get(word).copied().unwrap_or(0)
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words that are not empty, in no particular order, each with its nodes.
    #[inline]
    pub fn words(&self) -> impl ExactSizeIterator<Item = (usize, u64)> + '_ {
        self.words.iter().map(|&word| (word as usize, self.bits[word as usize]))
    }

    /// The nodes, in no particular order.
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
        let mut touched = NodeSet::default();
        touched.reset(200);
        [130, 3, 131, 3].map(NodeIndex).into_iter().for_each(|node| touched.insert(node));
        assert_eq!(touched.iter().collect::<Vec<_>>(), [130, 131, 3].map(NodeIndex));
        touched.reset(200);
        assert!(touched.is_empty() && !touched.contains(NodeIndex(3)));
    }
}
