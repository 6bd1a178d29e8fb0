//! A plugin, and a scheduler that contains it.

mod @MODULE@;
#[cfg(test)]
mod tests;

pub use @MODULE@::*;

// Generated code refers to this crate by its name, also inside this crate.
extern crate self as @CRATE@;

/// The code that build.rs generates from the profiles.
#[allow(clippy::all, reason = "generated code")]
pub mod scheduler {
    include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
}
