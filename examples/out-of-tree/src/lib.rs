//! Example of a plugin crate outside of schedc.
//!
//! - [`Maintenance`] is a minimal plugin: a filter in a few lines. The crate `coscheduling` contains a stateful one.
//! - `schedc.toml` declares its name and its extension points.
//! - [`scheduler`] is a scheduler with it, compiled from `profiles/maintenance.toml`.

mod maintenance;

pub use maintenance::Maintenance;

// Generated code calls this crate by its name, also from inside.
extern crate self as out_of_tree;

/// A scheduler with the plugin of this crate.
pub mod scheduler {
    schedc_macros::profile!("profiles/maintenance.toml");
}
