//! `schedc profiles`

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::{PointInfo, ProfileInfo};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::failure::Failure;
use super::output::{self, Format};
use super::tables::profiles::table;

/// List the profiles that are compiled in
///
/// With the plugins at each extension point, in the order in which they run, and their weights.
#[derive(Args)]
pub(crate) struct Profiles {
    /// How to print the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

impl Profiles {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let profiles: Vec<Profile> = bundle.profiles.iter().map(Profile::from).collect();
        output::print(self.output, &profiles, |profiles| table(profiles))
    }
}

/// A profile that is compiled in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Profile {
    /// The stem of its file.
    pub(crate) name: &'static str,
    /// Its file.
    pub(crate) source: &'static str,
    /// The pods that it serves, by `spec.schedulerName`.
    pub(crate) scheduler_name: &'static str,
    pub(crate) percentage_of_nodes_to_score: u8,
    pub(crate) pod_initial_backoff_seconds: u64,
    pub(crate) pod_max_backoff_seconds: u64,
    /// What it may cost.
    #[serde(skip_serializing_if = "Budget::is_unlimited")]
    pub(crate) budget: Budget,
    /// By extension point, in the order in which these run.
    pub(crate) points: Points,
    /// Who has a say besides plugins, in the order in which they are asked; the fields are called as in profiles.
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

/// The limits of a profile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    nanoseconds_per_node: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_node: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_size: Option<u64>,
}

impl Budget {
    fn is_unlimited(&self) -> bool {
        self.limits().is_empty()
    }

    /// What is limited, with the limit.
    pub(crate) fn limits(&self) -> Vec<String> {
        let limits = [
            (self.nanoseconds_per_node, "ns per node"),
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
            bytes_per_node: budget.bytes_per_node,
            binary_size: budget.binary_size,
        }
    }
}

/// Serialises as a map whose keys keep their order.
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
