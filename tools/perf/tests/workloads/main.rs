//! Workloads, run with the default profile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod harness;
mod operations;
mod shipped;
mod wrong;
