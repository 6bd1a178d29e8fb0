//! A profile in the making: what the configuration says, in the words of a profile.

use schedc_codegen::catalog::Catalog;
use schedc_codegen::parse::RawArgs;
use schedc_codegen::plan::Point;
use schedc_codegen::tree::RawTable;

use crate::config::{self, Configuration, Plugin, PluginSet};
use crate::effective::{Effective, Entry};
use crate::{kube_scheduler, validate};

/// A profile as it will be written.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) scheduler_name: String,
    /// The scheduler name is written in the configuration.
    pub(crate) named: bool,
    pub(crate) percentage_of_nodes_to_score: i64,
    pub(crate) pod_initial_backoff_seconds: Option<i64>,
    pub(crate) pod_max_backoff_seconds: Option<i64>,
    /// Plugins that some crate must have.
    pub(crate) out_of_tree: Vec<String>,
    /// Who has a say besides plugins.
    pub(crate) extenders: Vec<RawTable>,
    /// Plugin sets, that of `multi-point` first (`None`), then in the order of the extension points.
    pub(crate) sets: Vec<(Option<Point>, Set)>,
    pub(crate) args: Vec<RawArgs>,
}

/// A plugin set as it will be written.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Set {
    /// All else is disabled: written as a list.
    pub(crate) plain: bool,
    pub(crate) enabled: Vec<Enabled>,
    pub(crate) disabled: Vec<String>,
}

/// An enabled plugin as it will be written.
#[derive(Debug, PartialEq)]
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
    /// Calls the profile otherwise than the configuration does.
    pub(crate) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.scheduler_name);
        self.named = true;
    }
}

/// Says the same as a profile of the configuration, in the same way.
pub(crate) fn translate(
    config: &Configuration,
    index: usize,
    effective: &Effective,
    catalog: &Catalog,
    args: Vec<RawArgs>,
    extenders: Vec<RawTable>,
) -> Profile {
    let written = &config.profiles[index];
    let value = |seconds: &Option<schedc_codegen::source::Spanned<i64>>| seconds.as_ref().map(|seconds| seconds.value);
    let percentage = written.percentage_of_nodes_to_score.as_ref().or(config.percentage_of_nodes_to_score.as_ref());
    let sets = written.sets().map(|(point, set)| (point, translate_set(point, set, effective, catalog)));
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
        extenders,
        sets: sets.filter(|(_, set)| !set.is_empty()).collect(),
        args: args.into_iter().filter(|args| can_name(&args.plugin.value, catalog)).collect(),
    }
}

/// The enabled plugins that neither kube-scheduler nor schedc has.
fn out_of_tree_plugins(written: &config::Profile) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for plugin in written.sets().flat_map(|(_, set)| &set.enabled) {
        if is_out_of_tree(&plugin.name.value) && !names.contains(&plugin.name.value) {
            names.push(plugin.name.value.clone());
        }
    }
    names
}

/// A plugin that neither kube-scheduler nor schedc has.
pub(crate) fn is_out_of_tree(name: &str) -> bool {
    kube_scheduler::find(name).is_none() && !kube_scheduler::ALPHA_PLUGINS.contains(&name)
}

/// Whether a profile can name this plugin.
fn can_name(name: &str, catalog: &Catalog) -> bool {
    is_out_of_tree(name) || catalog.plugins.iter().any(|entry| entry.name == name)
}

/// Whether schedc's plugin of this name has something to run at a point.
pub(crate) fn runs_at(name: &str, point: Point, catalog: &Catalog) -> bool {
    match catalog.plugins.iter().find(|entry| entry.name == name) {
        Some(entry) => entry.implements(point),
        None => is_out_of_tree(name),
    }
}

fn translate_set(point: Option<Point>, set: &PluginSet, effective: &Effective, catalog: &Catalog) -> Set {
    let enabled = set.enabled.iter().filter(|plugin| {
        let name = plugin.name.value.as_str();
        can_name(name, catalog) && point.is_none_or(|point| runs_at(name, point, catalog))
    });
    let mut disabled: Vec<String> = Vec::new();
    for plugin in set.disabled.iter().filter(|_| !set.disables_all()) {
        let name = plugin.name.value.as_str();
        let runs = point.is_none_or(|point| runs_at(name, point, catalog));
        if can_name(name, catalog)
            && runs
            && validate::has_effect(name, point, effective)
            && !disabled.iter().any(|other| other == name)
        {
            disabled.push(name.to_owned());
        }
    }
    Set {
        plain: set.disables_all(),
        enabled: enabled.map(|plugin| translate_plugin(point, plugin, catalog)).collect(),
        disabled,
    }
}

/// A weight is always written where there is one: without one, a profile means the plugin's default weight, and
/// kube-scheduler 1.
fn translate_plugin(point: Option<Point>, plugin: &Plugin, catalog: &Catalog) -> Enabled {
    let name = plugin.name.value.clone();
    let written = plugin.weight.as_ref().map(|weight| weight.value).filter(|weight| *weight != 0);
    let weight = match point {
        Some(Point::Score) => Some(written.unwrap_or(1)),
        Some(_) => None,
        None if is_out_of_tree(&name) => written,
        None => runs_at(&name, Point::Score, catalog).then(|| written.unwrap_or(1)),
    };
    Enabled { name, weight }
}

/// The plugins of a point, one by one.
pub(crate) fn explicit(point: Point, entries: &[Entry], catalog: &Catalog) -> Set {
    let here = entries.iter().filter(|entry| runs_at(&entry.name, point, catalog));
    let enabled =
        here.map(|entry| Enabled { name: entry.name.clone(), weight: (point == Point::Score).then_some(entry.weight) });
    Set { plain: true, enabled: enabled.collect(), disabled: Vec::new() }
}
