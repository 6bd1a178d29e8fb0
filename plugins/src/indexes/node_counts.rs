//! Number of pods of some kind on each node.

use schedc_core::map::Map;
use schedc_core::model::NodeIndex;

/// A number of pods for each node with pods. A change takes constant time, unless it changes the representation.
#[derive(Clone, Debug, Default)]
pub struct NodeCounts {
    /// The representation if few nodes have pods.
    sparse: Map<NodeIndex, u32>,
    /// The representation if many nodes have pods: the number of every node. Empty if `sparse` is in use.
    dense: Vec<u32>,
    /// Number of values of `dense` that are not 0.
    nonzero: usize,
    /// The highest index of a node that has ever had pods.
    highest: u32,
}

/// Up to this number of nodes, the counts stay sparse.
const MAX_SPARSE: usize = 16;
/// The counts become dense if at least one in this many slots is used.
const DENSE_RATIO: usize = 8;
/// The counts become sparse again if fewer than one in this many slots is used.
const SPARSE_RATIO: usize = 64;

impl NodeCounts {
    /// Returns the nodes with pods and their number of pods, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeIndex, u32)> {
        let dense = self.dense.iter().enumerate().filter(|(_, count)| **count != 0);
        let sparse = self.sparse.iter().map(|(node, count)| (*node, *count));
        sparse.chain(dense.map(|(node, count)| (NodeIndex(node as u32), *count)))
    }

    /// Returns the number of pods on a node.
    #[inline]
    pub fn get(&self, node: NodeIndex) -> u32 {
        let count = if self.dense.is_empty() { self.sparse.get(&node) } else { self.dense.get(node.get()) };
        count.copied().unwrap_or(0)
    }

    /// Returns the number of nodes with pods.
    #[inline]
    pub fn len(&self) -> usize {
        self.sparse.len() + self.nonzero
    }

    /// Returns whether there are no pods.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocates memory for the first node.
    pub(super) fn reserve_first(&mut self) {
        self.sparse.reserve(1);
    }

    /// Adds `count` pods on a node. `count` must be at least 1.
    #[inline]
    pub(super) fn add(&mut self, node: NodeIndex, count: u32) {
        if let Some(known) = self.dense.get_mut(node.get()) {
            self.nonzero += usize::from(*known == 0);
            *known += count;
        } else {
            self.add_slow(node, count);
        }
    }

    #[inline(never)]
    fn add_slow(&mut self, node: NodeIndex, count: u32) {
        self.highest = self.highest.max(node.0);
        let slots = self.highest as usize + 1;
        if !self.dense.is_empty() {
            if slots <= (self.nonzero + 1) * SPARSE_RATIO {
                self.dense.resize(slots, 0);
                return self.add(node, count);
            }
            self.make_sparse();
        }
        *self.sparse.entry(node).or_default() += count;
        if self.sparse.len() > MAX_SPARSE && slots <= self.sparse.len() * DENSE_RATIO {
            let sparse = std::mem::take(&mut self.sparse);
            self.nonzero = sparse.len();
            self.dense.resize(slots, 0);
            sparse.into_iter().for_each(|(node, count)| self.dense[node.get()] = count);
        }
    }

    /// Removes `count` pods from a node, which must have at least as many.
    #[inline]
    pub(super) fn subtract(&mut self, node: NodeIndex, count: u32) {
        if let Some(known) = self.dense.get_mut(node.get()) {
            *known -= count;
            if *known == 0 {
                self.nonzero -= 1;
                if self.nonzero * SPARSE_RATIO < self.dense.len() {
                    self.make_sparse();
                }
            }
        } else if let Some(known) = self.sparse.get_mut(&node) {
            *known -= count;
            if *known == 0 {
                self.sparse.remove(&node);
            }
        }
    }

    #[cold]
    fn make_sparse(&mut self) {
        self.sparse = self.iter().collect();
        self.dense = Vec::new();
        self.nonzero = 0;
    }
}

/// Compares the numbers, regardless of the representation.
impl PartialEq for NodeCounts {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(node, count)| other.get(node) == count)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_equal_those_of_a_map(
            history in prop::collection::vec((any::<bool>(), prop_oneof![3 => 0..30u32, 2 => 0..200u32, 1 => 0..3000u32]), 0..600),
        ) {
            let mut expected = BTreeMap::new();
            let mut counts = NodeCounts::default();
            let all: Vec<_> = history.iter().map(|(_, node)| (false, *node)).collect();
            for (adds, node) in history.into_iter().chain(all) {
                let node = NodeIndex(node);
                let known = expected.entry(node).or_insert(0);
                if adds {
                    *known += 1;
                    counts.add(node, 1);
                } else if *known > 0 {
                    let count = if node.0.is_multiple_of(2) { *known } else { 1 };
                    *known -= count;
                    counts.subtract(node, count);
                }
                expected.retain(|_, count| *count > 0);
                prop_assert_eq!(counts.get(node), expected.get(&node).copied().unwrap_or(0));
                prop_assert_eq!((counts.len(), counts.is_empty()), (expected.len(), expected.is_empty()));
            }
            prop_assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), expected.clone());
            let mut others = NodeCounts::default();
            expected.into_iter().for_each(|(node, count)| others.add(node, count));
            prop_assert_eq!(&counts, &others);
            others.add(NodeIndex(5000), 1);
            prop_assert_ne!(counts, others);
        }
    }

    #[test]
    fn counts_switch_between_sparse_and_dense() {
        let mut counts = NodeCounts::default();
        (0..1000).for_each(|node| counts.add(NodeIndex(node), 2));
        assert_eq!((counts.sparse.len(), counts.nonzero), (0, 1000));
        (0..990).for_each(|node| counts.subtract(NodeIndex(node), 2));
        assert_eq!((counts.sparse.len(), counts.nonzero), (10, 0));
        (0..100).for_each(|node| counts.add(NodeIndex(node), 1));
        assert_eq!((counts.sparse.len(), counts.nonzero), (110, 0), "the cluster is large");
        (100..200).for_each(|node| counts.add(NodeIndex(node), 1));
        assert_eq!((counts.sparse.len(), counts.nonzero), (0, 210));
        counts.add(NodeIndex(1_000_000), 1);
        assert_eq!((counts.sparse.len(), counts.nonzero), (211, 0));
    }
}
