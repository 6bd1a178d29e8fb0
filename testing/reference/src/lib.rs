//! Reference implementation of the scheduling rules, for comparison with the fast evaluation.
//!
//! [`evaluate`] returns the feasible nodes for one pod with the score by each plugin, the rejections of all other
//! nodes, and the best nodes. It iterates over all nodes, pods and objects every time and caches nothing: there are no
//! columns, indexes or node masks. It shares the types of pods, nodes and objects with the scheduler, but no code that
//! makes decisions. It is slow on purpose.
//!
//! | module | content |
//! |---|---|
//! | `cluster` | state of the cluster |
//! | `args` | arguments of plugins, from a profile |
//! | `evaluation` | PreFilter, Filter, Score |
//! | `plugin_evaluation` | result of each plugin alone |
//! | `plugin` | the plugin trait |
//! | `profile` | the plugins of a profile |
//! | `plugins` | one file for each plugin |
//! | `matching` | labels, selectors, taints |
//!
//! Preemption, extenders, sampling of nodes, and resource claims of pods are not implemented.

mod args;
mod cluster;
mod evaluation;
mod matching;
mod plugin;
mod plugin_evaluation;
mod plugins;
mod profile;

pub use args::Args;
pub use cluster::{Cluster, PlacedPod};
pub use evaluation::{NodeEvaluation, PluginRejection, ReferenceEvaluation, Score, evaluate};
pub use plugin_evaluation::{PluginEvaluation, evaluate_plugins};
pub use profile::{Profile, UnknownPlugin};
