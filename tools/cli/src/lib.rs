//! The command line of schedc, for any [`Bundle`](schedc_core::profile::Bundle) of profiles, and the tools behind its
//! commands. It is a separate package because Cargo profiles set one optimisation level per package: a low level for the
//! command line, which shortens builds, and the highest one for the package that has the generated pipelines.

#[cfg(feature = "tools")]
mod attempts;
#[cfg(feature = "tools")]
pub mod budgets;
#[cfg(feature = "tools")]
mod capacity;
#[cfg(feature = "tools")]
pub mod cluster;
mod commands;
#[cfg(feature = "tools")]
mod defragment;
#[cfg(feature = "tools")]
mod drain;
#[cfg(feature = "tools")]
mod enforced;
#[cfg(feature = "tools")]
pub mod evaluation;
#[cfg(feature = "tools")]
pub mod explanation;
#[cfg(feature = "tools")]
mod precheck;
#[cfg(feature = "tools")]
mod provision;
#[cfg(feature = "tools")]
mod remedies;
#[cfg(all(feature = "recordings", feature = "run"))]
mod replay;
#[cfg(feature = "tools")]
mod resource_amounts;
#[cfg(feature = "tools")]
pub mod simulation;
#[cfg(feature = "tools")]
mod simulation_history;
#[cfg(feature = "tools")]
pub mod timeline;
#[cfg(feature = "tools")]
mod trial;
#[cfg(feature = "tools")]
pub mod utilisation;
#[cfg(feature = "tools")]
mod workloads;

pub use commands::{main, main_with};
