//! Dry run: schedules without writes to the API server, for `schedc run --dry-run`.
//!
//! The scheduler treats its decisions as executed: pods count as bound to their nodes, and evicted pods are removed. It
//! still observes other writers, such as a kube-scheduler that binds the same pods.
//!
//! | module | content |
//! |---|---|
//! | [`client`] | simulates bindings and evictions |
//! | [`decisions`] | reports the decisions |

pub mod client;
pub mod decisions;

pub use client::DryRunClient;
pub use decisions::{Decision, DecisionResult, Decisions};
