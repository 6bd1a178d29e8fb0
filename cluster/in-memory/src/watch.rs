//! Conversion of server changes to changes of a scheduler's view.

use schedc_core::intern::Interner;
use schedc_core::scheduler;

use crate::server::{Change, ChangeKind};

/// Converts a change for a scheduler. A finished pod is a removal. `None`: schedulers ignore the kind.
pub fn scheduler_change(change: &Change, interner: &mut Interner) -> Option<scheduler::Change> {
    match change.kind {
        ChangeKind::Deleted => change.object.removal(interner),
        ChangeKind::Added | ChangeKind::Modified => change.object.upsert(interner),
    }
}
