//! The command line of schedc, for any [`Bundle`](schedc_core::profile::Bundle) of profiles, and the tools behind its commands.
//!
//! A separate package, because it takes no part in decisions: Cargo profiles compile it for short builds, and
//! the package of the program, with the generated pipelines, for speed.

#[cfg(feature = "tools")]
mod attempts;
#[cfg(feature = "tools")]
pub mod budgets;
#[cfg(feature = "tools")]
pub mod capacity;
#[cfg(feature = "tools")]
pub mod cluster;
mod commands;
#[cfg(feature = "tools")]
pub mod defragment;
#[cfg(feature = "tools")]
pub mod drain;
#[cfg(feature = "tools")]
mod enforced;
#[cfg(feature = "tools")]
pub mod evaluation;
#[cfg(feature = "tools")]
pub mod explanation;
#[cfg(feature = "tools")]
pub mod precheck;
#[cfg(feature = "tools")]
pub mod provision;
#[cfg(feature = "tools")]
pub mod remedies;
#[cfg(all(feature = "recordings", feature = "run"))]
pub mod replay;
#[cfg(feature = "tools")]
mod resource_amounts;
#[cfg(feature = "tools")]
pub mod simulation;
#[cfg(feature = "tools")]
mod simulation_history;
#[cfg(feature = "tools")]
pub mod timeline;
#[cfg(feature = "tools")]
pub mod trial;
#[cfg(feature = "tools")]
pub mod utilisation;
#[cfg(feature = "tools")]
pub mod workloads;

pub use commands::main;
