//! Pods that are of use only together: a scheduler plugin with state of its own.
//!
//! - [`Coscheduling`] is the plugin: what it does at each extension point.
//! - [`PodGroup`] is what it reads of the custom resource that describes a group.
//! - [`PodGroups`] is its index: which pods each group has, and which of them have a node.
//! - `statuses` is its task beside the scheduler: what has become of groups is written into their objects.
//! - `schedc.toml` tells schedc what they are called and where they run.
//! - [`scheduler`] is a scheduler with the plugin, compiled from `profiles/coscheduling.toml`.

mod group;
mod plugin;
mod pod_groups;
mod reservations;
mod statuses;

pub use group::{GroupKey, POD_GROUP, PodGroup, PodGroupSpec};
pub use plugin::{Coscheduling, CoschedulingArgs};
pub use pod_groups::PodGroups;

// Generated code calls this crate by its name, also from inside.
extern crate self as coscheduling;

/// A scheduler with the plugin of this crate.
pub mod scheduler {
    schedc_macros::profile!("profiles/coscheduling.toml");
}
