//! Interpreter for profiles: it combines the plugins of `schedc-plugins` at run time. It runs a profile without a
//! build, and is the baseline for measuring the benefit of compilation.
//!
//! ```text
//! profile.toml ──parse──▶ resolve ──▶ check ──▶ plan ──start──▶ plugins behind trait objects ──▶ Pipeline
//! ```
//!
//! [`Interpretation::load`] runs the compiler's phases on a file, so an invalid profile causes the same errors as in a
//! compilation. [`Interpretation::start`] creates the plugins. It returns a [`Bundle`](schedc_core::profile::Bundle)
//! like that of generated code: the same engine, queue and cache run it, and its decisions are identical.
//!
//! The interpreter caches answers like generated code, with the same promises of plugins. Unlike generated code, its
//! loops over nodes are not specialized for a profile. It has no plugins of other crates, because they are not compiled
//! into it.

#![allow(clippy::unused_unit, reason = "generated: some plugins read no state")]

mod bundle;
mod cached_results;
mod cycle_state;
mod erased;
mod load;
mod pipeline;
mod steps;

include!(concat!(env!("OUT_DIR"), "/plugins.rs"));

pub use bundle::Profiles;
pub use load::{InterpretError, Interpretation};
pub use steps::Pipeline;
