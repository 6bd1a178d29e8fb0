//! Workloads with the default profile.

#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod harness;
mod operations;
mod shipped;
mod wrong;
