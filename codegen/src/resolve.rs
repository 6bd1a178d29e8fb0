//! Merges a profile with defaults. Missing values get their defaults. Plugin sets are merged in two steps.
//!
//! The steps are those of kube-scheduler. First the `multi-point` set is merged with the default set (`mergePluginSet` in
//! pkg/scheduler/apis/config/v1/default_plugins.go); kube-scheduler has no defaults for the other points. Then the plugins
//! of `multi-point` are added to the points that they implement (`expandMultiPointPlugins` in
//! pkg/scheduler/framework/runtime/framework.go). A list, the form in KEP-624, is equivalent to
//! a set that disables `*`.
//!
//! Invalid entries (unknown names, points that a plugin does not implement, duplicates) are silently omitted
//! here; the rules in [`crate::check`] report them.

mod extenders;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::catalog::{Catalogs, PluginEntry};
use crate::identifier::is_identifier;
use crate::parse::{RawArgs, RawBudget, RawPlugin, RawProfile, RawSet};
use crate::plan::{Budget, Field, Node, Plan, PlanPlugin, PluginId, Point, Points, Setting, Step, Value};
use crate::settings::{
    DEFAULT_PERCENTAGE_OF_NODES_TO_SCORE, DEFAULT_POD_INITIAL_BACKOFF_SECONDS, DEFAULT_POD_MAX_BACKOFF_SECONDS,
    DEFAULT_SCHEDULER_NAME,
};
use crate::source::{Files, Span, Spanned};
use crate::tree::{RawNode, RawValue};

use schedc_profile_rules::plan::plan_extenders;

/// A plugin of the merged `multi-point` set.
#[derive(Clone)]
pub(crate) struct MultiPointPlugin {
    pub(crate) entry: Arc<PluginEntry>,
    named_at: Option<Span>,
    weight: Option<Setting<i64>>,
}

/// Creates the plan of a profile. A number that does not fit its type is replaced by the default; `check` reports it.
pub(crate) fn plan(files: &Files, raw: &RawProfile, catalogs: &Catalogs) -> Plan {
    let path = files.path(raw.file).to_owned();
    let stem = Path::new(&path).file_stem().map_or_else(|| path.clone(), |stem| stem.to_string_lossy().into_owned());
    let multi_point = merged_multi_point(raw, catalogs);
    let mut plugins = PluginTable::default();
    let lists: Vec<Vec<Resolved>> =
        Point::ALL.into_iter().map(|point| at_point(point, raw.point(point), &multi_point, catalogs)).collect();
    let running: HashSet<&str> = lists.iter().flatten().map(|resolved| resolved.entry.name.as_str()).collect();
    for plugin in multi_point.iter().filter(|plugin| running.contains(plugin.entry.name.as_str())) {
        plugins.id(&plugin.entry);
    }
    let mut lists = lists.into_iter();
    let points = Points::new(|_| {
        let list = lists.next().unwrap_or_default();
        list.into_iter().map(|resolved| resolved.step(&mut plugins)).collect()
    });
    let mut plugins = plan_plugins(plugins.plugins, raw);
    let extenders = plan_extenders(&raw.extenders);
    extenders::ignore_resources(&extenders, &mut plugins);
    Plan {
        file: raw.file,
        module: module_name(&stem),
        stem,
        path,
        scheduler_name: raw
            .scheduler_name
            .clone()
            .map_or_else(|| Setting::default_of(DEFAULT_SCHEDULER_NAME.to_owned()), Setting::from),
        percentage_of_nodes_to_score: setting(
            raw.percentage_of_nodes_to_score.as_ref(),
            DEFAULT_PERCENTAGE_OF_NODES_TO_SCORE,
        ),
        pod_initial_backoff_seconds: setting(
            raw.pod_initial_backoff_seconds.as_ref(),
            u64::from(DEFAULT_POD_INITIAL_BACKOFF_SECONDS),
        ),
        pod_max_backoff_seconds: setting(
            raw.pod_max_backoff_seconds.as_ref(),
            u64::from(DEFAULT_POD_MAX_BACKOFF_SECONDS),
        ),
        budget: budget(&raw.budget),
        plugins,
        points,
        extenders,
        crates: Vec::new(),
    }
}

fn budget(raw: &RawBudget) -> Budget {
    let limit = |written: &Option<Spanned<i128>>| written.as_ref().and_then(|limit| u64::try_from(limit.value).ok());
    let [nanoseconds_per_node, instructions_per_decision, allocations_per_decision, bytes_per_node, binary_size] =
        raw.0.each_ref().map(limit);
    Budget { nanoseconds_per_node, instructions_per_decision, allocations_per_decision, bytes_per_node, binary_size }
}

fn setting<T: TryFrom<i128>>(written: Option<&Spanned<i128>>, default: T) -> Setting<T> {
    let value = written.and_then(|written| T::try_from(written.value).ok());
    Setting { value: value.unwrap_or(default), span: written.map(|written| written.span) }
}

/// Merges the `multi-point` set with the default list (`mergePluginSet`). Plugins of the default list keep their
/// position, also if the set names them again. The other plugins of the set follow.
pub(crate) fn merged_multi_point(raw: &RawProfile, catalogs: &Catalogs) -> Vec<MultiPointPlugin> {
    let set = &raw.multi_point;
    let default = catalogs.in_tree().default.iter().filter(|name| !set.disables(&name.value));
    let kept = default.filter_map(|name| {
        let again = set.enabled.iter().find(|plugin| plugin.name.value == name.value);
        again.map_or_else(
            || catalogs.plugin(&name.value).map(|entry| multi_point_plugin(entry, None)),
            |plugin| named_in_multi_point(plugin, catalogs),
        )
    });
    let mut merged: Vec<MultiPointPlugin> = kept.collect();
    let mut names: HashSet<String> = merged.iter().map(|plugin| plugin.entry.name.clone()).collect();
    for plugin in &set.enabled {
        if names.insert(plugin.name.value.clone()) {
            merged.extend(named_in_multi_point(plugin, catalogs));
        }
    }
    merged
}

fn named_in_multi_point(plugin: &RawPlugin, catalogs: &Catalogs) -> Option<MultiPointPlugin> {
    catalogs.plugin(&plugin.name.value).map(|entry| multi_point_plugin(entry, Some(plugin)))
}

fn multi_point_plugin(entry: &Arc<PluginEntry>, named: Option<&RawPlugin>) -> MultiPointPlugin {
    MultiPointPlugin {
        entry: Arc::clone(entry),
        named_at: named.map(|plugin| plugin.name.span),
        weight: named.and_then(|plugin| plugin.weight.as_ref()).map(written_weight),
    }
}

fn written_weight(weight: &Spanned<i128>) -> Setting<i64> {
    // `check` reports weights below 1. A weight beyond 64 bits becomes the maximum, so that `check` reports the
    // overflow of the sum.
    let value = i64::try_from(weight.value.max(1)).unwrap_or(i64::MAX);
    Setting { value, span: Some(weight.span) }
}

/// A plugin at a point, without an id.
#[derive(Clone)]
struct Resolved {
    entry: Arc<PluginEntry>,
    weight: Option<Setting<i64>>,
    named_at: Option<Span>,
}

impl Resolved {
    fn step(self, plugins: &mut PluginTable) -> Step {
        Step { plugin: plugins.id(&self.entry), weight: self.weight, named_at: self.named_at }
    }
}

/// Returns the plugins of one point (`expandMultiPointPlugins`). First come the plugins at the point that are also in
/// `multi-point`, then the others of `multi-point`, then the others of the point. A plugin that is disabled for the
/// point counts as not in `multi-point`.
fn at_point(
    point: Point,
    set: Option<&RawSet>,
    multi_point: &[MultiPointPlugin],
    catalogs: &Catalogs,
) -> Vec<Resolved> {
    let default = RawSet::default();
    let set = set.unwrap_or(&default);
    let inherited: Vec<&MultiPointPlugin> = multi_point
        .iter()
        .filter(|plugin| plugin.entry.implements(point) && !set.disables(&plugin.entry.name))
        .collect();

    let by_name: HashMap<&str, &MultiPointPlugin> = match set.enabled.is_empty() {
        true => HashMap::new(),
        false => multi_point.iter().map(|plugin| (plugin.entry.name.as_str(), plugin)).collect(),
    };
    let mut named: Vec<Resolved> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for plugin in &set.enabled {
        let Some(entry) = catalogs.plugin(&plugin.name.value).filter(|entry| entry.implements(point)) else { continue };
        if !seen.insert(&entry.name) {
            continue;
        }
        let in_multi_point = by_name.get(entry.name.as_str());
        let weight = plugin.weight.as_ref().map(written_weight);
        let weight = weight.or_else(|| in_multi_point.and_then(|other| other.weight.clone()));
        named.push(Resolved {
            entry: Arc::clone(entry),
            weight: weight_at(point, entry, weight),
            named_at: Some(plugin.name.span),
        });
    }
    let inherited_names: HashSet<&str> = inherited.iter().map(|plugin| plugin.entry.name.as_str()).collect();
    let (overriding, additional): (Vec<Resolved>, Vec<Resolved>) =
        named.into_iter().partition(|named| inherited_names.contains(named.entry.name.as_str()));
    let only_inherited = inherited
        .iter()
        .filter(|plugin| !seen.contains(plugin.entry.name.as_str()))
        .map(|plugin| Resolved {
            entry: Arc::clone(&plugin.entry),
            weight: weight_at(point, &plugin.entry, plugin.weight.clone()),
            named_at: plugin.named_at,
        })
        .collect::<Vec<_>>();
    overriding.into_iter().chain(only_inherited).chain(additional).collect()
}

/// Returns the weight at `score`: as written there, otherwise as written at `multi-point`, otherwise the
/// catalog's. (kube-scheduler uses 1 for a plugin that a profile names without a weight, regardless of
/// the weight in its default profile.)
fn weight_at(point: Point, entry: &PluginEntry, written: Option<Setting<i64>>) -> Option<Setting<i64>> {
    (point == Point::Score).then(|| written.unwrap_or(Setting::default_of(entry.default_weight)))
}

/// Plugins in the order of their first use.
#[derive(Default)]
struct PluginTable {
    plugins: Vec<Arc<PluginEntry>>,
    ids: HashMap<String, usize>,
}

impl PluginTable {
    fn id(&mut self, entry: &Arc<PluginEntry>) -> PluginId {
        let known = self.ids.get(&entry.name).copied();
        PluginId(known.unwrap_or_else(|| {
            self.plugins.push(Arc::clone(entry));
            self.ids.insert(entry.name.clone(), self.plugins.len() - 1);
            self.plugins.len() - 1
        }))
    }
}

/// Adds to each plugin its arguments, and the first location where the profile names the plugin.
fn plan_plugins(entries: Vec<Arc<PluginEntry>>, raw: &RawProfile) -> Vec<PlanPlugin> {
    let mut args: HashMap<&str, &RawArgs> = HashMap::new();
    for plugin_args in &raw.args {
        args.entry(&plugin_args.plugin.value).or_insert(plugin_args);
    }
    let mut named: HashMap<&str, Span> = HashMap::new();
    for plugin in raw.sets().flat_map(|(_, set)| &set.enabled) {
        named.entry(&plugin.name.value).or_insert(plugin.name.span);
    }
    let plugin = |entry: Arc<PluginEntry>| {
        let name = entry.name.as_str();
        let (named_at, args) = (named.get(name).copied(), args.get(name).copied().and_then(arguments));
        PlanPlugin { entry, named_at, args }
    };
    entries.into_iter().map(plugin).collect()
}

fn arguments(args: &RawArgs) -> Option<Node> {
    argument(&args.value)
}

/// Converts arguments to constants. Other values (floats, dates, integers beyond 64 bits) are omitted; they
/// were reported.
fn argument(node: &RawNode) -> Option<Node> {
    let value = match &node.value {
        RawValue::Bool(value) => Value::Bool(*value),
        RawValue::Int(value) => Value::Int(i64::try_from(*value).ok()?),
        RawValue::Str(value) => Value::Str(value.clone()),
        RawValue::List(items) => Value::List(items.iter().filter_map(argument).collect()),
        RawValue::Table(table) => Value::Table(
            table
                .fields
                .iter()
                .filter_map(|field| Some(Field { key: field.key.clone(), value: argument(&field.value)? }))
                .collect(),
        ),
        RawValue::Float(_) | RawValue::Datetime(_) => return None,
    };
    Some(Node { span: node.span, value })
}

/// Returns the Rust module of a profile: `bin-packing` becomes `bin_packing`.
fn module_name(stem: &str) -> String {
    let mut name = String::new();
    for c in stem.chars() {
        if c.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit()) {
            name.push('_');
        }
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, "profile_");
    }
    if !is_identifier(&name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_are_identifiers() {
        let check = |stem: &str, module: &str| {
            assert_eq!(module_name(stem), module);
            assert!(is_identifier(module));
        };
        check("edge", "edge");
        check("bin-packing", "bin_packing");
        check("BinPacking", "bin_packing");
        check("gpu.v2", "gpu_v2");
        check("2nd", "profile_2nd");
        check("type", "type_");
        check("crate", "crate_");
        check("größe", "gr__e");
    }
}
