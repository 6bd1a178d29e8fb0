//! Exports profiles as a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1`. It contains every
//! extension point in full and all arguments, so it depends on no defaults.

mod extender;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::arguments::{arguments, camel};
use crate::config::{API_VERSION, KIND};
use crate::summary::{PluginsAt, ProfileSummary};

use extender::Extender;

/// A configuration with some profiles.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration<'p> {
    api_version: &'static str,
    kind: &'static str,
    pod_initial_backoff_seconds: u64,
    pod_max_backoff_seconds: u64,
    profiles: Vec<Profile<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extenders: Vec<Extender<'p>>,
}

impl<'p> Configuration<'p> {
    /// Creates a configuration of profiles with their scheduler names. The profiles must be valid in one
    /// scheduler: their backoff and their extenders are equal.
    pub fn new(profiles: &'p [(String, ProfileSummary)]) -> Self {
        let (initial, max) = profiles.first().map_or((1, 10), |(_, summary)| summary.backoff_seconds);
        Self {
            api_version: API_VERSION,
            kind: KIND,
            pod_initial_backoff_seconds: initial,
            pod_max_backoff_seconds: max,
            profiles: profiles.iter().map(|(name, summary)| Profile::new(name, summary, true)).collect(),
            extenders: profiles.first().into_iter().flat_map(|(_, summary)| &summary.extenders).map(Extender).collect(),
        }
    }
}

/// A profile of the configuration.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile<'p> {
    scheduler_name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentage_of_nodes_to_score: Option<i64>,
    plugins: Plugins<'p>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugin_config: Vec<PluginConfig<'p>>,
}

impl<'p> Profile<'p> {
    /// Creates a profile. `own_percentage`: whether the profile contains the percentage of nodes to score; otherwise
    /// the configuration does.
    pub fn new(scheduler_name: &'p str, summary: &'p ProfileSummary, own_percentage: bool) -> Self {
        let mut names = summary.plugins();
        names.sort_unstable();
        let configs = names.into_iter().filter_map(|name| {
            let mut args = arguments(name, summary.args_of(name))?;
            args["apiVersion"] = API_VERSION.into();
            args["kind"] = format!("{name}Args").into();
            Some(PluginConfig { name, args })
        });
        Self {
            scheduler_name,
            percentage_of_nodes_to_score: own_percentage.then_some(summary.percentage_of_nodes_to_score),
            plugins: Plugins(&summary.points),
            plugin_config: configs.collect(),
        }
    }
}

/// Plugins by extension point, in the order of a scheduling attempt; default plugins are disabled.
#[derive(Debug)]
struct Plugins<'p>(&'p [PluginsAt]);

impl Serialize for Plugins<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(
            "multiPoint",
            &Set { disabled: vec![Plugin { name: "*", weight: None }], enabled: Vec::new() },
        )?;
        for (point, plugins) in self.0.iter().filter(|(_, plugins)| !plugins.is_empty()) {
            let enabled = plugins.iter().map(|(name, weight)| Plugin { name, weight: *weight });
            map.serialize_entry(&camel(point), &Set { enabled: enabled.collect(), disabled: Vec::new() })?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Set<'p> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<Plugin<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enabled: Vec<Plugin<'p>>,
}

#[derive(Serialize)]
struct Plugin<'p> {
    name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<i64>,
}

#[derive(Debug, Serialize)]
struct PluginConfig<'p> {
    name: &'p str,
    args: Value,
}
