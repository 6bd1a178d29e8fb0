//! The command line of schedc, for any [`Bundle`](schedc_core::profile::Bundle) of profiles, and the tools behind its commands.
//!
//! It is a package of its own because it is not part of a decision: Cargo profiles compile it for a short build, and the
//! package of a program, with the generated pipelines, for speed.

#[cfg(feature = "tools")]
pub mod budgets;
#[cfg(feature = "tools")]
pub mod cluster;
mod commands;
#[cfg(feature = "tools")]
pub mod evaluation;
#[cfg(feature = "tools")]
pub mod explanation;
#[cfg(feature = "tools")]
pub mod simulation;
#[cfg(feature = "tools")]
pub mod timeline;
#[cfg(feature = "tools")]
pub mod utilisation;

pub use commands::main;
