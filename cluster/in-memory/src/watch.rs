//! Conversion of server changes to changes of a scheduler's view.

use schedc_core::intern::Interner;
use schedc_core::scheduler;
use schedc_objects::{removal_change, upsert_change};

use crate::server::{Change, ChangeKind};

/// Converts a change for a scheduler. An upsert of a finished pod becomes a removal. `None`: schedulers ignore the
/// kind.
pub fn scheduler_change(change: &Change, interner: &mut Interner) -> Option<scheduler::Change> {
    match change.kind {
        ChangeKind::Deleted => removal_change(&change.object, interner),
        ChangeKind::Added | ChangeKind::Modified => upsert_change(&change.object, interner),
    }
}
