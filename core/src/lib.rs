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
//! | [`Scheduler`](scheduler::Scheduler) | Programs with a loop and a client: a state machine of events in and tasks out. |
//! | [`Bundle`](profile::Bundle) | The profiles of a program, which `profile!` or a build script generates; a parameter of the types above. |
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

pub mod args;
pub mod hypothetical;
pub mod intern;
pub mod map;
pub mod model;
pub mod quantity;

pub mod background;
pub mod cache;
#[doc(hidden)]
pub mod catalog_checks;
pub mod change_log;
pub mod client;
pub mod column;
pub mod costs;
pub mod custom;
pub mod diagnosis;
pub mod engine;
pub mod erased;
pub mod evaluation;
pub mod events;
pub mod explain;
pub mod extenders;
pub mod extension_points;
mod go_duration;
pub mod handle;
pub mod hints;
pub mod idle_plugins;
pub mod incremental;
pub mod minimal_cluster;
pub mod node_loops;
pub mod node_mask;
pub mod node_set;
pub mod originals;
pub mod plugin;
mod pre_filtered_pod;
pub mod prelude;
pub mod profile;
pub mod queue;
pub mod random;
pub mod scheduler;
pub mod scratch;
pub mod simple;
pub mod snapshot;
pub mod status;
pub mod verdict;

pub use plugin::Plugin;
pub use schedc_derive::plugin;
pub use simple::{SimpleFilter, SimpleScore};
