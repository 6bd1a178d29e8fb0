//! Cost of a profile: time of each plugin, memory of nodes and pods.
//!
//! Plugins are measured one by one on a synthetic cluster, for two pods: a plain one, which requests cpu and
//! memory, and a demanding one, for which most plugins have work. Nothing is cached between measurements. The
//! result is the cost of a full evaluation of a node, which a scheduler pays for the first pod with a
//! signature, and later for changed nodes.

mod cluster;
mod decisions;
mod instructions;
mod meter;

use std::collections::BTreeMap;

use schedc_core::costs::CostPart;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::{Budget, ProfileInfo};
use serde::Serialize;

use crate::Error;
use cluster::Cluster;
pub use decisions::{DecisionCost, decide};
use decisions::{larger, with_valgrind};
use meter::{CostMeter, Measurement};

/// Cost of profiles.
#[derive(Clone, Debug, Serialize)]
pub struct Costs {
    /// Number of nodes that plugins evaluated.
    pub nodes: usize,
    /// The reason why the processor did not count instructions, followed by errors of valgrind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_instructions: Option<String>,
    /// Cost by profile.
    pub profiles: Vec<ProfileCost>,
}

/// Cost of a profile.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProfileCost {
    /// Name of the profile.
    pub name: &'static str,
    /// Cost of the plugins at each extension point where they have work, in the order of an attempt.
    pub plugins: Vec<PluginCost>,
    /// Cost per node: Filter, Score and NormalizeScore of all plugins.
    pub per_node: Amounts,
    /// Cost per pod: PreFilter and PreScore of all plugins.
    pub per_pod: Amounts,
    /// Cost of a whole decision.
    pub per_decision: DecisionCost,
    /// The plugin that takes the most time for a pod, if all nodes are evaluated.
    pub most_expensive: Option<&'static str>,
    /// Columns that the plugins read.
    pub columns: Vec<ColumnCost>,
    /// Sum of the columns per node, in bytes.
    pub bytes_per_node: u64,
    /// Memory growth per node, in bytes: all columns and indexes of the binary, and the lists of nodes and pods. The
    /// node itself with its labels is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_bytes_per_node: Option<f64>,
    /// Memory growth per running pod, in bytes. The pod itself is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_bytes_per_pod: Option<f64>,
    /// Size of the executable, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_size: Option<u64>,
    /// Budget limits that are exceeded.
    pub exceeded: Vec<Exceeded>,
    /// Keys of budget limits whose cost was not measured.
    pub unverified: Vec<&'static str>,
}

/// Cost of a plugin at an extension point, per node or per pod.
#[derive(Clone, Debug, Serialize)]
pub struct PluginCost {
    /// The plugin.
    pub plugin: &'static str,
    /// The extension point.
    pub point: &'static str,
    /// Whether the amounts are per node; otherwise they are per pod.
    pub is_per_node: bool,
    /// Amounts.
    #[serde(flatten)]
    pub amounts: Amounts,
    /// Number of allocations for all nodes together, for the pod with the larger number; `None` if the binary does not
    /// count allocations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocations: Option<f64>,
}

/// Amounts for the two pods; `None` if the plugin has no work for the pod.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Amounts {
    /// Nanoseconds for the plain pod.
    pub plain_ns: Option<f64>,
    /// Nanoseconds for the demanding pod.
    pub demanding_ns: Option<f64>,
    /// Instructions for the plain pod; `None` if they are not counted.
    pub plain_instructions: Option<f64>,
    /// Instructions for the demanding pod.
    pub demanding_instructions: Option<f64>,
}

impl Amounts {
    fn set(&mut self, demanding: bool, measured: Measurement, nodes: f64) {
        let (ns, instructions) = match demanding {
            false => (&mut self.plain_ns, &mut self.plain_instructions),
            true => (&mut self.demanding_ns, &mut self.demanding_instructions),
        };
        *ns = Some(measured.nanoseconds / nodes);
        *instructions = measured.instructions.map(|instructions| instructions / nodes);
    }

    fn add(&mut self, other: &Amounts) {
        let sum = |sum: &mut Option<f64>, other: Option<f64>| {
            if let Some(other) = other {
                *sum = Some(sum.unwrap_or_default() + other);
            }
        };
        sum(&mut self.plain_ns, other.plain_ns);
        sum(&mut self.demanding_ns, other.demanding_ns);
        sum(&mut self.plain_instructions, other.plain_instructions);
        sum(&mut self.demanding_instructions, other.demanding_instructions);
    }
}

/// A column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnCost {
    /// Name.
    pub column: &'static str,
    /// Bytes per node. Memory that an entry points to is not counted.
    pub bytes: usize,
}

/// An exceeded limit of a budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exceeded {
    /// Key in `[budget]`.
    pub limit: &'static str,
    /// Allowed amount.
    pub allowed: u64,
    /// Measured amount.
    pub measured: f64,
    /// The plugin or column that costs most, if the cost has such parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_expensive: Option<String>,
}

/// Measures profiles, given by their indexes in [`AnyBundle::profiles`].
///
/// Valgrind counts instructions of decisions if a budget limits them and this program cannot read the counter of the
/// processor. `arguments` returns the command-line arguments with which this program calls [`decide`] for a profile and
/// the given numbers of decisions.
///
/// # Errors
/// Returns an error if plugins cannot start, or fail for the pods.
pub fn measure(
    bundle: &AnyBundle,
    profiles: impl IntoIterator<Item = usize>,
    nodes: usize,
    arguments: &dyn Fn(&ProfileInfo, [usize; 2]) -> Vec<String>,
) -> Result<Costs, Error> {
    let cluster = bundle.cluster(None)?;
    let mut cluster = Cluster::new(cluster, nodes.max(1))?;
    let mut meter = CostMeter::new();
    let mut no_instructions = meter.counter.as_ref().err().cloned();
    let mut costs = Vec::new();
    for profile in profiles {
        let info = &bundle.profiles[profile];
        let mut cost = measure_profile(profile, info, &mut cluster, &mut meter)?;
        if let (Some(reason), Some(_)) = (&mut no_instructions, info.budget.instructions_per_decision) {
            match with_valgrind(&|counts| arguments(info, counts)) {
                Ok([plain, demanding]) => {
                    cost.per_decision.plain_instructions = Some(plain);
                    cost.per_decision.demanding_instructions = Some(demanding);
                }
                Err(error) => *reason = format!("{reason}; {error}"),
            }
        }
        (cost.exceeded, cost.unverified) = compare(&cost, info.budget, cluster.nodes);
        costs.push(cost);
    }
    Ok(Costs { nodes: cluster.nodes, no_instructions, profiles: costs })
}

fn measure_profile(
    profile: usize,
    info: &ProfileInfo,
    cluster: &mut Cluster,
    meter: &mut CostMeter,
) -> Result<ProfileCost, Error> {
    let mut list = Vec::new();
    for (demanding, pod) in [(false, cluster.plain.clone()), (true, cluster.demanding.clone())] {
        meter.measured.clear();
        cluster.cluster.costs(profile, &pod, meter).map_err(|status| {
            let reasons = status.reasons.join("; ");
            Error::new(format!("profile {}: {} failed: {reasons}", info.name, status.plugin))
        })?;
        for (plugin, part, measured) in meter.measured.drain(..) {
            let nodes = if part.is_per_node() { cluster.nodes as f64 } else { 1.0 };
            let row = row(&mut list, plugin, part);
            row.amounts.set(demanding, measured, nodes);
            row.allocations = larger(row.allocations, measured.allocations);
        }
    }
    list.sort_by_key(|(part, _)| *part);
    let plugins: Vec<PluginCost> = list.into_iter().map(|(_, cost)| cost).collect();
    let (mut per_node, mut per_pod) = (Amounts::default(), Amounts::default());
    for cost in &plugins {
        if cost.is_per_node { &mut per_node } else { &mut per_pod }.add(&cost.amounts);
    }
    let columns = cluster.cluster.columns(profile);
    let per_decision = decisions::measure(profile, cluster, &mut meter.counter);
    Ok(ProfileCost {
        name: info.name,
        per_decision,
        most_expensive: most_expensive(&plugins, |cost| time(cost, cluster.nodes)),
        plugins,
        per_node,
        per_pod,
        columns: columns.iter().map(|&(column, bytes)| ColumnCost { column, bytes }).collect(),
        bytes_per_node: columns.iter().map(|(_, bytes)| *bytes as u64).sum(),
        cache_bytes_per_node: cluster.bytes_per_node,
        cache_bytes_per_pod: cluster.bytes_per_pod,
        binary_size: binary_size(),
        exceeded: Vec::new(),
        unverified: Vec::new(),
    })
}

/// Returns the time of a plugin at an extension point, for all nodes.
fn time(cost: &PluginCost, nodes: usize) -> Option<f64> {
    let nodes = if cost.is_per_node { nodes as f64 } else { 1.0 };
    larger(cost.amounts.plain_ns, cost.amounts.demanding_ns).map(|ns| ns * nodes)
}

/// Returns the plugin with the highest sum over its extension points. `None`: no plugin has a cost.
fn most_expensive(plugins: &[PluginCost], cost: impl Fn(&PluginCost) -> Option<f64>) -> Option<&'static str> {
    let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
    for part in plugins {
        *sums.entry(part.plugin).or_default() += cost(part).unwrap_or_default();
    }
    let highest = sums.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    highest.filter(|(_, sum)| *sum > 0.0).map(|(plugin, _)| plugin)
}

/// Returns the row of a plugin and a part of its cost; adds the row if it does not exist.
fn row<'l>(list: &'l mut Vec<(CostPart, PluginCost)>, plugin: &'static str, part: CostPart) -> &'l mut PluginCost {
    let at = list.iter().position(|(other, cost)| *other == part && cost.plugin == plugin).unwrap_or_else(|| {
        let (amounts, is_per_node) = (Amounts::default(), part.is_per_node());
        list.push((part, PluginCost { plugin, point: part.name(), is_per_node, amounts, allocations: None }));
        list.len() - 1
    });
    &mut list[at].1
}

fn binary_size() -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    std::fs::metadata(program).ok().map(|metadata| metadata.len())
}

/// Compares a profile with its budget. Returns the exceeded limits, and the keys of the limits whose cost is unknown.
fn compare(cost: &ProfileCost, budget: Budget, nodes: usize) -> (Vec<Exceeded>, Vec<&'static str>) {
    let plugin = |cost_of: &dyn Fn(&PluginCost) -> Option<f64>| {
        most_expensive(&cost.plugins, cost_of).map(|plugin| format!("plugin {plugin}"))
    };
    let instructions_of = |part: &PluginCost| {
        let each = if part.is_per_node { nodes as f64 } else { 1.0 };
        larger(part.amounts.plain_instructions, part.amounts.demanding_instructions).map(|number| number * each)
    };
    let column = cost.columns.iter().max_by_key(|column| column.bytes);
    let column = column.map(|column| format!("column {}", column.column));
    let limits = [
        (
            "nanoseconds-per-node",
            budget.nanoseconds_per_node,
            larger(cost.per_node.plain_ns, cost.per_node.demanding_ns),
            plugin(&|part| time(part, 1).filter(|_| part.is_per_node)),
        ),
        (
            "instructions-per-decision",
            budget.instructions_per_decision,
            cost.per_decision.instructions(),
            // Valgrind counts only whole decisions; the plugins are then compared by time.
            plugin(&instructions_of).or_else(|| plugin(&|part| time(part, nodes))),
        ),
        (
            "allocations-per-decision",
            budget.allocations_per_decision,
            cost.per_decision.allocations(),
            plugin(&|part| part.allocations),
        ),
        ("bytes-per-node", budget.bytes_per_node, Some(cost.bytes_per_node as f64), column),
        ("binary-size", budget.binary_size, cost.binary_size.map(|size| size as f64), None),
    ];
    let (mut exceeded, mut unverified) = (Vec::new(), Vec::new());
    for (limit, allowed, measured, most_expensive) in limits {
        match (allowed, measured) {
            (Some(allowed), Some(measured)) if measured > allowed as f64 => {
                exceeded.push(Exceeded { limit, allowed, measured, most_expensive });
            }
            (Some(_), None) => unverified.push(limit),
            _ => {}
        }
    }
    (exceeded, unverified)
}

#[cfg(test)]
mod tests {
    use default_profile::Profiles;
    use schedc_core::profile::Bundle;

    use super::*;

    fn measured(nodes: usize) -> ProfileCost {
        let arguments = |_: &ProfileInfo, _: [usize; 2]| Vec::new();
        measure(&AnyBundle::of::<Profiles>(), [0], nodes, &arguments).unwrap().profiles.remove(0)
    }

    #[test]
    fn every_plugin_that_filters_or_scores_is_measured() {
        let cost = measured(70);
        let info = Profiles::PROFILES[0];
        for point in ["pre-filter", "filter", "pre-score", "score"] {
            for (plugin, _) in info.plugins(point) {
                let found = cost.plugins.iter().find(|cost| cost.plugin == *plugin && cost.point == point);
                // The pods use no devices, no node features and no node name, and their volumes are bound.
                let is_idle = ["DynamicResources", "NodeDeclaredFeatures", "NodeName"].contains(plugin)
                    || (*plugin, point) == ("VolumeBinding", "score");
                assert!(
                    found.is_some_and(|cost| cost.amounts.demanding_ns.is_some()) || is_idle,
                    "{plugin} at {point}"
                );
            }
        }
        assert!(cost.columns.iter().any(|column| column.column == "node-resources" && column.bytes > 0));
        assert_eq!(cost.bytes_per_node, cost.columns.iter().map(|column| column.bytes as u64).sum::<u64>());
    }

    #[test]
    fn a_budget_limits_measured_costs() {
        let mut cost = measured(10);
        assert_eq!(cost.exceeded, []);
        cost.binary_size = Some(1000);
        cost.per_decision = DecisionCost {
            plain_instructions: Some(10.0),
            demanding_instructions: Some(70_000.0),
            plain_allocations: Some(3.0),
            demanding_allocations: Some(2.0),
        };
        let budget = |amount| Budget {
            nanoseconds_per_node: Some(amount),
            instructions_per_decision: Some(amount),
            allocations_per_decision: Some(amount),
            bytes_per_node: Some(amount),
            binary_size: Some(amount),
        };
        assert_eq!(compare(&cost, budget(u64::MAX), 10), (vec![], vec![]));
        let (exceeded, _) = compare(&cost, budget(1), 10);
        let limits: Vec<&str> = exceeded.iter().map(|exceeded| exceeded.limit).collect();
        let all = [
            "nanoseconds-per-node",
            "instructions-per-decision",
            "allocations-per-decision",
            "bytes-per-node",
            "binary-size",
        ];
        assert_eq!(limits, all);
        assert_eq!((exceeded[1].measured, exceeded[2].measured), (70_000.0, 3.0), "the larger cost counts");
        let names: Vec<Option<&str>> = exceeded.iter().map(|exceeded| exceeded.most_expensive.as_deref()).collect();
        assert!(names[0].is_some_and(|name| name.starts_with("plugin ")), "{names:?}");
        assert!(names[1].is_some_and(|name| name.starts_with("plugin ")), "{names:?}");
        assert!(names[3].is_some_and(|name| name.starts_with("column ")) && names[4].is_none(), "{names:?}");
        cost.per_decision = DecisionCost::default();
        let (_, unverified) = compare(&cost, budget(1), 10);
        assert_eq!(unverified, ["instructions-per-decision", "allocations-per-decision"]);
    }

    #[test]
    fn the_most_expensive_plugin_has_the_highest_sum_of_its_parts() {
        let part = |plugin, is_per_node, ns| PluginCost {
            plugin,
            point: "filter",
            is_per_node,
            amounts: Amounts { demanding_ns: Some(ns), ..Amounts::default() },
            allocations: None,
        };
        let plugins = [part("A", true, 3.0), part("B", true, 2.0), part("B", true, 2.0), part("C", false, 30.0)];
        let slowest = |nodes| most_expensive(&plugins, |cost| time(cost, nodes));
        assert_eq!((slowest(1), slowest(10)), (Some("C"), Some("B")));
        assert_eq!(most_expensive(&plugins, |cost| cost.allocations), None);
    }
}
