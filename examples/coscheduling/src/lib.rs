//! Pods that are of use only together: a scheduler plugin with state of its own.
//!
//! - [`Coscheduling`] is the plugin: what it does at each extension point.
//! - [`PodGroups`] is its index: which pods each group has, and which of them have a node.
//! - `schedc.toml` tells schedc what they are called and where they run.
//! - [`scheduler`] is a scheduler with the plugin, compiled from `profiles/coscheduling.toml`.

mod membership;
mod plugin;
mod pod_groups;
mod reservations;

pub use membership::{GroupKey, MIN_MEMBER, Membership, POD_GROUP, SCHEDULE_TIMEOUT};
pub use plugin::{Coscheduling, CoschedulingArgs};
pub use pod_groups::PodGroups;

// Generated code calls this crate by its name, also from inside.
extern crate self as coscheduling;

/// A scheduler with the plugin of this crate.
pub mod scheduler {
    schedc_macros::profile!("profiles/coscheduling.toml");
}
