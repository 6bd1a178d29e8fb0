//! A plugin, and a scheduler with it.

mod @MODULE@;
#[cfg(test)]
mod tests;

pub use @MODULE@::*;

// Generated code calls this crate by its name, also from inside.
extern crate self as @CRATE@;

/// The code that build.rs generated from the profiles.
#[allow(clippy::all, reason = "it is generated")]
pub mod scheduler {
    include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
}
