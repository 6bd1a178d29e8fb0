//! Result of a back-test: estimates for each profile over seeds.

use serde::{Deserialize, Serialize};

use crate::result::{LeftOut, PodOutcome, RunResult};

/// Version of the JSON format.
pub const VERSION: u32 = 1;

/// Result of one closed-loop replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedLoop {
    /// The workload.
    pub source: Source,
    /// The profiles.
    pub profiles: Vec<String>,
    /// Seed of the choice among equally good nodes.
    pub seed: u64,
    /// Assumptions of the simulation.
    pub assumptions: Vec<String>,
    /// The result.
    pub result: RunResult,
    /// All pods, in the order of their arrival.
    pub pods: Vec<PodOutcome>,
}

/// Result of a back-test, or of one shard of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backtest {
    /// Version of the format.
    pub version: u32,
    /// The workload.
    pub source: Source,
    /// Assumptions of the simulations.
    pub assumptions: Vec<String>,
    /// Method of the estimates.
    pub method: String,
    /// Seeds of each profile.
    pub seeds: Vec<u64>,
    /// Profiles, in the order of the command line. The first one is the baseline of differences.
    pub profiles: Vec<ProfileResult>,
    /// The part of all runs that this result has; `None` if it has all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shard: Option<Shard>,
    /// Results by profile and seed.
    pub runs: Vec<Run>,
}

/// Part of the runs of a back-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards.
    pub of: u32,
}

/// Description of a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Files or folders.
    pub paths: Vec<String>,
    /// Start, if the workload has absolute times.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Nodes at the start.
    pub nodes: u64,
    /// Pods that arrive with a node, or have one at the start.
    pub initial_pods: u64,
    /// Pods that arrive, or wait at the start.
    pub arriving_pods: u64,
    /// Fingerprint of the workload. Shards with different fingerprints are not merged.
    pub fingerprint: String,
}

/// Results of a profile over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileResult {
    /// The profile as on the command line, with its parameters.
    pub name: String,
    /// Swept parameters with the profile's values; empty without a sweep.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parameters: Vec<Parameter>,
    /// Fingerprint of its plugins, weights, arguments and settings. Shards with different fingerprints are not merged.
    pub fingerprint: String,
    /// Estimates, in a fixed order.
    pub metrics: Vec<Metric>,
    /// Means over the seeds at equidistant times.
    pub series: Vec<Point>,
    /// Number of decisions, over all seeds, for which the influence of each plugin is known.
    #[serde(default)]
    pub explained: u64,
    /// Sampled decisions, over all seeds, for which the influence of the plugins is not known.
    #[serde(default)]
    pub left_out: LeftOut,
    /// Influence of each plugin that scores; all extenders together count as one plugin.
    pub plugins: Vec<PluginEstimate>,
}

/// A parameter that a sweep varies, with one of its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The parameter, such as `NodeResourcesFit.weight`.
    pub name: String,
    /// The value.
    pub value: String,
}

/// An estimate of a quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metric {
    /// Name, such as `timeToBind.p99`.
    pub name: String,
    /// The resource or the priority, if the metric exists once for each resource or for each priority.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<String>,
    /// Unit.
    pub unit: MetricUnit,
    /// The direction of better values.
    pub better: Better,
    /// Mean over the seeds.
    pub estimate: Estimate,
    /// Mean difference from the first profile, seed by seed; `None` for the first profile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<Estimate>,
}

/// Unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MetricUnit {
    /// A number of items.
    Count,
    /// Seconds.
    Seconds,
    /// From 0 to 1.
    Share,
    /// The currency of the prices of nodes.
    Price,
}

/// Direction of better values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Better {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
    /// Depends on the goal.
    Neither,
}

/// Mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// Lower bound of the interval; `None` with fewer than two values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper bound of the interval; `None` with fewer than two values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
    /// Number of values.
    pub values: u64,
}

/// Means over the seeds at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// Time in seconds since the start.
    pub at: f64,
    /// Nodes.
    pub nodes: f64,
    /// Nodes without pods; pods of DaemonSets do not count.
    pub empty_nodes: f64,
    /// Nodes that are not empty, but could be: [`Sample::removable_nodes`](crate::result::Sample::removable_nodes).
    pub removable_nodes: f64,
    /// Pods without a node.
    pub pending: f64,
    /// Pods on nodes.
    pub running: f64,
    /// Price of the nodes that are not empty, for an hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub used_price: Option<f64>,
    /// Use of each resource.
    pub resources: Vec<ResourcePoint>,
}

/// Use of a resource at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcePoint {
    /// Name of the resource.
    pub resource: String,
    /// Requested share of the allocatable amount, from 0 to 1.
    pub utilisation: f64,
    /// Mean of [`ResourceSample::usable`](crate::result::ResourceSample::usable).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usable: Option<f64>,
}

/// Influence of a plugin over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginEstimate {
    /// The plugin.
    pub plugin: String,
    /// Its weight.
    pub weight: i64,
    /// Share of decisions whose node would differ without the plugin's score.
    pub decided: Estimate,
    /// Share of decisions in which no node with the highest total has the plugin's highest score.
    pub outvoted: Estimate,
    /// Share of decisions in which the plugin's score is equal on all feasible nodes, or it skips the pod.
    pub indifferent: Estimate,
}

/// Result of a profile and a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Index of the profile.
    pub profile: usize,
    /// The seed.
    pub seed: u64,
    /// The result.
    pub result: RunResult,
}
