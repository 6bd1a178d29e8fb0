//! A profile under construction: the configuration in the form of a profile.

use std::collections::HashSet;

use schedc_profile_rules::parse::RawArgs;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::Spanned;
use schedc_profile_rules::tree::RawTable;

use crate::config::{self, Configuration, Plugin, PluginSet};
use crate::effective::Effective;
#[cfg(feature = "write")]
use crate::effective::Entry;
use crate::{kube_scheduler, validate};

/// A profile to be written.
#[derive(Debug)]
#[cfg_attr(not(feature = "write"), allow(dead_code, reason = "parts are only written"))]
pub(crate) struct Profile {
    pub(crate) scheduler_name: String,
    /// Whether the configuration contains the scheduler name.
    pub(crate) named: bool,
    pub(crate) percentage_of_nodes_to_score: i64,
    pub(crate) pod_initial_backoff_seconds: Option<i64>,
    pub(crate) pod_max_backoff_seconds: Option<i64>,
    /// Out-of-tree plugins, which a plugin crate must contain.
    pub(crate) out_of_tree: Vec<String>,
    /// The extenders.
    pub(crate) extenders: Vec<RawTable>,
    /// Plugin sets, `multi-point` first (`None`), then in the order of the extension points.
    pub(crate) sets: Vec<(Option<Point>, Set)>,
    pub(crate) args: Vec<RawArgs>,
}

/// A plugin set to be written.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(not(feature = "write"), allow(dead_code, reason = "parts are only written"))]
pub(crate) struct Set {
    /// Whether all other plugins are disabled. The set is then written as a list.
    pub(crate) plain: bool,
    pub(crate) enabled: Vec<Enabled>,
    pub(crate) disabled: Vec<String>,
}

/// An enabled plugin to be written.
#[derive(Debug, PartialEq)]
#[cfg_attr(not(feature = "write"), allow(dead_code, reason = "parts are only written"))]
pub(crate) struct Enabled {
    pub(crate) name: String,
    pub(crate) weight: Option<i64>,
}

impl Set {
    fn is_empty(&self) -> bool {
        !self.plain && self.enabled.is_empty() && self.disabled.is_empty()
    }
}

impl Profile {
    /// Renames the profile.
    pub(crate) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.scheduler_name);
        self.named = true;
    }
}

/// Converts a profile of the configuration to an equivalent profile of schedc with the same structure. Arguments and
/// extenders are not converted here.
pub(crate) fn translate(config: &Configuration, index: usize, effective: &Effective) -> Profile {
    let written = &config.profiles[index];
    let value = |seconds: &Option<Spanned<i64>>| seconds.as_ref().map(|seconds| seconds.value);
    let percentage = written.percentage_of_nodes_to_score.as_ref().or(config.percentage_of_nodes_to_score.as_ref());
    let sets = written.sets().map(|(point, set)| (point, translate_set(point, set, effective)));
    Profile {
        scheduler_name: written
            .scheduler_name
            .as_ref()
            .map_or_else(|| "default-scheduler".to_owned(), |name| name.value.clone()),
        named: written.scheduler_name.is_some(),
        percentage_of_nodes_to_score: percentage.map_or(0, |percentage| percentage.value),
        pod_initial_backoff_seconds: value(&config.pod_initial_backoff_seconds),
        pod_max_backoff_seconds: value(&config.pod_max_backoff_seconds),
        out_of_tree: out_of_tree_plugins(written),
        extenders: Vec::new(),
        sets: sets.filter(|(_, set)| !set.is_empty()).collect(),
        args: Vec::new(),
    }
}

/// Returns the enabled plugins that neither kube-scheduler nor schedc has.
fn out_of_tree_plugins(written: &config::Profile) -> Vec<String> {
    let mut seen = HashSet::new();
    let enabled = written.sets().flat_map(|(_, set)| &set.enabled).map(|plugin| &plugin.name.value);
    enabled.filter(|name| is_out_of_tree(name) && seen.insert(*name)).cloned().collect()
}

/// Returns whether neither kube-scheduler nor schedc has a plugin with this name.
pub(crate) fn is_out_of_tree(name: &str) -> bool {
    kube_scheduler::find(name).is_none() && !kube_scheduler::ALPHA_PLUGINS.contains(&name)
}

/// Returns whether a profile can name this plugin: schedc has it, as all plugins of kube-scheduler's default profile, or
/// it is out-of-tree.
pub(crate) fn can_name(name: &str) -> bool {
    !kube_scheduler::ALPHA_PLUGINS.contains(&name)
}

/// Returns whether the plugin with this name can run at a point. schedc's plugins implement the same points as
/// kube-scheduler's.
pub(crate) fn runs_at(name: &str, point: Point) -> bool {
    match kube_scheduler::find(name) {
        Some(plugin) => plugin.points.contains(&point),
        None => is_out_of_tree(name),
    }
}

fn translate_set(point: Option<Point>, set: &PluginSet, effective: &Effective) -> Set {
    let enabled = set.enabled.iter().filter(|plugin| {
        let name = plugin.name.value.as_str();
        can_name(name) && point.is_none_or(|point| runs_at(name, point))
    });
    let mut disabled: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let disables_all = set.disables_all();
    for plugin in set.disabled.iter().filter(|_| !disables_all) {
        let name = plugin.name.value.as_str();
        let runs = point.is_none_or(|point| runs_at(name, point));
        if can_name(name) && runs && validate::has_effect(name, point, effective) && seen.insert(name) {
            disabled.push(name.to_owned());
        }
    }
    Set { plain: disables_all, enabled: enabled.map(|plugin| translate_plugin(point, plugin)).collect(), disabled }
}

/// Converts an enabled plugin. At points with weights, the weight is always written: without one, a profile uses the
/// plugin's default weight, and kube-scheduler uses 1.
fn translate_plugin(point: Option<Point>, plugin: &Plugin) -> Enabled {
    let name = plugin.name.value.clone();
    let written = plugin.weight.as_ref().map(|weight| weight.value).filter(|weight| *weight != 0);
    let weight = match point {
        Some(Point::Score) => Some(written.unwrap_or(1)),
        Some(_) => None,
        None if is_out_of_tree(&name) => written,
        None => runs_at(&name, Point::Score).then(|| written.unwrap_or(1)),
    };
    Enabled { name, weight }
}

/// Returns a set that lists all plugins of a point.
#[cfg(feature = "write")]
pub(crate) fn explicit(point: Point, entries: &[Entry]) -> Set {
    let at_point = entries.iter().filter(|entry| runs_at(&entry.name, point));
    let enabled = at_point
        .map(|entry| Enabled { name: entry.name.clone(), weight: (point == Point::Score).then_some(entry.weight) });
    Set { plain: true, enabled: enabled.collect(), disabled: Vec::new() }
}
