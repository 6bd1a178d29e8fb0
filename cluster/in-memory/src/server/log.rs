//! Change log of a server, the source of watches.

use std::collections::VecDeque;
use std::sync::Arc;

use schedc_objects::AnyObject;

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The object was created.
    Added,
    /// The object was updated.
    Modified,
    /// The object was deleted.
    Deleted,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Server version after the change. Versions of consecutive changes are consecutive.
    pub version: u64,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The object after the change, or the last version of a deleted object.
    pub object: Arc<AnyObject>,
}

/// Changes of a server. The oldest ones may be discarded.
#[derive(Clone, Debug, Default)]
pub struct Log {
    changes: VecDeque<Change>,
    /// The version of the last discarded change.
    forgotten: u64,
}

impl Log {
    /// Returns the version of the newest change; 0 if there was none.
    pub fn version(&self) -> u64 {
        self.forgotten + self.changes.len() as u64
    }

    /// Returns the first change after a version. `None`: it does not exist yet, or is discarded.
    pub fn after(&self, version: u64) -> Option<&Change> {
        let at = version.checked_sub(self.forgotten)?;
        self.changes.get(usize::try_from(at).ok()?)
    }

    /// Whether all changes after a version are available. If not, a reader at that version must list.
    pub fn reaches_back_to(&self, version: u64) -> bool {
        version >= self.forgotten
    }

    /// Discards the changes up to a version.
    pub fn forget(&mut self, version: u64) {
        while self.forgotten < version && self.changes.pop_front().is_some() {
            self.forgotten += 1;
        }
    }

    pub(super) fn push(&mut self, kind: ChangeKind, object: Arc<AnyObject>) {
        let version = self.version() + 1;
        self.changes.push_back(Change { version, kind, object });
    }
}
