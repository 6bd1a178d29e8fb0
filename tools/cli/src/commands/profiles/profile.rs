//! A compiled-in profile, as it is printed.

use schedc_core::profile::{PointInfo, ProfileInfo};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A compiled-in profile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Profile {
    /// Stem of its file name.
    pub(crate) name: &'static str,
    /// Path of its file.
    pub(crate) source: &'static str,
    /// Scheduler name of the pods that it serves.
    pub(crate) scheduler_name: &'static str,
    pub(crate) percentage_of_nodes_to_score: u8,
    pub(crate) pod_initial_backoff_seconds: u64,
    pub(crate) pod_max_backoff_seconds: u64,
    /// Limits on its cost.
    #[serde(skip_serializing_if = "Budget::is_unlimited")]
    pub(crate) budget: Budget,
    /// Plugins by extension point, in the order of the scheduling cycle.
    pub(crate) points: Points,
    /// Extenders, in the order in which they are called, with the field names of profiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) extenders: Vec<Value>,
}

impl From<&ProfileInfo> for Profile {
    fn from(info: &ProfileInfo) -> Self {
        Profile {
            name: info.name,
            source: info.source,
            scheduler_name: info.scheduler_name,
            percentage_of_nodes_to_score: info.percentage_of_nodes_to_score,
            pod_initial_backoff_seconds: info.pod_initial_backoff_seconds,
            pod_max_backoff_seconds: info.pod_max_backoff_seconds,
            budget: Budget::from(info.budget),
            points: Points(info.points),
            extenders: info.extenders.iter().filter_map(|extender| serde_json::from_str(extender).ok()).collect(),
        }
    }
}

/// Limits on the cost of a profile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    nanoseconds_per_node: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions_per_decision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocations_per_decision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_node: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_size: Option<u64>,
}

impl Budget {
    fn is_unlimited(&self) -> bool {
        self.limits().is_empty()
    }

    /// Returns the limits as words.
    pub(crate) fn limits(&self) -> Vec<String> {
        let limits = [
            (self.nanoseconds_per_node, "ns per node"),
            (self.instructions_per_decision, "instructions per decision"),
            (self.allocations_per_decision, "allocations per decision"),
            (self.bytes_per_node, "bytes per node"),
            (self.binary_size, "bytes of binary"),
        ];
        limits.into_iter().filter_map(|(limit, what)| Some(format!("{} {what}", limit?))).collect()
    }
}

impl From<schedc_core::profile::Budget> for Budget {
    fn from(budget: schedc_core::profile::Budget) -> Self {
        Budget {
            nanoseconds_per_node: budget.nanoseconds_per_node,
            instructions_per_decision: budget.instructions_per_decision,
            allocations_per_decision: budget.allocations_per_decision,
            bytes_per_node: budget.bytes_per_node,
            binary_size: budget.binary_size,
        }
    }
}

/// Plugins by extension point. Serialises as a map that keeps the order of its keys.
pub(crate) struct Points(pub(crate) &'static [PointInfo]);

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for point in self.0 {
            let plugins = point.plugins.iter().map(|&(name, weight)| Plugin { name, weight });
            map.serialize_entry(point.point, &plugins.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Plugin {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<i64>,
}
