//! The scheduling framework of schedc: the model, the extension points, the cache, the scheduling cycle.
//!
//! No I/O, no async runtime, no Kubernetes client. The framework contains no plugins: the generated code of a profile
//! calls them.
//!
//! # The five most important types
//!
//! | type | for |
//! |---|---|
//! | [`Plugin`] | Plugin authors: every plugin implements it, in addition to one trait for each extension point ([`extension_points`]). [`prelude`] has the names that most plugins use. |
//! | [`MinimalCluster`](minimal_cluster::MinimalCluster) | Programs with a scheduler and a cluster in memory: nodes and pods in, decisions out. |
//! | [`Snapshot`](snapshot::Snapshot) | Programs that evaluate hypothetical clusters, such as autoscalers: fork, place, revert. |
//! | [`Scheduler`](scheduler::Scheduler) | Programs with a loop and a client: a state machine that takes events and returns tasks. |
//! | [`Bundle`](profile::Bundle) | The profiles of a program, as a type that `profile!` or a build script generates; a type parameter of `MinimalCluster` and `Scheduler`. |
//!
//! ```ignore
//! mod scheduler {
//!     schedc_macros::profile!("profiles/edge.toml");
//! }
//!
//! let mut cluster = schedc_core::minimal_cluster::MinimalCluster::<scheduler::Profiles>::new(0)?;
//! cluster.node(node);
//! cluster.pod(pod);
//! let outcome = cluster.step();
//! ```
//!
//! The guides are docs/embedding.md and docs/plugins.md of the repository.
//!
//! # Layers
//!
//! The sources are five layers. Each uses only itself and those before it; `tests/layers` verifies it.
//!
//! | layer | content |
//! |---|---|
//! | `model` | the cluster as data: nodes, pods and objects, strings, quantities, sets of nodes, the cache |
//! | `plugin_api` | the API for plugin authors |
//! | `profile_api` | the API for generated code: a profile and what it calls |
//! | `engine` | the evaluation of one pod by one profile |
//! | `scheduler` | the queue, the scheduling and binding cycle, and entry points for programs |
//!
//! Modules of all layers are named without the layer: `schedc_core::queue`.

pub mod engine;
pub mod model;
mod plugin_api;
mod profile_api;
pub mod scheduler;

pub use engine::{evaluation, explain, hypothetical, node_loops, verdict};
pub use model::{cache, change_log, intern, map, node_mask, node_set, originals, quantity};
pub use plugin_api::plugin::Plugin;
pub use plugin_api::simple::{SimpleFilter, SimpleScore};
pub use plugin_api::{
    args, background, claim_metrics, client, column, custom, device_counts, diagnosis, events, handle,
    pending_allocations, plugin, plugin_names, random, scratch, simple, status,
};
pub use profile_api::extenders;
#[doc(hidden)]
pub use profile_api::{catalog_checks, costs, hints, idle_plugins, leading_filters};
pub use schedc_derive::plugin;
pub use scheduler::{erased, minimal_cluster, queue, snapshot};

/// The extension points of Kubernetes 1.36's scheduling framework, one small trait each.
pub mod extension_points {
    pub use crate::plugin_api::extension_points::*;
    pub use crate::profile_api::post_filter::PostFilterPlugin;
    pub use crate::profile_api::profile::PostFilterContext;
}

/// Incremental evaluation: the part of a cached answer that plugins and generated code update.
pub mod incremental {
    #[doc(hidden)]
    pub use crate::engine::incremental::sample::without_samples;
    pub use crate::engine::incremental::{NominatedNodes, VerdictCounts};
    pub use crate::plugin_api::incremental::*;
    #[doc(hidden)]
    pub use crate::profile_api::plugin_results::*;
}

/// Compiled profiles: the interface between generated code and programs.
pub mod profile {
    pub use crate::engine::bundle::{Bundle, Visitor};
    pub use crate::profile_api::profile::*;
}

// Declared after `extension_points`: rustc's messages then name traits by their path in that module.
pub mod prelude;
