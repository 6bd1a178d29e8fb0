//! The interpreted twin of the compiler: the plugins of `schedc-plugins`, the very same kernels, put together when the
//! program runs. For trying a profile without a build, and to see what a build is worth.
//!
//! ```text
//! profile.toml ──parse──▶ resolve ──▶ check ──▶ plan ──start──▶ plugins behind trait objects ──▶ Pipeline
//! ```
//!
//! [`Interpretation::load`] runs the phases of the compiler on a file, so that a wrong profile is refused with the same words.
//! [`Interpretation::start`] makes the plugins. What it returns is a [`Bundle`](schedc_core::profile::Bundle) as generated
//! code is one: the same engine, queue and cache drive it, and it decides the same, bit for bit.
//!
//! What is left out decides nothing: no answers are kept, and loops over nodes are not specialised. Plugins of other crates
//! are not here, since nobody compiled them.

#![allow(clippy::unused_unit, reason = "generated: what some plugins read is nothing")]

mod bundle;
mod cycle_state;
mod erased;
mod load;
mod pipeline;
mod steps;

include!(concat!(env!("OUT_DIR"), "/plugins.rs"));

pub use bundle::Profiles;
pub use load::{InterpretError, Interpretation};
pub use pipeline::Pipeline;
