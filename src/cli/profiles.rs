//! `schedc profiles`

use clap::Args;
use schedc::pipelines;
use schedc_core::profile::{Bundle, PointInfo, ProfileInfo};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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
    pub(crate) fn run(self) -> Result<(), Failure> {
        let profiles: Vec<Profile> = pipelines::Profiles::PROFILES.iter().map(Profile::from).collect();
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
    /// By extension point, in the order in which these run.
    pub(crate) points: Points,
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
            points: Points(info.points),
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
