//! The effective plugins of a KubeSchedulerConfiguration's profile in kube-scheduler: the plugins of each
//! extension point in order, and their weights.

use schedc_codegen::plan::Point;

use crate::config::{PluginSet, Profile};
use crate::kube_scheduler;

/// A plugin of the merged `multiPoint` list, or at an extension point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// At `score`, the effective weight. In `multiPoint`, the weight as written, 0 without one. Elsewhere 0.
    pub(crate) weight: i64,
}

/// The effective plugins of a profile.
#[derive(Debug)]
pub(crate) struct Effective {
    /// The `multiPoint` list, merged with the default one.
    pub(crate) multi_point: Vec<Entry>,
    points: Vec<Vec<Entry>>,
}

impl Effective {
    /// Computes the effective plugins. `out_of_tree` returns whether an out-of-tree plugin runs at a point.
    pub(crate) fn new(profile: &Profile, out_of_tree: impl Fn(&str, Point) -> bool) -> Self {
        let implements = |name: &str, point: Point| match kube_scheduler::find(name) {
            Some(plugin) => plugin.points.contains(&point),
            None => out_of_tree(name, point),
        };
        let multi_point = merge(&profile.multi_point);
        let points = Point::ALL.map(|point| expand(point, profile, &multi_point, &implements)).into();
        Self { multi_point, points }
    }

    /// Returns the plugins of an extension point, in order.
    pub(crate) fn point(&self, point: Point) -> &[Entry] {
        &self.points[point as usize]
    }

    /// Returns all plugins with an extension point, in the order of `multiPoint`, then of the points.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let running = |name: &str| self.points.iter().flatten().any(|entry| entry.name == name);
        for entry in self.multi_point.iter().filter(|entry| running(&entry.name)).chain(self.points.iter().flatten()) {
            if !names.contains(&entry.name.as_str()) {
                names.push(&entry.name);
            }
        }
        names
    }
}

/// Merges with the default list (`mergePluginSet`): plugins that are named again keep their position with the
/// new values, the rest follows.
fn merge(set: &PluginSet) -> Vec<Entry> {
    let entry =
        |plugin: &crate::config::Plugin| Entry { name: plugin.name.value.clone(), weight: written_weight(plugin) };
    let mut merged: Vec<Entry> = Vec::new();
    let mut replaced = Vec::new();
    for default in kube_scheduler::DEFAULT_PLUGINS.iter().filter(|_| !set.disables_all()) {
        if set.disables(default.name) {
            continue;
        }
        match set.enabled.iter().rposition(|plugin| plugin.name.value == default.name) {
            Some(index) => {
                replaced.push(index);
                merged.push(entry(&set.enabled[index]));
            }
            None => merged.push(Entry { name: default.name.to_owned(), weight: default.default_weight }),
        }
    }
    let others = set.enabled.iter().enumerate().filter(|(index, _)| !replaced.contains(index));
    merged.extend(others.map(|(_, plugin)| entry(plugin)));
    merged
}

/// Returns the plugins of one point (`expandMultiPointPlugins`). First come the plugins at the point that are also in
/// `multiPoint`, then the others of `multiPoint`, then the others of the point.
fn expand(
    point: Point,
    profile: &Profile,
    multi_point: &[Entry],
    implements: &impl Fn(&str, Point) -> bool,
) -> Vec<Entry> {
    let set = profile.point(point);
    let named: Vec<&str> = set.enabled.iter().map(|plugin| plugin.name.value.as_str()).collect();
    let enabled_by_default: Vec<&str> = multi_point
        .iter()
        .map(|entry| entry.name.as_str())
        .filter(|name| !set.disables_all() && !set.disables(name) && implements(name, point))
        .collect();
    let overriding = named.iter().filter(|name| enabled_by_default.contains(name));
    let rest = enabled_by_default.iter().filter(|name| !named.contains(name));
    let additional = named.iter().filter(|name| !enabled_by_default.contains(name));
    let names = overriding.chain(rest).chain(additional);
    names.map(|name| Entry { name: (*name).to_owned(), weight: weight(point, name, set, multi_point) }).collect()
}

/// Returns the point's weight, otherwise that of `multiPoint`; 1 for a missing weight and for 0
/// (`getValidScoreWeights`).
fn weight(point: Point, name: &str, set: &PluginSet, multi_point: &[Entry]) -> i64 {
    if point != Point::Score {
        return 0;
    }
    let own = set.enabled.iter().find(|plugin| plugin.name.value == name).map(written_weight);
    let enabled_by_default = || multi_point.iter().find(|entry| entry.name == name).map(|entry| entry.weight);
    own.or_else(enabled_by_default).filter(|weight| *weight != 0).unwrap_or(1)
}

fn written_weight(plugin: &crate::config::Plugin) -> i64 {
    plugin.weight.as_ref().map_or(0, |weight| weight.value)
}
