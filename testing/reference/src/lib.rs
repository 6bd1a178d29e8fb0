//! The rules of scheduling written down plainly, to hold the fast evaluation against.
//!
//! [`evaluate`] answers for one pod which nodes are feasible, who rejects the others and why, what each score plugin says, and
//! which nodes are best. It goes over all nodes, all pods and all objects, each time, and keeps nothing: no columns, no
//! indexes, no masks, nothing prepared. It shares the types of pods, nodes and objects with the scheduler, and nothing that
//! decides. Do not use it where time matters.
//!
//! | module | idea |
//! |---|---|
//! | `cluster` | what there is |
//! | `args` | what a profile tells its plugins, as it is written |
//! | `evaluation` | the cycle: PreFilter, Filter, scores |
//! | `plugin_evaluation` | what each plugin says for itself |
//! | `plugin` | what a plugin can say |
//! | `plugins` | one file, one plugin |
//! | `matching` | labels, selectors, taints |
//!
//! Left out are preemption, extenders, sampling of nodes, and resource claims of pods.

mod args;
mod cluster;
mod evaluation;
mod matching;
mod plugin;
mod plugin_evaluation;
mod plugins;

pub use args::Args;
pub use cluster::{Cluster, PlacedPod};
pub use evaluation::{Evaluation, NodeEvaluation, PluginRejection, Score, evaluate};
pub use plugin::{Profile, UnknownPlugin};
pub use plugin_evaluation::{PluginEvaluation, evaluate_plugins};
