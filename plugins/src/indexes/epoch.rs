//! How often something has changed.

use std::sync::Arc;

/// Tells whether something is as it was. Epochs of two indexes are never the same, so that whoever keeps answers between
/// cycles notices when it is asked about another cluster.
#[derive(Clone, Debug, Default)]
pub struct Epoch {
    index: Arc<()>,
    changes: u64,
}

impl Epoch {
    /// Something has changed.
    pub(super) fn advance(&mut self) {
        self.changes += 1;
    }

    /// Whether nothing has changed since.
    pub fn equals(&self, earlier: &Epoch) -> bool {
        self.changes == earlier.changes && Arc::ptr_eq(&self.index, &earlier.index)
    }
}

/// An index that followed events equals one that is made anew, however many events there were.
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
