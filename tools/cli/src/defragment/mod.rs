//! Plans of moves that empty as many nodes as possible, or make room for given pods.
//!
//! Each move is tried in a [cluster in memory](crate::trial) by the rules of [`drain`](crate::drain): the disruption
//! budgets must allow the eviction, and the scheduler must place the replacement without preemption before the next
//! move. A plan is printed and never executed.
//!
//! | module | content |
//! |---|---|
//! | `emptying` | the choice of the nodes to empty |
//! | `bound` | an upper bound of the number of nodes that can be emptied |
//! | `room` | moves that make room for given pods |
//! | `fragmentation` | the measure of GPU fragmentation |

mod bound;
mod emptying;
mod fragmentation;
mod room;
#[cfg(test)]
mod tests;

use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::drain::{BlockedNode, BudgetUse, Permissions, Replacement, Step};
use crate::trial::{self, WaitReason};
use crate::workloads::NewPod;
pub(crate) use fragmentation::Fragmentation;

/// Parameters of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    /// Permissions for evictions that lose a pod or its data.
    pub permissions: Permissions,
    /// Nodes whose pods may be moved. If empty, the pods of all nodes.
    pub nodes: &'a [String],
    /// Extended resources that count GPUs. If empty, those named `gpu` in any domain, such as `nvidia.com/gpu`.
    pub gpus: &'a [String],
}

/// A plan of moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plan {
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// Number of evictions.
    pub evictions: usize,
    /// The nodes that the plan empties. `None` for a plan that makes room for pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptying: Option<Emptying>,
    /// The pods for which the plan makes room. `None` for a plan that empties nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<Room>,
    /// GPU fragmentation; `None` for a cluster without GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<GpuChange>,
}

/// An action of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub(crate) enum Action {
    /// Makes a node unschedulable.
    Cordon {
        /// The node.
        node: String,
    },
    /// Makes a node schedulable again.
    Uncordon {
        /// The node.
        node: String,
    },
    /// Evicts a pod.
    Evict {
        /// Its node.
        node: String,
        /// The pod: `namespace/name`.
        pod: String,
        /// The pod that its controller creates, and its node; `None` for a pod without a controller.
        replacement: Option<Replacement>,
        /// The budget that the eviction counts against, if any.
        budget: Option<BudgetUse>,
    },
    /// Creates one of the given pods, which the scheduler then places.
    Create {
        /// The pod: `namespace/name`.
        pod: String,
        /// Its node.
        node: String,
    },
}

/// Result of a plan that empties nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Emptying {
    /// The nodes whose pods are moved, in the order of the plan.
    pub emptied: Vec<String>,
    /// Nodes without pods to move, which the plan keeps free.
    pub already_empty: Vec<String>,
    /// Nodes with pods that cannot be evicted.
    pub blocked: Vec<BlockedNode>,
    /// No plan can empty more nodes than this.
    pub at_most: usize,
    /// Whether no other plan empties more nodes, or as many with fewer evictions. The comparison covers only plans that
    /// move no pods of other nodes, in the tried orders.
    pub optimal: bool,
    /// Number of sets of nodes that were tried.
    pub tried: usize,
}

/// Result of a plan that makes room for pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Room {
    /// Number of given pods that have a node at the end.
    pub placed: usize,
    /// Given pods without a node at the end.
    pub waiting: Vec<WaitingPod>,
    /// Number of sets of evictions that were tried.
    pub tried: usize,
}

/// A pod for which no tried moves make room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WaitingPod {
    /// `namespace/name`.
    pub pod: String,
    /// The reasons why it waits if no pod is moved for it.
    #[serde(flatten)]
    pub rejection: WaitReason,
}

/// GPU fragmentation before and after a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GpuChange {
    /// The resources that count GPUs.
    pub resources: Vec<String>,
    /// Number of kinds of pods in the target workload.
    pub tasks: usize,
    /// Share of the cluster's pods that are of these kinds, from 0 to 1.
    pub coverage: f64,
    /// Before the plan.
    pub before: Fragmentation,
    /// After the plan.
    pub after: Fragmentation,
}

impl From<Step> for Action {
    fn from(Step { node, evict, replacement, budget }: Step) -> Self {
        Action::Evict { node, pod: evict, replacement, budget }
    }
}

/// Returns a plan that empties as many nodes as possible with the fewest evictions.
///
/// # Errors
/// Returns an error if a plugin cannot start.
pub(crate) fn empty_nodes(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Plan, StartErrors> {
    emptying::plan(bundle, objects, question, options)
}

/// Returns a plan that makes room for pods with the fewest evictions.
///
/// # Errors
/// Returns an error if a plugin cannot start.
pub(crate) fn make_room(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    new: Vec<NewPod>,
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Plan, StartErrors> {
    room::plan(bundle, objects, new, question, options)
}
