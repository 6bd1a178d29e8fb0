//! Plans that empty nodes: the order of evictions, and the nodes of the replacements.
//!
//! All nodes are cordoned first. Each eviction is tried in a [cluster in memory](crate::trial): the disruption budgets
//! must allow it, and the scheduler must place the replacement on another node without a preemption, before the next
//! eviction. A node whose pods cannot all move is left unchanged.
//!
//! | module | content |
//! |---|---|
//! | `eviction` | the pods that can be evicted, and their replacements |
//! | `orders` | the orders in which nodes are tried |

pub(crate) mod eviction;
pub(crate) mod orders;
#[cfg(test)]
mod tests;

use std::fmt;

use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::trial::{self, Trial, TrialState, Victim, WaitReason};
pub(crate) use eviction::Permissions;
use eviction::Treatment;

/// A plan that empties nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrainPlan {
    /// The nodes that can be emptied, in the order of the plan.
    pub emptied: Vec<String>,
    /// The evictions, in order.
    pub steps: Vec<Step>,
    /// The other nodes, with the reasons.
    pub blocked: Vec<BlockedNode>,
    /// Number of orders of the nodes that were tried.
    pub orders: usize,
    /// Whether all orders of the nodes were tried. The search ends early if an order empties all nodes.
    pub all_orders: bool,
}

/// An eviction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    /// The node that is being emptied.
    pub node: String,
    /// The evicted pod: `namespace/name`.
    pub evict: String,
    /// The pod that its controller creates, and its node; `None` for a pod without a controller.
    pub replacement: Option<Replacement>,
    /// The budget that the eviction counts against, if any.
    pub budget: Option<BudgetUse>,
}

/// The pod that a controller creates in place of an evicted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Replacement {
    /// `namespace/name`. An API server may generate another name.
    pub pod: String,
    /// Its node.
    pub node: String,
}

/// A disruption budget before an eviction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BudgetUse {
    /// `namespace/name`.
    pub budget: String,
    /// Number of allowed disruptions before the eviction.
    pub allowed: i32,
}

/// A node that cannot be emptied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BlockedNode {
    /// The node.
    pub node: String,
    /// Pods that cannot leave it.
    pub obstacles: Vec<Obstacle>,
}

/// A pod that cannot leave its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Obstacle {
    /// `namespace/name`.
    pub pod: String,
    /// The reason.
    #[serde(flatten)]
    pub reason: ObstacleReason,
}

/// The reason why a pod cannot leave its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub(crate) enum ObstacleReason {
    /// No controller would create the pod again.
    NoController,
    /// An annotation forbids the eviction.
    Annotation {
        /// Its key and value.
        annotation: String,
    },
    /// The pod has a volume on its node. An eviction would delete the data in the volume.
    LocalData {
        /// The volume.
        volume: String,
    },
    /// A disruption budget allows no disruption.
    Budget {
        /// `namespace/name`.
        budget: String,
    },
    /// Several budgets select the pod: an API server refuses the eviction.
    SeveralBudgets {
        /// `namespace/name` of each.
        budgets: Vec<String>,
    },
    /// The replacement would wait.
    Unschedulable {
        /// kube-scheduler's message.
        #[serde(flatten)]
        rejection: WaitReason,
    },
    /// The replacement tolerates the cordon, and would run on a cordoned node.
    ToleratesCordon {
        /// The node.
        node: String,
    },
    /// The replacement would run only by preemption.
    Preempts {
        /// The victims.
        victims: Vec<Victim>,
    },
}

impl fmt::Display for ObstacleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObstacleReason::NoController => f.write_str("has no controller that creates it again (--force deletes it)"),
            ObstacleReason::Annotation { annotation } => write!(f, "has the annotation {annotation}"),
            ObstacleReason::LocalData { volume } => {
                write!(f, "has data in the emptyDir volume {volume} (--delete-emptydir-data deletes it)")
            }
            ObstacleReason::Budget { budget } => {
                write!(f, "cannot be evicted: PodDisruptionBudget {budget} allows no disruption")
            }
            ObstacleReason::SeveralBudgets { budgets } => {
                write!(f, "cannot be evicted: it has several PodDisruptionBudgets, {}", budgets.join(", "))
            }
            ObstacleReason::Unschedulable { rejection } => {
                write!(f, "would wait after its eviction: {}", rejection.message)
            }
            ObstacleReason::ToleratesCordon { node } => {
                write!(f, "tolerates the cordon: its replacement would run on {node}")
            }
            ObstacleReason::Preempts { victims } => {
                let victims: Vec<&str> = victims.iter().map(|victim| victim.pod.as_str()).collect();
                write!(f, "would preempt {} after its eviction", victims.join(", "))
            }
        }
    }
}

/// Returns a plan that empties as many of the given nodes as possible.
///
/// # Errors
/// Returns an error if a plugin cannot start.
pub(crate) fn plan(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    nodes: &[String],
    permissions: Permissions,
    options: &trial::Options,
) -> Result<DrainPlan, StartErrors> {
    let mut trial = Trial::new(bundle, objects.to_vec(), options)?;
    cordon(&mut trial, nodes);
    let start = trial.objects();
    let planner = Planner { bundle, options, permissions };
    // Nodes with few pods come first, because the replacements of few pods leave the most room for other replacements.
    let mut first: Vec<String> = nodes.to_vec();
    first.sort_by_key(|node| trial.pods_on(node).len());
    let mut best: Option<DrainPlan> = None;
    let (orders, are_all) = orders::orders(&first);
    let mut tried = 0;
    for order in &orders {
        tried += 1;
        let plan = planner.in_order(&start, order)?;
        let is_complete = plan.blocked.is_empty();
        let is_better =
            |best: &DrainPlan| (plan.emptied.len(), best.steps.len()) > (best.emptied.len(), plan.steps.len());
        if best.as_ref().is_none_or(is_better) {
            best = Some(plan);
        }
        if is_complete {
            break;
        }
    }
    Ok(DrainPlan { orders: tried, all_orders: are_all && tried == orders.len(), ..best.unwrap_or_default() })
}

/// Makes nodes unschedulable.
pub(crate) fn cordon(trial: &mut Trial, nodes: &[String]) {
    nodes.iter().for_each(|node| set_unschedulable(trial, node, true));
    trial.run();
}

/// Cordons or uncordons a node.
pub(crate) fn set_unschedulable(trial: &mut Trial, name: &str, is_unschedulable: bool) {
    if let Some(AnyObject::Node(node)) = trial.object(&Key::cluster("Node", name)) {
        let mut node = node.clone();
        node.spec.get_or_insert_default().unschedulable = Some(is_unschedulable);
        trial.add([AnyObject::Node(node)]);
    }
}

/// Empties nodes in a given order.
struct Planner<'a> {
    bundle: &'a AnyBundle,
    options: &'a trial::Options,
    permissions: Permissions,
}

impl Planner<'_> {
    /// Tries the nodes in this order. As long as a pass empties a node, tries the blocked nodes again.
    fn in_order(&self, start: &[AnyObject], order: &[String]) -> Result<DrainPlan, StartErrors> {
        let mut plan = DrainPlan::default();
        let mut trial = Trial::new(self.bundle, start.to_vec(), self.options)?;
        let mut remaining: Vec<String> = order.to_vec();
        loop {
            let emptied = plan.emptied.len();
            plan.blocked.clear();
            for node in std::mem::take(&mut remaining) {
                let (before, version, steps) = (trial.objects(), trial.version(), plan.steps.len());
                let pods = trial.pods_on(&node);
                let obstacles = empty(&mut trial, &node, pods, self.permissions, &mut plan.steps);
                if obstacles.is_empty() {
                    plan.emptied.push(node);
                    continue;
                }
                if trial.version() > version {
                    plan.steps.truncate(steps);
                    trial = Trial::new(self.bundle, before, self.options)?;
                }
                plan.blocked.push(BlockedNode { node: node.clone(), obstacles });
                remaining.push(node);
            }
            if remaining.is_empty() || plan.emptied.len() == emptied {
                return Ok(plan);
            }
        }
    }
}

/// Evicts the pods of a node. Returns the obstacles. If there are any, the cluster and `steps` may contain a part of
/// the evictions.
pub(crate) fn empty(
    trial: &mut Trial,
    node: &str,
    pods: Vec<Key>,
    permissions: Permissions,
    steps: &mut Vec<Step>,
) -> Vec<Obstacle> {
    let mut evictable = Vec::new();
    let mut obstacles = Vec::new();
    for key in pods {
        let Some(pod) = trial.pod(&key) else { continue };
        match eviction::treatment(pod, permissions) {
            Treatment::Stays => {}
            Treatment::Moves => evictable.push((eviction::priority(pod), key)),
            Treatment::Immovable(reason) => obstacles.push(Obstacle { pod: name(&key), reason }),
        }
    }
    if !obstacles.is_empty() {
        return obstacles;
    }
    // The most important pods are placed first; pods with equal priorities in the order of their names.
    evictable.sort_by(|(a, a_key), (b, b_key)| b.cmp(a).then_with(|| name(a_key).cmp(&name(b_key))));
    for (_, key) in evictable {
        match evict(trial, node, &key) {
            Ok(step) => steps.push(step),
            Err(reason) => return vec![Obstacle { pod: name(&key), reason }],
        }
    }
    Vec::new()
}

/// Evicts a pod, and lets the scheduler place its replacement.
pub(crate) fn evict(trial: &mut Trial, node: &str, key: &Key) -> Result<Step, ObstacleReason> {
    let Some(pod) = trial.pod(key).cloned() else { return Err(ObstacleReason::NoController) };
    let budget = eviction::budget(&pod, trial)?;
    trial.delete(key);
    let replacement = eviction::replacement(&pod);
    let new_key = replacement.and_then(|pod| trial.add([pod.into()]).pop());
    trial.run();
    if !trial.preempted().is_empty() {
        return Err(ObstacleReason::Preempts { victims: trial.preempted().to_vec() });
    }
    let replacement = match new_key {
        Some(new_key) => match trial.state(&new_key) {
            TrialState::Running(node) if is_cordoned(trial, &node) => {
                return Err(ObstacleReason::ToleratesCordon { node });
            }
            TrialState::Running(node) => Some(Replacement { pod: name(&new_key), node }),
            TrialState::Waiting(rejection) => return Err(ObstacleReason::Unschedulable { rejection }),
            TrialState::Gone => return Err(ObstacleReason::Unschedulable { rejection: WaitReason::default() }),
        },
        None => None,
    };
    Ok(Step { node: node.to_owned(), evict: name(key), replacement, budget })
}

/// Returns whether a node is cordoned.
pub(crate) fn is_cordoned(trial: &Trial, node: &str) -> bool {
    let node = trial.object(&Key::cluster("Node", node));
    matches!(node, Some(AnyObject::Node(node)) if node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true))
}

/// Returns the display name of a pod: `namespace/name`.
pub(crate) fn name(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}
