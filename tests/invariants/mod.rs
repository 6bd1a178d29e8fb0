//! Invariants of the source code.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod named_tests;
mod no_dyn;
