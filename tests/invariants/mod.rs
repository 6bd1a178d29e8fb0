//! What must hold of the code itself.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod named_tests;
mod no_dyn;
