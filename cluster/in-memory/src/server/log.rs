//! What changed, in order: what watches are made of.

use std::collections::VecDeque;
use std::sync::Arc;

use schedc_objects::AnyObject;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The server's version after it: each change has the next one.
    pub version: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// The object after the change; a deleted one as it was last.
    pub object: Arc<AnyObject>,
}

/// The changes of a server, the oldest perhaps forgotten.
#[derive(Clone, Debug, Default)]
pub struct Log {
    changes: VecDeque<Change>,
    /// The version of the last change that is forgotten.
    forgotten: u64,
}

impl Log {
    /// The version of the newest change; 0 if there was none.
    pub fn version(&self) -> u64 {
        self.forgotten + self.changes.len() as u64
    }

    /// The first change after a version. `None`: there is none yet, or it is forgotten.
    pub fn after(&self, version: u64) -> Option<&Change> {
        let at = version.checked_sub(self.forgotten)?;
        self.changes.get(usize::try_from(at).ok()?)
    }

    /// Whether every change after a version is known. If not, whoever has seen no more than that version must list.
    pub fn reaches_back_to(&self, version: u64) -> bool {
        version >= self.forgotten
    }

    /// Forgets the changes up to a version.
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
