//! Memory that plugins reuse from one pod to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Vectors and similar values whose contents do not matter between uses. Their memory is reused, so that plugins need
/// no allocations in steady state. A plugin has a `Scratch` as a field, takes parts of its cycle state from it, and
/// puts them back in `recycle`.
#[derive(Debug, Default)]
pub struct Scratch<T>(Mutex<T>);

impl<T> Scratch<T> {
    /// Locks the memory. A second lock while the guard lives would deadlock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // The contents do not matter, even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
