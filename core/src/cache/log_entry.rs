//! What the log of a cluster says.

use crate::model::NodeIndex;

/// One entry of a cluster's log: the columns of a slot changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry(u32);

impl LogEntry {
    /// A pod came to the node of a slot, or left it.
    #[inline]
    pub(super) fn pod(slot: NodeIndex) -> Self {
        LogEntry(slot.0 << 1)
    }
    /// The node itself came, changed, or went.
    #[inline]
    pub(super) fn node(slot: NodeIndex) -> Self {
        LogEntry(slot.0 << 1 | 1)
    }

    /// The slot.
    #[inline]
    pub fn slot(self) -> NodeIndex {
        NodeIndex(self.0 >> 1)
    }
    /// Whether the node itself came, changed, or went. If not, pods did.
    #[inline]
    pub fn is_node_change(self) -> bool {
        self.0 & 1 == 1
    }
}
