//! A scheduler plugin outside of schedc: what a plugin crate looks like.
//!
//! - [`Maintenance`] is as short as a plugin can be: a filter in ten lines. The crate beside this one, `coscheduling`, has
//!   one with state.
//! - `schedc.toml` tells schedc what it is called and where it can run.
//! - [`scheduler`] is a scheduler with it, compiled from `profiles/maintenance.toml`.

mod maintenance;

pub use maintenance::Maintenance;

// Generated code calls this crate by its name, also from inside.
extern crate self as out_of_tree;

/// A scheduler with the plugin of this crate.
pub mod scheduler {
    schedc_macros::profile!("profiles/maintenance.toml");
}
