//! A plugin, and a scheduler with it.

mod kept_nodes;

pub use kept_nodes::KeptNodes;

// Generated code calls this crate by its name, also from inside.
extern crate self as @CRATE@;

/// What build.rs made of the profiles.
#[allow(clippy::all, reason = "nobody wrote it")]
pub mod scheduler {
    include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
}
