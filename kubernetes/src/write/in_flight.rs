//! How many of something are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A count. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<AtomicUsize>);

/// One of them, until it is dropped.
pub(super) struct One(InFlight);

impl InFlight {
    pub(super) fn begin(&self) -> One {
        self.0.fetch_add(1, Ordering::Relaxed);
        One(self.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
