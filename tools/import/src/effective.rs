//! The effective plugins of a KubeSchedulerConfiguration's profile in kube-scheduler: the plugins of each
//! extension point in order, and their weights.

use std::collections::{HashMap, HashSet};

use schedc_profile_rules::point::Point;

use crate::config::{Names, PluginSet, Profile};
use crate::kube_scheduler;

/// A plugin of the merged `multiPoint` list, or at an extension point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// At `score`, the effective weight. In `multiPoint`, the weight as written, or 0 if none is written; a default
    /// plugin that the configuration does not name has its default weight. At all other points 0.
    pub(crate) weight: i64,
}

/// Assumed extension points of out-of-tree plugins, whose catalogs are unknown. If the profile is equivalent for both
/// extremes, it is assumed to be equivalent for all sets of points between them.
#[derive(Clone, Copy)]
pub(crate) enum OutOfTreePoints {
    /// Only the points where the configuration names them, and Score if they have a weight in `multiPoint`. Plugins of
    /// `multiPoint` are also assumed to run at PostBind, because every plugin runs at some point.
    Mentioned,
    /// All points except QueueSort, which has exactly one plugin.
    #[cfg(feature = "write")]
    All,
}

impl OutOfTreePoints {
    /// Returns whether an out-of-tree plugin is assumed to run at a point. `names` are the names in the profile.
    pub(crate) fn runs_at(self, name: &str, point: Point, (points, multi_point): &(Vec<Names<'_>>, Names<'_>)) -> bool {
        let set = &points[point as usize];
        set.enabled.contains_key(name)
            || set.disabled.contains(name)
            || match self {
                OutOfTreePoints::Mentioned => multi_point
                    .enabled
                    .get(name)
                    .is_some_and(|plugin| point == Point::PostBind || point == Point::Score && plugin.weight.is_some()),
                #[cfg(feature = "write")]
                OutOfTreePoints::All => point != Point::QueueSort,
            }
    }
}

/// The effective plugins of a profile.
#[derive(Debug)]
pub(crate) struct Effective {
    /// The `multiPoint` list, merged with the default one.
    pub(crate) multi_point: Vec<Entry>,
    /// The weights in `multiPoint` by plugin name. If a name is there several times, its first weight counts.
    weights: HashMap<String, i64>,
    points: Vec<Vec<Entry>>,
}

impl Effective {
    /// Returns kube-scheduler's pipeline, with out-of-tree plugins where the configuration names them.
    pub(crate) fn of_profile(written: &Profile) -> Self {
        let names = written.names();
        Self::new(written, |name, point| OutOfTreePoints::Mentioned.runs_at(name, point, &names))
    }

    /// Computes the effective plugins. `out_of_tree` returns whether an out-of-tree plugin runs at a point.
    pub(crate) fn new(profile: &Profile, out_of_tree: impl Fn(&str, Point) -> bool) -> Self {
        let implements = |name: &str, point: Point| match kube_scheduler::find(name) {
            Some(plugin) => plugin.points.contains(&point),
            None => out_of_tree(name, point),
        };
        let multi_point = merge(&profile.multi_point);
        let mut weights = HashMap::new();
        for entry in &multi_point {
            weights.entry(entry.name.clone()).or_insert(entry.weight);
        }
        let points = Point::ALL.map(|point| expand(point, profile, &multi_point, &weights, &implements)).into();
        Self { multi_point, weights, points }
    }

    /// Returns the weight of a plugin in `multiPoint`; `None` if it is not there.
    pub(crate) fn weight_in_multi_point(&self, name: &str) -> Option<i64> {
        self.weights.get(name).copied()
    }

    /// Returns the plugins of an extension point, in order.
    pub(crate) fn point(&self, point: Point) -> &[Entry] {
        &self.points[point as usize]
    }

    /// Returns the names of all plugins that run at an extension point: first those in `multiPoint`, in its order, then
    /// the others in the order of the points.
    pub(crate) fn names(&self) -> Vec<&str> {
        let running: HashSet<&str> = self.points.iter().flatten().map(|entry| entry.name.as_str()).collect();
        let mut seen = HashSet::new();
        let in_multi_point = self.multi_point.iter().filter(|entry| running.contains(entry.name.as_str()));
        let names = in_multi_point.chain(self.points.iter().flatten()).map(|entry| entry.name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }
}

/// Merges a set with the default list (`mergePluginSet`). A default plugin that the set enables keeps its position and
/// gets the new weight; the other enabled plugins follow.
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
    weights: &HashMap<String, i64>,
    implements: &impl Fn(&str, Point) -> bool,
) -> Vec<Entry> {
    let set = profile.point(point);
    let names = set.names();
    let disables_all = set.disables_all();
    let named: Vec<&str> = set.enabled.iter().map(|plugin| plugin.name.value.as_str()).collect();
    let enabled_by_default: Vec<&str> = multi_point
        .iter()
        .map(|entry| entry.name.as_str())
        .filter(|name| !disables_all && !names.disabled.contains(name) && implements(name, point))
        .collect();
    let by_default: HashSet<&str> = enabled_by_default.iter().copied().collect();
    let overriding = named.iter().filter(|name| by_default.contains(*name));
    let only_by_default = enabled_by_default.iter().filter(|name| !names.enabled.contains_key(*name));
    let additional = named.iter().filter(|name| !by_default.contains(*name));
    let ordered = overriding.chain(only_by_default).chain(additional);
    let weight = |name: &str| {
        let at_point = names.enabled.get(name).map(|plugin| written_weight(plugin));
        weight(point, at_point.or_else(|| weights.get(name).copied()))
    };
    ordered.map(|name| Entry { name: (*name).to_owned(), weight: weight(name) }).collect()
}

/// Returns the weight at a point. At `score`, a missing weight and 0 stand for 1 (`getValidScoreWeights`).
fn weight(point: Point, written: Option<i64>) -> i64 {
    if point == Point::Score { written.filter(|weight| *weight != 0).unwrap_or(1) } else { 0 }
}

fn written_weight(plugin: &crate::config::Plugin) -> i64 {
    plugin.weight.as_ref().map_or(0, |weight| weight.value)
}
