//! Log of the nodes that changes affect.

use schedc_core::intern::Symbol;

/// Maximum number of entries of the log. Readers that are further behind have to evaluate all nodes.
const LIMIT: usize = 16_384;

/// Nodes that a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affected {
    /// The node with this name.
    Node(Symbol),
    /// Any node, because claims took or released devices that several nodes may see. The views of nodes are the same as
    /// before.
    UseOfShared,
    /// Any node.
    All,
}

/// The latest changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Number of changes before the first entry.
    before: u64,
    entries: Vec<Affected>,
}

impl Changes {
    pub(crate) fn push(&mut self, affected: Affected) {
        if self.entries.len() == LIMIT {
            self.entries.drain(..LIMIT / 2);
            self.before += LIMIT as u64 / 2;
        }
        self.entries.push(affected);
    }

    pub(crate) fn position(&self) -> u64 {
        self.before + self.entries.len() as u64
    }

    /// Returns the changes since a position; `None` if the log no longer has all of them.
    pub(crate) fn since(&self, position: u64) -> Option<&[Affected]> {
        let at = usize::try_from(position.checked_sub(self.before)?).ok()?;
        self.entries.get(at..)
    }
}
