//! Extender calls with their durations, stored until metrics read them.

use std::sync::{Mutex, PoisonError};

use schedc_core::extenders::ExtenderCall;

/// Calls since the last read. If `CAPACITY` calls are stored, the next call replaces them all.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<Vec<ExtenderCall>>);

/// Maximum number of stored calls.
const CAPACITY: usize = 1024;

impl Calls {
    pub(crate) fn add(&self, call: ExtenderCall) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == CAPACITY {
            calls.clear();
        }
        calls.push(call);
    }

    pub(crate) fn take(&self) -> Vec<ExtenderCall> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
