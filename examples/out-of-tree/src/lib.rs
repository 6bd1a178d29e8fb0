//! Scheduler plugins outside of schedc: what a plugin crate looks like.
//!
//! - [`Maintenance`] is as short as a plugin can be: a filter in ten lines.
//! - [`Gang`] acts where kube-scheduler's coscheduling does: it holds pods until their gang is complete.
//! - `schedc.toml` tells schedc what they are called and where they can run.
//! - [`scheduler`] is a scheduler with both, compiled from `profiles/gang.toml`.

mod gang;
mod maintenance;

pub use gang::{Gang, GangArgs, Membership};
pub use maintenance::Maintenance;

// Generated code calls this crate by its name, also from inside.
extern crate self as out_of_tree;

/// A scheduler with the plugins of this crate.
pub mod scheduler {
    schedc_macros::profile!("profiles/gang.toml");
}
