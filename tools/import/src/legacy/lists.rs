//! The plugins of each extension point: merged with the defaults as in the former kube-scheduler, then
//! converted to current plugins.

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};

use super::algorithm::Provider;
use super::successors::{self, Successor};
use super::version::Version;
use super::{build, messages};
use crate::config::{self, PluginSet};
use crate::decode::Fields;
use crate::kube_scheduler;
use crate::report::Report;
use crate::tree::Node;

/// A plugin at an extension point.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: Spanned<String>,
    pub(super) weight: Option<Spanned<i64>>,
    /// Whether the file names the plugin; otherwise it comes from the default list.
    pub(super) written: bool,
}

/// The plugins of all extension points in their order.
pub(super) struct Lists {
    pub(super) at: Span,
    by_point: Vec<Vec<Entry>>,
    pub(super) version: Version,
    /// Whether the lists contain the defaults, except disabled ones.
    merged: bool,
}

/// Results of the conversion to current plugins.
#[derive(Default)]
pub(super) struct Changes {
    /// The plugin that became a scoring strategy.
    pub(super) strategy: Option<Changed>,
    /// Whether NodeLabel ran; NodeAffinity replaces it.
    pub(super) node_label: bool,
    /// Whether a separate plugin spread the pods of services and controllers.
    pub(super) spreads_selected: bool,
}

/// A plugin that became a scoring strategy, and the strategy.
pub(super) struct Changed {
    pub(super) plugin: Spanned<String>,
    pub(super) strategy: &'static str,
}

/// Returns the plugin sets by extension point.
pub(super) fn sets(
    plugins: Option<&Node>,
    path: &str,
    version: Version,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Point, PluginSet)> {
    const UNRESERVE: &str = "unreserve";
    let Some(plugins) = plugins else { return Vec::new() };
    // In `v1alpha1`, `postFilter` was the name of PreScore. An empty key stands for a point that the version does not
    // have.
    let key = |point: Point| match point {
        Point::PreScore if version == Version::V1Alpha1 => "postFilter",
        Point::PostFilter if version <= Version::V1Alpha2 => "",
        Point::PreEnqueue if version < Version::V1Beta2 => "",
        point => kube_scheduler::key(point),
    };
    let unreserve = (version <= Version::V1Alpha2).then_some(UNRESERVE);
    let known: Vec<&str> = Point::ALL.map(key).into_iter().filter(|key| !key.is_empty()).chain(unreserve).collect();
    let mut fields = Fields::of(plugins, path, &known, diagnostics);
    let mut sets = Vec::new();
    for point in Point::ALL {
        let mut set = config::set(&mut fields, key(point));
        if point == Point::Reserve {
            // In `v1`, Reserve includes Unreserve.
            let undone = config::set(&mut fields, UNRESERVE).enabled;
            let new = undone.into_iter().filter(|plugin| !set.enables(&plugin.name.value)).collect::<Vec<_>>();
            set.enabled.extend(new);
        }
        sets.push((point, set));
    }
    sets
}

impl Lists {
    /// Creates lists without defaults.
    pub(super) fn new(at: Span) -> Self {
        Self { at, by_point: vec![Vec::new(); Point::ALL.len()], version: Version::V1Beta1, merged: false }
    }

    /// Returns the sets, merged with the defaults of a version.
    pub(super) fn merged(
        version: Version,
        provider: Provider,
        sets: &[(Point, PluginSet)],
        at: Span,
        report: &mut Report,
    ) -> Self {
        let none = PluginSet::default();
        let mut lists = Self { version, merged: true, ..Self::new(at) };
        for point in Point::ALL {
            let set = sets.iter().find(|(other, _)| *other == point).map_or(&none, |(_, set)| set);
            let defaults: Vec<Entry> = version
                .defaults(point)
                .iter()
                .map(|&(name, weight)| {
                    let name = match name {
                        "NodeResourcesLeastAllocated" if provider == Provider::ClusterAutoscaler => {
                            "NodeResourcesMostAllocated"
                        }
                        name => name,
                    };
                    Entry::by_default(name, weight, at)
                })
                .collect();
            lists.by_point[point as usize] = merge(version, point, defaults, set, report);
        }
        lists
    }

    /// Adds a plugin at the end of a point, unless it is present.
    pub(super) fn add(&mut self, point: Point, entry: Entry) {
        let list = &mut self.by_point[point as usize];
        if list.iter().all(|other| other.name.value != entry.name.value) {
            list.push(entry);
        }
    }

    /// Removes a default plugin.
    pub(super) fn remove(&mut self, name: &str) {
        for list in &mut self.by_point {
            list.retain(|entry| entry.name.value != name || entry.written);
        }
    }

    /// Returns whether a plugin runs at any point.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_point.iter().flatten().any(|entry| entry.name.value == name)
    }

    /// Returns whether the pods of services and controllers were spread by another plugin than PodTopologySpread, or by
    /// none.
    pub(super) fn spreads_by_selector(&self) -> bool {
        let scores = self.by_point[Point::Score as usize].iter().any(|entry| entry.name.value == "PodTopologySpread");
        if self.merged { self.version <= Version::V1Alpha2 } else { scores }
    }

    /// Converts former plugins to current ones.
    pub(super) fn convert_to_v1(&mut self, report: &mut Report) -> Changes {
        let mut changes = Changes::default();
        for point in Point::ALL {
            let mut list = Vec::new();
            let mut renamed = Vec::new();
            let mut strategies = Vec::new();
            for entry in std::mem::take(&mut self.by_point[point as usize]) {
                let Some(successor) = successors::of(&entry.name.value) else {
                    // A plugin that no longer implements this point is removed.
                    let runs =
                        kube_scheduler::find(&entry.name.value).is_none_or(|known| known.points.contains(&point));
                    if runs {
                        list.push(entry);
                    } else if entry.written {
                        report.note(messages::plugin_not_at_point(&entry.name, point));
                    }
                    continue;
                };
                changes.spreads_selected |= successors::spreads_selected(&entry.name.value);
                changes.node_label |= successor == Successor::AddedAffinity;
                if let (Successor::Strategy(strategy), Point::Score) = (successor, point) {
                    strategies.push(Strategy { entry: entry.clone(), strategy, index: list.len() });
                }
                if let Some(name) = replacement(&entry, successor, point, report) {
                    renamed.push(name);
                    list.push(entry.renamed_to(name));
                }
            }
            changes.strategy = changes.strategy.or_else(|| choose_strategy(strategies, &mut list, report));
            // The replacement of a plugin may already be in the list.
            let mut seen: Vec<String> = Vec::new();
            list.retain(|entry| {
                let name = &entry.name.value;
                let again = renamed.contains(&name.as_str()) && seen.contains(name);
                seen.push(name.clone());
                !again
            });
            self.by_point[point as usize] = list;
        }
        changes
    }

    /// Adds plugins at points that they did not have formerly and now require.
    pub(super) fn complete(&mut self) {
        let needs = [
            (Point::Filter, Point::PreFilter),
            (Point::Filter, Point::Reserve),
            (Point::Filter, Point::PreBind),
            (Point::PostFilter, Point::PreEnqueue),
            (Point::Score, Point::PreScore),
        ];
        for (from, to) in needs {
            for entry in self.by_point[from as usize].clone() {
                let name = entry.name.value.as_str();
                let implements = kube_scheduler::find(name).is_some_and(|known| known.points.contains(&to));
                let was_disabled = self.merged && self.version.defaults(to).iter().any(|(other, _)| *other == name);
                if implements && !was_disabled {
                    self.add(to, Entry { weight: None, ..entry });
                }
            }
        }
    }

    /// Returns `plugins` in `v1`: each point in full.
    pub(super) fn plugins(&self) -> Node {
        let star = || build::list(self.at, vec![build::map(self.at, [("name", build::text(self.at, "*"))])]);
        let all_disabled = build::map(self.at, [("disabled", star())]);
        let mut plugins = build::map(self.at, [("multiPoint", all_disabled)]);
        for (point, list) in Point::ALL.into_iter().zip(&self.by_point).filter(|(_, list)| !list.is_empty()) {
            let enabled = list.iter().map(Entry::node).collect();
            let set = build::map(self.at, [("disabled", star()), ("enabled", build::list(self.at, enabled))]);
            build::set(&mut plugins, kube_scheduler::key(point), set);
        }
        plugins
    }
}

impl Entry {
    /// Creates the entry of a default plugin.
    pub(super) fn by_default(name: &str, weight: i64, at: Span) -> Self {
        let weight = (weight != 0).then_some(Spanned { value: weight, span: at });
        Self { name: Spanned { value: name.to_owned(), span: at }, weight, written: false }
    }

    fn renamed_to(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name.value);
        self
    }

    fn node(&self) -> Node {
        let mut plugin = build::map(self.name.span, [("name", build::text(self.name.span, &self.name.value))]);
        if let Some(weight) = &self.weight {
            build::set(&mut plugin, "weight", build::int(weight));
        }
        plugin
    }
}

/// Merges the plugins of a point. Since `v1beta2`, a default plugin that the file enables keeps its position; earlier
/// versions refused to enable default plugins again.
fn merge(version: Version, point: Point, defaults: Vec<Entry>, set: &PluginSet, report: &mut Report) -> Vec<Entry> {
    let names: Vec<String> = defaults.iter().map(|entry| entry.name.value.clone()).collect();
    for plugin in &set.disabled {
        let name = plugin.name.value.as_str();
        if name != "*" && !names.iter().any(|other| other == name) {
            report.warning(crate::messages::disables_nothing(&plugin.name, kube_scheduler::key(point), &names));
        }
    }
    let mut merged: Vec<Entry> =
        defaults.into_iter().filter(|entry| !set.disables_all() && !set.disables(&entry.name.value)).collect();
    for plugin in &set.enabled {
        let entry = Entry { name: plugin.name.clone(), weight: plugin.weight.clone(), written: true };
        match merged.iter_mut().find(|other| !other.written && other.name.value == entry.name.value) {
            Some(_) if version < Version::V1Beta2 => {
                report.error(messages::enabled_by_default(&plugin.name, point, version));
            }
            Some(default) => {
                if let (Some(usual), None) = (default.weight.as_ref().filter(|usual| usual.value > 1), &entry.weight) {
                    report.warning(crate::messages::weight_falls_to_one(&entry.name, usual.value, None));
                }
                *default = entry;
            }
            None => merged.push(entry),
        }
    }
    merged
}

/// Returns the replacement of a removed plugin, if any.
fn replacement(entry: &Entry, successor: Successor, point: Point, report: &mut Report) -> Option<&'static str> {
    match successor {
        // NodeVolumeLimits includes the limits of former in-tree drivers.
        Successor::Plugin("NodeVolumeLimits") if !entry.written => None,
        Successor::Plugin(name) => {
            if entry.written {
                report.note(messages::renamed(&entry.name, name));
            }
            Some(name)
        }
        Successor::Strategy(strategy) => {
            if entry.written && point == Point::Score {
                report.note(messages::strategy(&entry.name, strategy));
            }
            (point == Point::Score).then_some("NodeResourcesFit")
        }
        Successor::AddedAffinity => {
            report.note(messages::added_affinity(&entry.name));
            Some("NodeAffinity")
        }
        Successor::Nothing(instead) => {
            let message = messages::no_replacement(&entry.name, instead);
            if entry.written {
                report.warning(message);
            } else {
                report.note(message);
            }
            None
        }
    }
}

/// A plugin that became a scoring strategy of NodeResourcesFit.
struct Strategy {
    entry: Entry,
    strategy: &'static str,
    /// Index in the list.
    index: usize,
}

/// Chooses the strategy of NodeResourcesFit: the last one in the file, otherwise the default one. The entries of the
/// others are removed from the list.
fn choose_strategy(strategies: Vec<Strategy>, list: &mut Vec<Entry>, report: &mut Report) -> Option<Changed> {
    let chosen = strategies.iter().rev().find(|strategy| strategy.entry.written).or(strategies.first())?;
    for other in strategies.iter().filter(|other| other.index != chosen.index) {
        report.warning(messages::two_strategies(&chosen.entry.name, &other.entry.name.value));
    }
    let mut index = 0;
    list.retain(|entry| {
        let keep = index == chosen.index || entry.name.value != "NodeResourcesFit";
        index += 1;
        keep
    });
    Some(Changed { plugin: chosen.entry.name.clone(), strategy: chosen.strategy })
}
