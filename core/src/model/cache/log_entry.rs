//! Entries of the cluster's change log.

use crate::model::NodeIndex;

/// A changed slot in the cluster's change log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry(u32);

impl LogEntry {
    /// Makes an entry for a pod that was added to or removed from a slot's node.
    #[inline]
    pub(super) fn pod(slot: NodeIndex) -> Self {
        LogEntry(slot.0 << 1)
    }
    /// Makes an entry for a node that was added, changed or removed.
    #[inline]
    pub(super) fn node(slot: NodeIndex) -> Self {
        LogEntry(slot.0 << 1 | 1)
    }

    /// Returns the slot.
    #[inline]
    pub fn slot(self) -> NodeIndex {
        NodeIndex(self.0 >> 1)
    }
    /// Returns whether the node itself was added, changed or removed. If not, its pods changed.
    #[inline]
    pub fn is_node_change(self) -> bool {
        self.0 & 1 == 1
    }
}
