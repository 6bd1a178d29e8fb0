//! A stateful scheduler plugin for pods that must run together.
//!
//! - [`Coscheduling`] is the plugin with its extension points.
//! - [`PodGroup`] is the custom resource that describes a group.
//! - [`PodGroups`] is the plugin's index: the pods of each group, with and without a node.
//! - `statuses` is the plugin's background task, which writes the status of groups.
//! - `schedc.toml` declares the plugin with its extension points, the index and the custom resource.
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
