//! Summary of a profile's pipeline as lists, for comparisons with compiled profiles.

use std::collections::HashSet;

#[cfg(feature = "write")]
use schedc_codegen::plan::Plan;
use schedc_core::profile::ProfileInfo;
use schedc_profile_rules::plan::PlanExtender;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::tree::{RawNode, RawValue};
use serde_json::{Value, json};

use crate::effective::Effective;
use crate::extenders;
use crate::profile::{self, Profile};

/// The plugin that filters by resources.
const FIT: &str = "NodeResourcesFit";

/// An extension point by its name in profiles, and its plugins in order, with their weights at `score`.
pub type PluginsAt = (&'static str, Vec<(String, Option<i64>)>);

/// Pipeline of a profile, as far as schedc supports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileSummary {
    /// Percentage of the nodes that Filter must find feasible before scoring; 0 is kube-scheduler's adaptive rule.
    pub percentage_of_nodes_to_score: i64,
    /// Backoff after the first failed attempt, and the maximum backoff.
    pub backoff_seconds: (u64, u64),
    /// All extension points.
    pub points: Vec<PluginsAt>,
    /// The arguments by plugin name, with the field names of profiles.
    pub args: Vec<(String, Value)>,
    /// The extenders in call order, with the field names of profiles.
    pub extenders: Vec<Value>,
}

impl ProfileSummary {
    /// Creates the summary of a translated profile, without compiling it.
    pub(crate) fn new(profile: &Profile, effective: &Effective) -> ProfileSummary {
        let points = Point::ALL.into_iter().map(|point| {
            let at_point = effective.point(point).iter().filter(|entry| profile::runs_at(&entry.name, point));
            let weight = |weight: i64| (point == Point::Score).then_some(weight);
            (point.name(), at_point.map(|entry| (entry.name.clone(), weight(entry.weight))).collect())
        });
        let extenders = extenders::planned(&profile.extenders);
        let seconds =
            |written: Option<i64>, default| written.and_then(|seconds| seconds.try_into().ok()).unwrap_or(default);
        ProfileSummary {
            percentage_of_nodes_to_score: profile.percentage_of_nodes_to_score,
            backoff_seconds: (
                seconds(profile.pod_initial_backoff_seconds, 1),
                seconds(profile.pod_max_backoff_seconds, 10),
            ),
            args: args(profile, effective, &extenders),
            points: points.collect(),
            extenders: extenders.iter().map(PlanExtender::to_json).collect(),
        }
    }

    /// Returns whether arguments and extenders are those of a plan, in any order of plugins.
    #[cfg(feature = "write")]
    pub(crate) fn has_settings_of(&self, plan: &Plan) -> bool {
        let compiled = ProfileSummary::from(plan);
        self.extenders == compiled.extenders
            && self.args.len() == compiled.args.len()
            && self.args.iter().all(|(plugin, args)| compiled.args_of(plugin) == Some(args))
    }
}

/// Returns the arguments of plugins. Resources that extenders manage are added to those that NodeResourcesFit ignores.
fn args(profile: &Profile, effective: &Effective, extenders: &[PlanExtender]) -> Vec<(String, Value)> {
    let written = profile.args.iter().filter_map(|args| Some((args.plugin.value.clone(), json(&args.value)?)));
    let mut all: Vec<(String, Value)> = written.collect();
    let managed = extenders.iter().flat_map(|extender| &extender.managed_resources);
    let managed = managed.filter(|resource| resource.ignored_by_scheduler);
    for resource in managed.filter(|_| effective.names().contains(&FIT)) {
        if all.iter().all(|(plugin, _)| plugin != FIT) {
            all.push((FIT.to_owned(), json!({})));
        }
        let fit = all.iter_mut().find(|(plugin, _)| plugin == FIT).and_then(|(_, args)| args.as_object_mut());
        let ignored = fit.map(|args| args.entry("ignored-resources").or_insert_with(|| json!([])));
        if let Some(Value::Array(names)) = ignored
            && names.iter().all(|name| *name != resource.name)
        {
            names.push(json!(resource.name));
        }
    }
    all
}

/// Converts arguments to JSON. Values that no argument has (floats, dates, integers beyond 64 bits) are omitted.
fn json(node: &RawNode) -> Option<Value> {
    Some(match &node.value {
        RawValue::Bool(value) => json!(value),
        RawValue::Int(value) => json!(i64::try_from(*value).ok()?),
        RawValue::Str(value) => json!(value),
        RawValue::List(items) => items.iter().filter_map(json).collect(),
        RawValue::Table(table) => {
            table.fields.iter().filter_map(|field| Some((field.key.value.clone(), json(&field.value)?))).collect()
        }
        RawValue::Float(_) | RawValue::Datetime(_) => return None,
    })
}

impl ProfileSummary {
    /// Returns all plugins that run, each once, in the order of a scheduling attempt.
    pub fn plugins(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.points.iter().flat_map(|(_, plugins)| plugins).map(|(name, _)| name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// Returns the profile's arguments for a plugin.
    pub(crate) fn args_of(&self, plugin: &str) -> Option<&Value> {
        self.args.iter().find(|(name, _)| name == plugin).map(|(_, args)| args)
    }
}

#[cfg(feature = "write")]
impl From<&Plan> for ProfileSummary {
    fn from(plan: &Plan) -> Self {
        let points = Point::ALL.into_iter().map(|point| {
            let plugins = plan
                .at(point)
                .map(|(step, plugin)| (plugin.entry.name.clone(), step.weight.as_ref().map(|weight| weight.value)));
            (point.name(), plugins.collect())
        });
        let args =
            plan.plugins.iter().filter_map(|plugin| Some((plugin.entry.name.clone(), plugin.args.as_ref()?.to_json())));
        ProfileSummary {
            percentage_of_nodes_to_score: plan.percentage_of_nodes_to_score.value.into(),
            backoff_seconds: (plan.pod_initial_backoff_seconds.value, plan.pod_max_backoff_seconds.value),
            points: points.collect(),
            args: args.collect(),
            extenders: plan.extenders.iter().map(PlanExtender::to_json).collect(),
        }
    }
}

impl From<&ProfileInfo> for ProfileSummary {
    fn from(info: &ProfileInfo) -> Self {
        let points = Point::ALL.into_iter().map(|point| {
            let plugins = info.plugins(point.name()).iter().map(|(name, weight)| ((*name).to_owned(), *weight));
            (point.name(), plugins.collect())
        });
        let args =
            info.args.iter().filter_map(|(name, args)| Some(((*name).to_owned(), serde_json::from_str(args).ok()?)));
        ProfileSummary {
            percentage_of_nodes_to_score: info.percentage_of_nodes_to_score.into(),
            backoff_seconds: (info.pod_initial_backoff_seconds, info.pod_max_backoff_seconds),
            points: points.collect(),
            args: args.collect(),
            extenders: info.extenders.iter().filter_map(|extender| serde_json::from_str(extender).ok()).collect(),
        }
    }
}
