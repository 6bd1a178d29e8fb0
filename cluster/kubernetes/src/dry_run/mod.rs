//! A scheduler that decides, and writes nothing to the API server: `schedc run --dry-run`.
//!
//! What it decides is so for it: pods count on the nodes that they would be bound to, and pods that it would evict are gone.
//! What others do, such as a kube-scheduler that binds the same pods, it follows.
//!
//! | module | idea |
//! |---|---|
//! | [`client`] | says yes to everything, and remembers it |
//! | [`decisions`] | tells what is decided |

pub mod client;
pub mod decisions;

pub use client::DryRunClient;
pub use decisions::{Decision, DecisionResult, Decisions};
