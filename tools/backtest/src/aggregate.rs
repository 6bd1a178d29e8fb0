//! Estimates over the seeds of a back-test, and the combination of shards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::numbers::rounded;
use crate::report::{
    Backtest, Better, Estimate, Metric, MetricUnit, Parameter, PluginEstimate, Point, ProfileResult, ResourcePoint,
    Run, Shard, Source, VERSION,
};
use crate::result::{PluginInfluence, ResourceSample, RunResult, Sample};
use crate::t_distribution::quantile;

/// The method of all estimates.
pub const METHOD: &str = "The value of a metric is its mean over the seeds; the interval is the 95 % confidence interval of that mean by \
     Student's t-distribution. Each seed gives one difference from the first profile; the value is the mean of these \
     differences, with its interval. Seeds vary the choice among equally good nodes only: the intervals do not cover other workloads. Numbers of \
     pods and nodes, utilisation, and the costs of all nodes and of nodes with pods are exact means over time; free and \
     usable amounts, nodes that could be empty, and the cost of nodes that could not be empty are means over equidistant \
     samples.";

/// Identity of a profile in a back-test.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileId {
    /// Name as on the command line.
    pub name: String,
    /// Swept parameters with the profile's values; empty without a sweep.
    pub parameters: Vec<Parameter>,
    /// [Fingerprint](crate::fingerprint::of_profile) of its content.
    pub fingerprint: String,
}

/// The parts of a back-test from which its estimates are computed.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The workload.
    pub source: Source,
    /// Assumptions of the simulations.
    pub assumptions: Vec<String>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Profiles.
    pub profiles: Vec<ProfileId>,
    /// The shard that `runs` belongs to; `None` if `runs` has all runs.
    pub shard: Option<Shard>,
    /// The runs by profile and seed.
    pub runs: Vec<Run>,
}

/// Reason why shards cannot be combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// There are no results to combine.
    Empty,
    /// The result with this number, from 1, has another version of the format.
    Version(usize, u32),
    /// The result with this number differs from the first one in this part.
    Differs(usize, &'static str),
    /// A run in the result with this number refers to a profile that does not exist.
    UnknownProfile(usize),
    /// Two results have the run of this profile and seed.
    Twice(String, u64),
    /// The run of this profile and seed is in no result.
    Missing(String, u64),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Empty => f.write_str("there is no result to merge"),
            MergeError::Version(at, version) => {
                write!(f, "result {at} has version {version} of the format; this program reads {VERSION}")
            }
            MergeError::Differs(at, part) => {
                write!(f, "result {at} has other {part} than the first one; merge shards of one back-test only")
            }
            MergeError::UnknownProfile(at) => write!(f, "result {at} has a run of a profile that it does not list"),
            MergeError::Twice(profile, seed) => {
                write!(f, "two results have the run of {profile} with seed {seed}; name each shard once")
            }
            MergeError::Missing(profile, seed) => {
                write!(f, "no result has the run of {profile} with seed {seed}; name all shards")
            }
        }
    }
}

impl std::error::Error for MergeError {}

/// Returns the result of a back-test.
pub fn aggregate(parts: Parts) -> Backtest {
    let Parts { source, assumptions, seeds, profiles, shard, runs } = parts;
    let of_profile = |profile: usize| -> Vec<(u64, &RunResult)> {
        runs.iter().filter(|run| run.profile == profile).map(|run| (run.seed, &run.result)).collect()
    };
    let baseline = values(&of_profile(0), source.seconds);
    let results = profiles
        .into_iter()
        .enumerate()
        .map(|(at, name)| compared(name, source.seconds, &of_profile(at), (at > 0).then_some(&baseline[..])));
    let profiles = results.collect();
    Backtest { version: VERSION, source, assumptions, method: METHOD.to_owned(), seeds, profiles, shard, runs }
}

/// Returns the estimates of one profile from its results by seed.
pub fn profile(name: ProfileId, seconds: f64, results: &[(u64, &RunResult)]) -> ProfileResult {
    compared(name, seconds, results, None)
}

/// Returns the estimates of one profile, with the differences from `baseline` for equal seeds.
fn compared(
    ProfileId { name, parameters, fingerprint }: ProfileId,
    seconds: f64,
    results: &[(u64, &RunResult)],
    baseline: Option<&[(u64, Vec<Value>)]>,
) -> ProfileResult {
    let runs: Vec<&RunResult> = results.iter().map(|(_, result)| *result).collect();
    ProfileResult {
        name,
        parameters,
        fingerprint,
        metrics: estimates(&values(results, seconds), baseline),
        series: series(&runs),
        explained: runs.iter().map(|run| run.explained).sum(),
        left_out: runs.iter().map(|run| run.left_out).sum(),
        plugins: plugins(&runs),
    }
}

/// Returns the values of each run by seed.
fn values(results: &[(u64, &RunResult)], seconds: f64) -> Vec<(u64, Vec<Value>)> {
    results.iter().map(|(seed, result)| (*seed, metrics(result, seconds / 3600.0))).collect()
}

/// Combines the shards of a back-test.
///
/// # Errors
/// Returns an error if the results are not exactly the shards of one back-test, each once.
pub fn merge(results: Vec<Backtest>) -> Result<Backtest, MergeError> {
    let ids = |result: &Backtest| -> Vec<ProfileId> {
        let id = |profile: &ProfileResult| ProfileId {
            name: profile.name.clone(),
            parameters: profile.parameters.clone(),
            fingerprint: profile.fingerprint.clone(),
        };
        result.profiles.iter().map(id).collect()
    };
    let first = results.first().ok_or(MergeError::Empty)?;
    let (source, assumptions, seeds) = (first.source.clone(), first.assumptions.clone(), first.seeds.clone());
    let profiles = ids(first);
    let mut runs: BTreeMap<(usize, u64), Run> = BTreeMap::new();
    for (at, result) in (1..).zip(results) {
        if result.version != VERSION {
            return Err(MergeError::Version(at, result.version));
        }
        let parts = [
            ("workloads or options", result.source.fingerprint == source.fingerprint),
            ("seeds", result.seeds == seeds),
            ("profiles", ids(&result) == profiles),
        ];
        if let Some((part, _)) = parts.into_iter().find(|(_, is_equal)| !is_equal) {
            return Err(MergeError::Differs(at, part));
        }
        for run in result.runs {
            let name = profiles.get(run.profile).ok_or(MergeError::UnknownProfile(at))?;
            if runs.contains_key(&(run.profile, run.seed)) {
                return Err(MergeError::Twice(name.name.clone(), run.seed));
            }
            runs.insert((run.profile, run.seed), run);
        }
    }
    let mut ordered = Vec::new();
    for (at, profile) in profiles.iter().enumerate() {
        for seed in &seeds {
            let run = runs.remove(&(at, *seed)).ok_or_else(|| MergeError::Missing(profile.name.clone(), *seed))?;
            ordered.push(run);
        }
    }
    Ok(aggregate(Parts { source, assumptions, seeds, profiles, shard: None, runs: ordered }))
}

/// A value of one run. The fields are those of [`Metric`].
struct Value {
    name: &'static str,
    of: Option<String>,
    unit: MetricUnit,
    better: Better,
    value: f64,
}

/// Returns the values of a run, in a fixed order.
fn metrics(result: &RunResult, hours: f64) -> Vec<Value> {
    use Better::{Higher, Lower, Neither};
    use MetricUnit::{Count, Price, Seconds, Share};
    let mut values = Vec::new();
    let mut put = |name, of: Option<&str>, unit, better, value| {
        values.push(Value { name, of: of.map(str::to_owned), unit, better, value });
    };
    let samples = &result.samples[..];
    put("bound", None, Count, Higher, result.pods.bound as f64);
    put("waiting", None, Count, Lower, result.pods.waiting as f64);
    let priorities = result.time_to_bind.len().saturating_sub(1);
    for wait in &result.time_to_bind {
        let priority = wait.priority.map(|priority| priority.to_string());
        if priority.is_some() && priorities < 2 {
            continue;
        }
        put("timeToBind.p50", priority.as_deref(), Seconds, Lower, wait.p50);
        put("timeToBind.p99", priority.as_deref(), Seconds, Lower, wait.p99);
    }
    let over_time = &result.over_time;
    put("pending.mean", None, Count, Lower, over_time.pending);
    put("pending.max", None, Count, Lower, over_time.max_pending as f64);
    put("preempted", None, Count, Lower, result.pods.preempted as f64);
    put("lost", None, Count, Lower, result.pods.lost as f64);
    put("attempts", None, Count, Neither, result.attempts as f64);
    for (at, resource) in over_time.resources.iter().enumerate() {
        let name = Some(resource.resource.as_str());
        if resource.allocatable > 0.0 {
            put("utilisation", name, Share, Neither, resource.requested / resource.allocatable);
        }
        if let Some(usable) = mean(samples, |sample| sample.resources.get(at)?.usable) {
            put("usableFree", name, Share, Higher, usable);
        }
    }
    put("nodes.empty", None, Count, Higher, over_time.empty_nodes);
    let could_be_empty = |sample: &Sample| Some((sample.empty_nodes + sample.removable_nodes) as f64);
    if let Some(nodes) = mean(samples, could_be_empty) {
        put("nodes.couldBeEmpty", None, Count, Higher, nodes);
    }
    let needed = mean(samples, |sample| sample.needed_price);
    let prices = [
        ("cost.allNodes", Neither, over_time.price),
        ("cost.usedNodes", Lower, over_time.used_price),
        ("cost.neededNodes", Lower, needed),
    ];
    for (name, better, price) in prices {
        if let Some(price) = price {
            put(name, None, Price, better, price * hours);
        }
    }
    values
}

fn utilisation(resource: &ResourceSample) -> Option<f64> {
    (resource.allocatable > 0).then(|| resource.requested as f64 / resource.allocatable as f64)
}

/// Returns the mean of the values that exist; `None` if there are none.
fn mean<T>(items: &[T], value: impl Fn(&T) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = items.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the mean of values and its confidence interval.
pub fn estimate(values: &[f64]) -> Estimate {
    let count = values.len();
    if count == 0 {
        return Estimate::default();
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    if count == 1 {
        return Estimate { mean: rounded(mean), low: None, high: None, values: 1 };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let half = quantile(count - 1) * (variance / count as f64).sqrt();
    let (low, high) = (Some(rounded(mean - half)), Some(rounded(mean + half)));
    Estimate { mean: rounded(mean), low, high, values: count as u64 }
}

fn estimates(runs: &[(u64, Vec<Value>)], baseline: Option<&[(u64, Vec<Value>)]>) -> Vec<Metric> {
    type Id<'a> = (&'a str, Option<&'a str>);
    let id = |value: &Value| -> (String, Option<String>) { (value.name.to_owned(), value.of.clone()) };
    let find = |values: &[Value], (name, of): Id<'_>| {
        values.iter().find(|value| value.name == name && value.of.as_deref() == of).map(|value| value.value)
    };
    let mut known = BTreeSet::new();
    let mut metrics = Vec::new();
    for value in runs.iter().flat_map(|(_, values)| values) {
        if !known.insert(id(value)) {
            continue;
        }
        let metric_id = (value.name, value.of.as_deref());
        let values: Vec<f64> = runs.iter().filter_map(|(_, values)| find(values, metric_id)).collect();
        let difference = baseline.map(|baseline| {
            let differences = runs.iter().filter_map(|(seed, values)| {
                let (_, baseline_values) = baseline.iter().find(|(baseline_seed, _)| baseline_seed == seed)?;
                Some(find(values, metric_id)? - find(baseline_values, metric_id)?)
            });
            estimate(&differences.collect::<Vec<f64>>())
        });
        metrics.push(Metric {
            name: value.name.to_owned(),
            of: value.of.clone(),
            unit: value.unit,
            better: value.better,
            estimate: estimate(&values),
            difference: difference.filter(|difference| difference.values > 0),
        });
    }
    metrics
}

fn series(runs: &[&RunResult]) -> Vec<Point> {
    let Some(first) = runs.first() else { return Vec::new() };
    let point = |(at, sample): (usize, &Sample)| {
        let samples: Vec<&Sample> = runs.iter().filter_map(|run| run.samples.get(at)).collect();
        let count = |of: fn(&Sample) -> u64| mean(&samples, |sample| Some(of(sample) as f64)).map_or(0.0, rounded);
        let resources = sample.resources.iter().enumerate().map(|(index, resource)| {
            let resource_of = |sample: &&Sample| sample.resources.get(index).cloned();
            ResourcePoint {
                resource: resource.resource.clone(),
                utilisation: mean(&samples, |sample| utilisation(&resource_of(sample)?)).map_or(0.0, rounded),
                usable: mean(&samples, |sample| resource_of(sample)?.usable).map(rounded),
            }
        });
        Point {
            at: sample.at,
            nodes: count(|sample| sample.nodes),
            empty_nodes: count(|sample| sample.empty_nodes),
            removable_nodes: count(|sample| sample.removable_nodes),
            pending: count(|sample| sample.pending),
            running: count(|sample| sample.running),
            used_price: mean(&samples, |sample| sample.used_price).map(rounded),
            resources: resources.collect(),
        }
    };
    first.samples.iter().enumerate().map(point).collect()
}

fn plugins(runs: &[&RunResult]) -> Vec<PluginEstimate> {
    let Some(first) = runs.first() else { return Vec::new() };
    let plugin_estimate = |(at, plugin): (usize, &PluginInfluence)| {
        let values = |value: fn(&PluginInfluence) -> f64| {
            // Runs without an explained decision have no influence to estimate.
            let known = runs.iter().filter(|run| run.explained > 0);
            estimate(&known.filter_map(|run| run.plugins.get(at)).map(value).collect::<Vec<f64>>())
        };
        PluginEstimate {
            plugin: plugin.plugin.clone(),
            weight: plugin.weight,
            decided: values(|plugin| plugin.decided),
            outvoted: values(|plugin| plugin.outvoted),
            indifferent: values(|plugin| plugin.indifferent),
        }
    };
    first.plugins.iter().enumerate().map(plugin_estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PodCounts;

    fn run(profile: usize, seed: u64, bound: u64) -> Run {
        let pods = PodCounts { bound, ..PodCounts::default() };
        Run { profile, seed, result: RunResult { pods, ..RunResult::default() } }
    }

    fn parts(runs: Vec<Run>, shard: Option<Shard>) -> Parts {
        let id = |name: &str| ProfileId {
            name: name.to_owned(),
            parameters: Vec::new(),
            fingerprint: format!("content of {name}"),
        };
        Parts {
            source: Source { seconds: 3600.0, ..Source::default() },
            assumptions: Vec::new(),
            seeds: vec![0, 1, 2],
            profiles: vec![id("a"), id("b")],
            shard,
            runs,
        }
    }

    fn all() -> Vec<Run> {
        vec![run(0, 0, 10), run(0, 1, 12), run(0, 2, 14), run(1, 0, 11), run(1, 1, 13), run(1, 2, 15)]
    }

    #[test]
    fn an_interval_is_that_of_the_t_distribution() {
        let found = estimate(&[10.0, 12.0, 14.0]);
        // The standard error is 2/√3. The quantile for two degrees of freedom is 4.303.
        assert_eq!(found, Estimate { mean: 12.0, low: Some(7.031324), high: Some(16.968676), values: 3 });
        assert_eq!(estimate(&[3.0]), Estimate { mean: 3.0, low: None, high: None, values: 1 });
    }

    #[test]
    fn differences_are_those_of_equal_seeds() {
        let result = aggregate(parts(all(), None));
        let bound = |profile: usize| result.profiles[profile].metrics[0].clone();
        assert_eq!((bound(0).name.as_str(), bound(0).difference), ("bound", None));
        let expected = Estimate { mean: 1.0, low: Some(1.0), high: Some(1.0), values: 3 };
        assert_eq!((bound(1).estimate.mean, bound(1).difference), (13.0, Some(expected)));
    }

    #[test]
    fn merged_shards_equal_the_whole() {
        let shard = |number| {
            let shard = Shard { number, of: 2 };
            let runs = all().into_iter().enumerate().filter(|(at, _)| shard.has(*at)).map(|(_, run)| run);
            aggregate(parts(runs.collect(), Some(shard)))
        };
        let whole = aggregate(parts(all(), None));
        assert_eq!(merge(vec![shard(2), shard(1)]), Ok(whole));
        assert_eq!(merge(vec![shard(1)]), Err(MergeError::Missing("a".to_owned(), 1)));
        assert_eq!(merge(vec![shard(1), shard(1)]), Err(MergeError::Twice("a".to_owned(), 0)));
        let mut other = shard(2);
        other.source.fingerprint = "x".to_owned();
        assert_eq!(merge(vec![shard(1), other]), Err(MergeError::Differs(2, "workloads or options")));
        let mut other = shard(2);
        other.profiles[1].fingerprint = "content of an edited file".to_owned();
        assert_eq!(merge(vec![shard(1), other]), Err(MergeError::Differs(2, "profiles")));
        assert_eq!(merge(Vec::new()), Err(MergeError::Empty));
    }
}
