//! From changes of a server to what a scheduler is told.

use schedc_core::intern::Interner;
use schedc_core::scheduler;

use crate::server::{Change, ChangeKind};

/// What a scheduler is told of a change. `None`: it is not told of such. A pod that has run to its end is gone for it.
pub fn scheduler_change(change: &Change, interner: &mut Interner) -> Option<scheduler::Change> {
    match change.kind {
        ChangeKind::Deleted => change.object.removal(interner),
        ChangeKind::Added | ChangeKind::Modified => change.object.upsert(interner),
    }
}
