//! Invariants of the source code.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod named_tests;
mod no_dyn;
