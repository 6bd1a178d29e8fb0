//! Change detection for cached results.

use std::sync::Arc;

/// Change counter of an index. [`Epoch::equals`] is false for the epochs of two indexes. Therefore a result cached
/// between cycles is not reused for another cluster.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    index: Arc<()>,
    changes: u64,
}

impl Epoch {
    /// Records a change.
    pub(super) fn advance(&mut self) {
        self.changes += 1;
    }

    /// Returns whether both belong to one index.
    pub fn is_of_same_index(&self, other: &Epoch) -> bool {
        Arc::ptr_eq(&self.index, &other.index)
    }

    /// Returns whether nothing has changed since `earlier`.
    pub fn equals(&self, earlier: &Epoch) -> bool {
        self.changes == earlier.changes && Arc::ptr_eq(&self.index, &earlier.index)
    }
}

/// `==` ignores epochs, because an updated index equals a rebuilt one, regardless of the number of events.
impl PartialEq for Epoch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_of_two_indexes_differ() {
        let mut epoch = Epoch::default();
        let earlier = epoch.clone();
        assert!(epoch.equals(&earlier) && !epoch.equals(&Epoch::default()));
        epoch.advance();
        assert!(!epoch.equals(&earlier));
    }
}
