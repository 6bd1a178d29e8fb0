//! Memory that plugins use again, from one pod to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Vectors and the like whose contents are of no account between uses, but whose room is: so that steady work asks for no
/// memory. A plugin has it as a field, fills its cycle state from it, and puts the parts of that back in `recycle`.
#[derive(Debug, Default)]
pub struct Scratch<T>(Mutex<T>);

impl<T> Scratch<T> {
    /// The room. It must not be locked twice at a time.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // Whoever panicked left contents of no account behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
