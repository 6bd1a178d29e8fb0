//! Conversion from TOML to the profile as written: every value with its location, without defaults.

mod configuration;

use crate::diagnostic::Diagnostic;
use crate::fields::{self, Fields};
use crate::messages;
use crate::point::Point;
use crate::settings::{self, Key};
use crate::source::{FileId, Files, Span, Spanned};
use crate::tree::{self, RawField, RawNode, RawTable, RawValue};

#[cfg(test)]
pub(crate) use schedc_profile_rules::parse::EXTENDER_KEYS;
pub use schedc_profile_rules::parse::{RawArgs, RawExtender, RawManagedResource, RawTls};
pub(crate) use schedc_profile_rules::parse::{TLS_KEYS, VERBS, extenders};

/// The key of the plugin set that applies to every extension point.
pub const MULTI_POINT: &str = "multi-point";

/// A profile as written.
#[derive(Clone, Debug)]
pub struct RawProfile {
    /// The file.
    pub file: FileId,
    /// `scheduler-name`.
    pub scheduler_name: Option<Spanned<String>>,
    /// `percentage-of-nodes-to-score`.
    pub percentage_of_nodes_to_score: Option<Spanned<i128>>,
    /// `pod-initial-backoff-seconds`.
    pub pod_initial_backoff_seconds: Option<Spanned<i128>>,
    /// `pod-max-backoff-seconds`.
    pub pod_max_backoff_seconds: Option<Spanned<i128>>,
    /// `budget`.
    pub budget: RawBudget,
    /// `crates`.
    pub crates: Vec<RawCrate>,
    /// Whether part of `crates` was invalid, and reported.
    pub crates_incomplete: bool,
    /// `plugins.multi-point`.
    pub multi_point: RawSet,
    points: Vec<(Point, RawSet)>,
    /// `args`, one table for each plugin.
    pub args: Vec<RawArgs>,
    /// `extender`, in the order of the file.
    pub extenders: Vec<RawExtender>,
}

impl RawProfile {
    /// Returns the profile's set for an extension point, if any.
    pub fn point(&self, point: Point) -> Option<&RawSet> {
        self.points.iter().find(|(at, _)| *at == point).map(|(_, set)| set)
    }

    /// Returns all plugin sets as written, `multi-point` first (`None`), then in the order of the extension
    /// points.
    pub fn sets(&self) -> impl Iterator<Item = (Option<Point>, &RawSet)> {
        let points = self.points.iter().map(|(point, set)| (Some(*point), set));
        std::iter::once((None, &self.multi_point)).chain(points)
    }
}

/// `budget` as written: the values in the order of [`settings::LIMITS`].
#[derive(Clone, Debug, Default)]
pub struct RawBudget(pub [Option<Spanned<i128>>; settings::LIMITS.len()]);

impl RawBudget {
    /// Returns the possible keys, each with its value.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (Key, Option<&Spanned<i128>>)> {
        settings::LIMITS.into_iter().zip(self.0.iter().map(Option::as_ref))
    }
}

/// A crate with plugins for a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawCrate {
    /// A dependency, by its package name.
    Name(Spanned<String>),
    /// A folder, relative to the profile.
    Path(Spanned<String>),
}

/// A plugin set as written.
#[derive(Clone, Debug, Default)]
pub struct RawSet {
    /// Location of the set's key; `None` if the profile does not have it.
    pub at: Option<Span>,
    /// The plugins to enable, in order.
    pub enabled: Vec<RawPlugin>,
    /// The plugins to disable; `*` stands for all.
    pub disabled: Vec<Spanned<String>>,
    /// Whether the set is a list, which is equivalent to `*` in `disabled`.
    pub plain: bool,
    /// Whether part of the set was invalid, and reported.
    pub incomplete: bool,
}

impl RawSet {
    /// Returns whether the set inherits no plugins. `multi-point` inherits from the catalog's default list, an
    /// extension point from `multi-point`.
    pub fn replaces(&self) -> bool {
        self.plain || self.disabled.iter().any(|name| name.value == "*")
    }

    /// Returns whether the set does not inherit this plugin; `enabled` may still name it.
    pub fn disables(&self, name: &str) -> bool {
        self.replaces() || self.disabled.iter().any(|disabled| disabled.value == name)
    }
}

/// An enabled plugin as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPlugin {
    /// The name.
    pub name: Spanned<String>,
    /// The weight, if given.
    pub weight: Option<Spanned<i128>>,
}

/// Reads a profile. `None` if it is not TOML; otherwise its valid parts. Errors are added to `diagnostics`.
pub(crate) fn profile(files: &Files, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Option<RawProfile> {
    let found_before = diagnostics.len();
    let Some(table) = tree::read(files, file, diagnostics) else {
        if let Some(configuration) = configuration::find(files, file) {
            diagnostics.truncate(found_before);
            diagnostics.push(messages::configuration_as_profile(&configuration, files.path(file)));
        }
        return None;
    };
    let start = Span { file, start: 0, end: 0 };
    let keys = settings::PROFILE.map(|key| key.name);
    let mut fields = Fields::new(&table, "a profile", start, &keys, diagnostics);
    let mut profile = RawProfile {
        file,
        scheduler_name: fields.string("scheduler-name"),
        percentage_of_nodes_to_score: fields.integer("percentage-of-nodes-to-score"),
        pod_initial_backoff_seconds: fields.integer("pod-initial-backoff-seconds"),
        pod_max_backoff_seconds: fields.integer("pod-max-backoff-seconds"),
        budget: RawBudget::default(),
        crates: Vec::new(),
        crates_incomplete: false,
        multi_point: RawSet::default(),
        points: Vec::new(),
        args: Vec::new(),
        extenders: Vec::new(),
    };
    let (crates, crates_readable) = fields.list_or_report("crates", "crate names");
    let plugins = fields.table("plugins");
    let args = fields.table("args");
    let budget = fields.table("budget");
    let extender_field = fields.get("extender");
    let found_before = diagnostics.len();
    profile.crates = crates.iter().filter_map(|item| raw_crate(item, diagnostics)).collect();
    profile.crates_incomplete = !crates_readable || diagnostics.len() > found_before;
    if let Some((plugins, _)) = plugins {
        read_plugins(plugins, &mut profile, diagnostics);
    }
    if let Some((args, _)) = args {
        profile.args = args.fields.iter().filter_map(|field| raw_args(field, diagnostics)).collect();
    }
    if let Some(field) = extender_field {
        profile.extenders = extenders(&field.value, diagnostics);
    }
    if let Some((budget, at)) = budget {
        let keys = settings::LIMITS.map(|key| key.name);
        let mut fields = Fields::new(budget, "`budget`", at, &keys, diagnostics);
        profile.budget = RawBudget(keys.map(|key| fields.integer(key)));
    }
    Some(profile)
}

fn raw_crate(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Option<RawCrate> {
    match &node.value {
        RawValue::Str(name) => Some(RawCrate::Name(Spanned { value: name.clone(), span: node.span })),
        RawValue::Table(table) => {
            Fields::new(table, "a crate", node.span, &["path"], diagnostics).required_string("path").map(RawCrate::Path)
        }
        other => {
            let expected = "a name or `{ path = \"..\" }`";
            diagnostics.push(messages::wrong_kind(node.span, "an element of `crates`", expected, other.kind()));
            None
        }
    }
}

fn raw_args(field: &RawField, diagnostics: &mut Vec<Diagnostic>) -> Option<RawArgs> {
    fields::table(&field.value, &format!("`args.{}`", field.key.value), diagnostics)?;
    Some(RawArgs { plugin: field.key.clone(), value: field.value.clone() })
}

fn read_plugins(plugins: &RawTable, profile: &mut RawProfile, diagnostics: &mut Vec<Diagnostic>) {
    let known: Vec<&str> = std::iter::once(MULTI_POINT).chain(Point::ALL.map(Point::name)).collect();
    let misspelt = fields::misspelt(plugins, &known);
    for field in &plugins.fields {
        let mut key = field.key.value.as_str();
        if !known.contains(&key) {
            diagnostics.push(messages::unknown_point(&field.key, false, &known));
            let suggestion = misspelt.iter().find(|(_, misspelt)| misspelt.key == field.key);
            key = suggestion.map_or(key, |(suggestion, _)| suggestion);
        }
        if key == MULTI_POINT {
            profile.multi_point = plugin_set(field, diagnostics);
        } else if let Some(point) = Point::from_name(key) {
            let set = plugin_set(field, diagnostics);
            profile.points.push((point, set));
        }
    }
    profile.points.sort_by_key(|(point, _)| *point);
}

fn plugin_set(field: &RawField, diagnostics: &mut Vec<Diagnostic>) -> RawSet {
    let found_before = diagnostics.len();
    let set = read_plugin_set(field, diagnostics);
    RawSet { at: Some(field.key.span), incomplete: diagnostics.len() > found_before, ..set }
}

fn read_plugin_set(field: &RawField, diagnostics: &mut Vec<Diagnostic>) -> RawSet {
    let key = &field.key.value;
    match &field.value.value {
        RawValue::List(items) => RawSet {
            enabled: items.iter().filter_map(|item| raw_plugin(item, diagnostics)).collect(),
            plain: true,
            ..RawSet::default()
        },
        RawValue::Table(table) => {
            let owner = format!("`plugins.{key}`");
            let mut fields = Fields::new(table, owner, field.value.span, &["enabled", "disabled"], diagnostics);
            let enabled = fields.list("enabled", "plugins");
            let disabled = fields.strings("disabled");
            let enabled = enabled.iter().filter_map(|item| raw_plugin(item, fields.diagnostics())).collect();
            RawSet { enabled, disabled, ..RawSet::default() }
        }
        other => {
            let expected = "a list of plugins or a table of `enabled` and `disabled`";
            diagnostics.push(messages::wrong_kind(field.value.span, &format!("`{key}`"), expected, other.kind()));
            RawSet::default()
        }
    }
}

fn raw_plugin(node: &RawNode, diagnostics: &mut Vec<Diagnostic>) -> Option<RawPlugin> {
    match &node.value {
        RawValue::Str(name) => Some(RawPlugin { name: Spanned { value: name.clone(), span: node.span }, weight: None }),
        RawValue::Table(table) => {
            let mut fields = Fields::new(table, "a plugin entry", node.span, &["name", "weight"], diagnostics);
            let weight = fields.integer("weight");
            fields.required_string("name").map(|name| RawPlugin { name, weight })
        }
        other => {
            let expected = "a name or `{ name = \"..\", weight = .. }`";
            diagnostics.push(messages::wrong_kind(node.span, "a plugin", expected, other.kind()));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (RawProfile, Vec<Diagnostic>) {
        let mut files = Files::default();
        let file = files.add("p.toml", text);
        let mut diagnostics = Vec::new();
        (profile(&files, file, &mut diagnostics).unwrap(), diagnostics)
    }

    #[test]
    fn an_empty_profile_has_no_settings() {
        let (profile, diagnostics) = read("");
        assert!(diagnostics.is_empty());
        assert!(profile.scheduler_name.is_none() && profile.args.is_empty() && profile.crates.is_empty());
        assert!(profile.sets().all(|(_, set)| set.enabled.is_empty() && !set.replaces()));
    }

    #[test]
    fn a_plain_list_replaces_inherited_plugins() {
        let (profile, diagnostics) = read("[plugins]\nfilter = [\"A\", { name = \"B\", weight = 2 }]\n");
        assert!(diagnostics.is_empty());
        let set = profile.point(Point::Filter).unwrap();
        assert!(set.replaces() && set.disables("A"));
        assert_eq!(set.enabled[1].name.value, "B");
        assert_eq!(set.enabled[1].weight.as_ref().map(|weight| weight.value), Some(2));
    }

    #[test]
    fn a_table_is_merged_unless_it_disables_all_plugins() {
        let (profile, _) = read("[plugins]\nfilter = { disabled = [\"A\"] }\nscore = { disabled = [\"A\", \"*\"] }\n");
        let filter = profile.point(Point::Filter).unwrap();
        assert!(!filter.replaces() && filter.disables("A") && !filter.disables("B"));
        assert!(profile.point(Point::Score).unwrap().disables("B"));
    }

    #[test]
    fn invalid_values_do_not_hide_valid_ones() {
        let (profile, diagnostics) = read(
            "crates = [1, \"a\"]\npercentage-of-nodes-to-score = \"x\"\n[plugins]\nfilter = 3\nscore = [4, \"S\"]\n",
        );
        assert_eq!(diagnostics.len(), 4);
        assert_eq!(profile.crates.len(), 1);
        assert_eq!(profile.point(Point::Score).unwrap().enabled.len(), 1);
    }
}
