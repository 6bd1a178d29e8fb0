//! Requested share of the nodes' resources.

use std::collections::BTreeMap;

use schedc_core::cache::Base;
use schedc_core::column::NodeInfo;
use schedc_core::model::Resources;
use serde::Serialize;

/// Utilisation of one resource on all nodes together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Utilisation {
    /// Name of the resource, as in a pod's requests; `pods` for the number of pods.
    pub resource: String,
    /// Unit of the amounts.
    pub unit: Unit,
    /// Requests of the pods on the nodes.
    pub requested: i64,
    /// Allocatable amount of the nodes, including cordoned nodes.
    pub allocatable: i64,
    /// Requested share of the allocatable amount, in percent; `None` if nothing is allocatable.
    pub percent: Option<f64>,
    /// Shares of single nodes; `None` if no node has the resource.
    pub per_node: Option<Spread>,
}

/// Unit of the amounts of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Thousandths of a core.
    Millicores,
    /// Bytes.
    Bytes,
    /// Number of items.
    Count,
}

/// Percentages over the nodes that have the resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Lowest node.
    pub min: f64,
    /// Median node.
    pub median: f64,
    /// Highest node.
    pub max: f64,
}

/// Returns the utilisation of cpu, memory, ephemeral storage and pods, then of all other resources of the nodes and of
/// the pods' requests, sorted by name.
pub fn utilisation(base: &Base) -> Vec<Utilisation> {
    let mut rows: BTreeMap<(usize, String), Row> = BTreeMap::new();
    for info in base.infos() {
        for_each_amount(base, info, |rank, name, requested, allocatable| {
            rows.entry((rank, name.to_owned())).or_default().put(requested, allocatable);
        });
    }
    rows.into_iter().map(|((rank, name), row)| row.finish(rank, name)).collect()
}

/// Calls a function for each resource of a node, with the resource's rank, its name, its requested amount and its
/// allocatable amount. Reports sort resources by rank, then by name. A slot without a node has no resources.
pub(crate) fn for_each_amount(base: &Base, info: &NodeInfo, mut add_amount: impl FnMut(usize, &str, i64, i64)) {
    let Some(node) = &info.node else { return };
    let requested = requested(info);
    add_amount(0, "cpu", requested.milli_cpu, node.allocatable.milli_cpu);
    add_amount(1, "memory", requested.memory, node.allocatable.memory);
    if (requested.ephemeral_storage, node.allocatable.ephemeral_storage) != (0, 0) {
        add_amount(2, "ephemeral-storage", requested.ephemeral_storage, node.allocatable.ephemeral_storage);
    }
    add_amount(3, "pods", info.pods.len() as i64, node.allowed_pods);
    for &(symbol, allocatable) in &node.allocatable.scalars {
        add_amount(4, base.interner.resolve(symbol), requested.scalar(symbol).unwrap_or(0), allocatable);
    }
    let unknown = requested.scalars.iter().filter(|(name, _)| node.allocatable.scalar(*name).is_none());
    for &(symbol, requested) in unknown {
        add_amount(4, base.interner.resolve(symbol), requested, 0);
    }
}

/// Returns the unit of a resource of this rank.
pub(crate) fn unit(rank: usize, resource: &str) -> Unit {
    match rank {
        0 => Unit::Millicores,
        1 | 2 => Unit::Bytes,
        _ if resource.starts_with("hugepages-") => Unit::Bytes,
        _ => Unit::Count,
    }
}

fn requested(info: &NodeInfo) -> Resources {
    let mut sum = Resources::default();
    for pod in &info.pods {
        sum.add(&pod.usage.requests);
    }
    sum
}

#[derive(Default)]
struct Row {
    requested: i64,
    allocatable: i64,
    percents: Vec<f64>,
}

impl Row {
    fn put(&mut self, requested: i64, allocatable: i64) {
        self.requested = self.requested.saturating_add(requested);
        self.allocatable = self.allocatable.saturating_add(allocatable);
        self.percents.extend(percent(requested, allocatable));
    }

    fn finish(mut self, rank: usize, resource: String) -> Utilisation {
        self.percents.sort_by(f64::total_cmp);
        let per_node = match &self.percents[..] {
            [] => None,
            sorted @ [min, .., max] | sorted @ [min @ max] => {
                let (lower, upper) = ((sorted.len() - 1) / 2, sorted.len() / 2);
                Some(Spread { min: *min, median: rounded((sorted[lower] + sorted[upper]) / 2.0), max: *max })
            }
        };
        Utilisation {
            unit: unit(rank, &resource),
            resource,
            requested: self.requested,
            allocatable: self.allocatable,
            percent: percent(self.requested, self.allocatable),
            per_node,
        }
    }
}

fn percent(requested: i64, allocatable: i64) -> Option<f64> {
    (allocatable > 0).then(|| rounded(requested as f64 * 100.0 / allocatable as f64))
}

/// Rounds to two decimals, which are short in JSON.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}
