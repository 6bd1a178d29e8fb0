//! Cost of a profile: time of each plugin, memory of nodes and pods.
//!
//! Plugins are measured one by one on a synthetic cluster, for two pods: a plain one, which requests cpu and
//! memory, and a demanding one, for which most plugins have work. Nothing is cached between measurements. The
//! result is the cost of a full evaluation of a node, which a scheduler pays for the first pod with a
//! signature, and later for changed nodes.

mod cluster;
mod instructions;
mod meter;

use schedc_core::costs::CostPart;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;
use serde::Serialize;

use crate::Error;
use cluster::Cluster;
use meter::{CostMeter, Measurement};

/// Cost of profiles.
#[derive(Clone, Debug, Serialize)]
pub struct Costs {
    /// Number of nodes that plugins evaluated.
    pub nodes: usize,
    /// The reason why instructions were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_instructions: Option<String>,
    /// Cost by profile.
    pub profiles: Vec<ProfileCost>,
}

/// Cost of a profile.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileCost {
    /// Name of the profile.
    pub name: &'static str,
    /// Plugins at each extension point with work, in the order of an attempt.
    pub plugins: Vec<PluginCost>,
    /// Cost per node: Filter, Score and NormalizeScore of all plugins.
    pub per_node: Amounts,
    /// Cost per pod: PreFilter and PreScore of all plugins.
    pub per_pod: Amounts,
    /// Columns that the plugins read.
    pub columns: Vec<ColumnCost>,
    /// Sum of the columns per node, in bytes.
    pub bytes_per_node: u64,
    /// Growth per node of all columns and indexes of the binary and of the lists of nodes and pods, in bytes. The
    /// node itself with its labels is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_bytes_per_node: Option<f64>,
    /// Growth per running pod, in bytes. The pod itself is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_bytes_per_pod: Option<f64>,
    /// Size of the executable, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_size: Option<u64>,
    /// Budget limits that are exceeded.
    pub exceeded: Vec<Exceeded>,
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

/// A limit of a budget that is exceeded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exceeded {
    /// Key in `[budget]`.
    pub limit: &'static str,
    /// Allowed amount.
    pub allowed: u64,
    /// Measured amount.
    pub measured: f64,
}

/// Measures profiles, given by their indexes in [`AnyBundle::profiles`].
///
/// # Errors
/// Returns an error if plugins cannot start, or fail for the pods.
pub fn measure(bundle: &AnyBundle, profiles: impl IntoIterator<Item = usize>, nodes: usize) -> Result<Costs, Error> {
    let cluster = bundle.cluster(None)?;
    let mut cluster = Cluster::new(cluster, nodes.max(1))?;
    let mut watches = CostMeter::new();
    let mut costs = Vec::new();
    for profile in profiles {
        costs.push(measure_profile(profile, &bundle.profiles[profile], &mut cluster, &mut watches)?);
    }
    Ok(Costs { nodes: cluster.nodes, no_instructions: watches.no_instructions(), profiles: costs })
}

fn measure_profile(
    profile: usize,
    info: &ProfileInfo,
    cluster: &mut Cluster,
    watches: &mut CostMeter,
) -> Result<ProfileCost, Error> {
    let mut list = Vec::new();
    for (demanding, pod) in [(false, cluster.plain.clone()), (true, cluster.demanding.clone())] {
        watches.measured.clear();
        cluster.cluster.costs(profile, &pod, watches).map_err(|status| {
            let reasons = status.reasons.join("; ");
            Error::new(format!("profile {}: {} failed: {reasons}", info.name, status.plugin))
        })?;
        for (plugin, part, measured) in watches.measured.drain(..) {
            let nodes = if part.is_per_node() { cluster.nodes as f64 } else { 1.0 };
            row(&mut list, plugin, part).amounts.set(demanding, measured, nodes);
        }
    }
    list.sort_by_key(|(part, _)| *part);
    let plugins: Vec<PluginCost> = list.into_iter().map(|(_, cost)| cost).collect();
    let (mut per_node, mut per_pod) = (Amounts::default(), Amounts::default());
    for cost in &plugins {
        if cost.is_per_node { &mut per_node } else { &mut per_pod }.add(&cost.amounts);
    }
    let columns = cluster.cluster.columns(profile);
    let mut cost = ProfileCost {
        name: info.name,
        plugins,
        per_node,
        per_pod,
        columns: columns.iter().map(|&(column, bytes)| ColumnCost { column, bytes }).collect(),
        bytes_per_node: columns.iter().map(|(_, bytes)| *bytes as u64).sum(),
        cache_bytes_per_node: cluster.bytes_per_node,
        cache_bytes_per_pod: cluster.bytes_per_pod,
        binary_size: binary_size(),
        exceeded: Vec::new(),
    };
    cost.exceeded = exceeded(&cost, info.budget);
    Ok(cost)
}

/// Returns the row of a plugin's part; adds it if it does not exist.
fn row<'l>(list: &'l mut Vec<(CostPart, PluginCost)>, plugin: &'static str, part: CostPart) -> &'l mut PluginCost {
    let at = list.iter().position(|(other, cost)| *other == part && cost.plugin == plugin).unwrap_or_else(|| {
        let amounts = Amounts::default();
        list.push((part, PluginCost { plugin, point: part.name(), is_per_node: part.is_per_node(), amounts }));
        list.len() - 1
    });
    &mut list[at].1
}

fn binary_size() -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    std::fs::metadata(program).ok().map(|metadata| metadata.len())
}

fn exceeded(cost: &ProfileCost, budget: schedc_core::profile::Budget) -> Vec<Exceeded> {
    let nanoseconds = [cost.per_node.plain_ns, cost.per_node.demanding_ns].into_iter().flatten().fold(0.0, f64::max);
    let limits = [
        ("nanoseconds-per-node", budget.nanoseconds_per_node, Some(nanoseconds)),
        ("bytes-per-node", budget.bytes_per_node, Some(cost.bytes_per_node as f64)),
        ("binary-size", budget.binary_size, cost.binary_size.map(|size| size as f64)),
    ];
    let exceeded = limits.into_iter().filter_map(|(limit, allowed, measured)| {
        let (allowed, measured) = (allowed?, measured?);
        (measured > allowed as f64).then_some(Exceeded { limit, allowed, measured })
    });
    exceeded.collect()
}

#[cfg(test)]
mod tests {
    use default_profile::Profiles;
    use schedc_core::profile::{Budget, Bundle};

    use super::*;

    #[test]
    fn every_plugin_that_filters_or_scores_is_measured() {
        let costs = measure(&AnyBundle::of::<Profiles>(), [0], 70).unwrap();
        let cost = &costs.profiles[0];
        let info = Profiles::PROFILES[0];
        for point in ["pre-filter", "filter", "pre-score", "score"] {
            for (plugin, _) in info.plugins(point) {
                let found = cost.plugins.iter().find(|cost| cost.plugin == *plugin && cost.point == point);
                // No pod of the cluster uses devices or features, and the volumes of all pods are bound.
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
        let mut costs = measure(&AnyBundle::of::<Profiles>(), [0], 10).unwrap();
        let mut cost = costs.profiles.remove(0);
        assert_eq!(cost.exceeded, []);
        cost.binary_size = Some(1000);
        let budget = |amount| Budget {
            nanoseconds_per_node: Some(amount),
            bytes_per_node: Some(amount),
            binary_size: Some(amount),
        };
        assert_eq!(exceeded(&cost, budget(u64::MAX)), []);
        let limits: Vec<&str> = exceeded(&cost, budget(1)).iter().map(|exceeded| exceeded.limit).collect();
        assert_eq!(limits, ["nanoseconds-per-node", "bytes-per-node", "binary-size"]);
        let only = Budget { binary_size: Some(999), ..Budget::NONE };
        assert_eq!(exceeded(&cost, only), [Exceeded { limit: "binary-size", allowed: 999, measured: 1000.0 }]);
    }
}
