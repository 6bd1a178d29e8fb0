//! Result of one simulation.

use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// Result of the simulation of a workload with one profile and one seed. All times are virtual, in seconds since the
/// start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Numbers of pods.
    pub pods: PodCounts,
    /// Scheduling attempts, including retries.
    pub attempts: u64,
    /// Times from arrival to binding, for pods that arrived without a node. The first entry is for all of them; the
    /// others are for one priority each, the highest first.
    pub time_to_bind: Vec<TimeToBind>,
    /// Means over time.
    pub over_time: OverTime,
    /// The state of the cluster at equidistant times.
    pub samples: Vec<Sample>,
    /// Number of decisions for which the influence of each plugin is known: a sample of the decisions among several
    /// nodes.
    pub explained: u64,
    /// Sampled decisions for which the influence of the plugins is not known.
    #[serde(default)]
    pub left_out: LeftOut,
    /// Influence of each plugin on the explained decisions, in the order of the profile.
    pub plugins: Vec<PluginInfluence>,
}

/// Numbers of pods in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodCounts {
    /// Pods that arrived without a node, including replacements.
    pub arrived: u64,
    /// Pods that arrived with a node, or had one at the start.
    pub with_node: u64,
    /// Pods that replaced preempted or evicted ones.
    pub replacements: u64,
    /// Pods that the scheduler bound.
    pub bound: u64,
    /// Pods without a node at the end.
    pub waiting: u64,
    /// Pods that were deleted before they had a node.
    pub deleted_waiting: u64,
    /// Pods that lost their node by preemption.
    pub preempted: u64,
    /// Pods that lost their node because it was removed; pods of DaemonSets do not count.
    pub evicted: u64,
    /// Preempted and evicted pods without an owner.
    pub lost: u64,
    /// Bound pods whose node differs from the recorded one.
    pub moved: u64,
}

/// Numbers of sampled decisions without a choice among scored nodes, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// No node was feasible.
    pub no_node: u64,
    /// One node was feasible.
    pub one_node: u64,
    /// The pod's nominated node was chosen without scores.
    pub nominated: u64,
    /// A plugin or an extender failed.
    pub failed: u64,
}

impl LeftOut {
    /// Returns the numbers with their reasons, without those that are 0.
    pub fn reasons(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("no feasible node", self.no_node),
            ("one feasible node", self.one_node),
            ("nominated node", self.nominated),
            ("failed attempt", self.failed),
        ];
        all.into_iter().filter(|(_, number)| *number > 0).collect()
    }
}

impl Sum for LeftOut {
    fn sum<I: Iterator<Item = LeftOut>>(all: I) -> LeftOut {
        all.fold(LeftOut::default(), |sum, next| LeftOut {
            no_node: sum.no_node.saturating_add(next.no_node),
            one_node: sum.one_node.saturating_add(next.one_node),
            nominated: sum.nominated.saturating_add(next.nominated),
            failed: sum.failed.saturating_add(next.failed),
        })
    }
}

/// Waiting times of pods. A pod that never had a node waits until it is deleted, or until the simulation ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeToBind {
    /// Priority of the pods; `None` for all pods.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<i32>,
    /// Number of pods.
    pub pods: u64,
    /// Of those, pods that were bound.
    pub bound: u64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

/// Means over the whole time of a simulation. Each state of the cluster counts with the time for which it lasted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OverTime {
    /// Duration.
    pub seconds: f64,
    /// Nodes.
    pub nodes: f64,
    /// Nodes without pods; pods of DaemonSets do not count.
    pub empty_nodes: f64,
    /// Pods on nodes.
    pub running: f64,
    /// Pods without a node.
    pub pending: f64,
    /// Highest number of pods that were without a node at the same time; pods that waited for no time do not count.
    pub max_pending: u64,
    /// Price of all nodes for an hour, if the options name a price label.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price: Option<f64>,
    /// Price of the nodes that are not empty, for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub used_price: Option<f64>,
    /// Use of each resource, in the order of [`Workload::resources`](crate::Workload::resources).
    pub resources: Vec<ResourceOverTime>,
}

/// Use of a resource over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceOverTime {
    /// Name of the resource, as in a pod's requests; `pods` for the number of pods.
    pub resource: String,
    /// Mean of the requests of the pods on the nodes: thousandths of a core, bytes, or items.
    pub requested: f64,
    /// Mean of the allocatable amount of the nodes.
    pub allocatable: f64,
}

/// The state of the cluster at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// Time.
    pub at: f64,
    /// Nodes.
    pub nodes: u64,
    /// Nodes without pods; pods of DaemonSets do not count.
    pub empty_nodes: u64,
    /// Nodes that are not empty, but could be: their pods fit on other nodes that have pods. Only resource requests are
    /// compared. The number is a lower bound.
    pub removable_nodes: u64,
    /// Pods without a node.
    pub pending: u64,
    /// Pods on nodes.
    pub running: u64,
    /// Price of all nodes for an hour, if the options name a price label.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price: Option<f64>,
    /// Price of the nodes that are not empty, for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub used_price: Option<f64>,
    /// Price of the nodes that are neither empty nor removable, for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub needed_price: Option<f64>,
    /// Use of each resource, in the order of [`Workload::resources`](crate::Workload::resources).
    pub resources: Vec<ResourceSample>,
}

/// Use of a resource at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSample {
    /// Name of the resource, as in a pod's requests; `pods` for the number of pods.
    pub resource: String,
    /// Requests of the pods on the nodes: thousandths of a core, bytes, or items.
    pub requested: i64,
    /// Allocatable amount of the nodes.
    pub allocatable: i64,
    /// Share of the free amount that pods of the workload can use, from 0 to 1. The free amount of a node is multiplied
    /// by the share of pods that fit there, among the pods with the most frequent requests of the resource. `None` if
    /// nothing is free, or no pod requests the resource.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usable: Option<f64>,
}

/// Influence of a plugin's score on decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginInfluence {
    /// The plugin.
    pub plugin: String,
    /// Its weight.
    pub weight: i64,
    /// Share of decisions whose node would differ without the plugin's score, from 0 to 1.
    pub decided: f64,
    /// Share of decisions in which no node with the highest total has the plugin's highest score, from 0 to 1.
    pub outvoted: f64,
    /// Share of decisions in which the plugin's score is equal on all feasible nodes, or it skips the pod, from 0 to 1.
    pub indifferent: f64,
}

/// The outcome of a pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodOutcome {
    /// `namespace/name`.
    pub pod: String,
    /// Priority.
    pub priority: i32,
    /// Time of its arrival.
    pub created: f64,
    /// Time of its binding; for a pod that arrived with a node, of its arrival.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bound: Option<f64>,
    /// Its node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// Its node in the recording.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recorded_node: Option<String>,
    /// Time of its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<f64>,
    /// Its state at the end.
    pub state: PodState,
}

/// State of a pod at the end of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PodState {
    /// It has no node.
    Waiting,
    /// It is on its node.
    Running,
    /// It ended as recorded.
    Ended,
    /// It lost its node by preemption.
    Preempted,
    /// It lost its node because the node was removed.
    Evicted,
}
