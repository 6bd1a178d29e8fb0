//! The available plugins: the in-tree catalog, and the catalogs of plugin crates (`schedc.toml`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::declared_args::DeclaredArgs;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::point::Point;
use crate::schema::{ArgsSchema, IN_TREE_ARGS};
use crate::source::{FileId, Files, Span, Spanned};

mod kinds;
mod read;
mod writes;

pub use kinds::{CustomKind, KINDS};
pub use writes::{VERBS, Write};

/// A plugin crate's catalog.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The file.
    pub file: FileId,
    /// The Rust name of the crate, as written in paths: `schedc_plugins`.
    pub crate_name: String,
    /// The plugins, in the order of the file.
    pub plugins: Vec<Arc<PluginEntry>>,
    /// The default `multi-point` list. Only the in-tree catalog has one; in other catalogs, the list is empty.
    pub default: Vec<Spanned<String>>,
    /// kube-scheduler's plugins that schedc does not have yet. Only the in-tree catalog names them; in other catalogs,
    /// the list is empty.
    pub planned: Vec<Spanned<String>>,
    /// The per-node state that this crate declares.
    pub columns: Vec<State>,
    /// The cluster-wide state that this crate declares.
    pub indexes: Vec<State>,
    /// The kinds of objects that this crate declares.
    pub kinds: Vec<CustomKind>,
}

/// The catalog entry of a plugin.
#[derive(Clone, Debug)]
pub struct PluginEntry {
    /// The name, as in kube-scheduler: `NodeResourcesFit`.
    pub name: String,
    /// Location of the name in the catalog.
    pub declared_at: Span,
    /// The Rust name of the crate.
    pub crate_name: String,
    /// The Rust path of the plugin's type: `schedc_plugins::NodeResourcesFit`.
    pub path: String,
    /// The extension points that the plugin implements, in the order of a scheduling attempt.
    pub points: Vec<Point>,
    /// Per-node state, in the order of the plugin's `type Columns`.
    pub columns: Vec<Column>,
    /// Cluster-wide state, in the order of the plugin's `type Indexes`.
    pub indexes: Vec<State>,
    /// Other plugins whose cycle state the plugin reads.
    pub reads: Vec<StateRead>,
    /// The weight at `score` if the profile has none. Without meaning for a plugin that does not score.
    pub default_weight: i64,
    /// Whether the plugin implements NormalizeScore.
    pub normalizes: bool,
    /// Whether the plugin implements PrepareScore, which computes facts about the cluster for Score.
    pub prepares_score: bool,
    /// Whether the plugin implements EnqueueExtensions.
    pub enqueue_extensions: bool,
    /// The built-in kinds of objects that the plugin watches.
    pub watches: Vec<String>,
    /// The kinds of objects that the plugin watches and that the catalog declares.
    pub kinds: Vec<CustomKind>,
    /// The plugin's requests to the API server other than watches. They apply if the profile runs the plugin at a point
    /// that may write.
    pub writes: Vec<Write>,
    /// The plugin's effect, in one line; may be empty.
    pub description: String,
    /// The shape of the plugin's arguments.
    pub args: ArgsSchema,
}

impl PluginEntry {
    /// Returns whether the plugin implements an extension point.
    pub fn implements(&self, point: Point) -> bool {
        self.points.contains(&point)
    }

    /// Returns the cargo feature of schedc-plugins that contains the plugin, if it is optional. A package that compiles
    /// profiles may have a feature of the same name, which enables the one of schedc-plugins.
    pub fn feature(&self) -> Option<&'static str> {
        (self.path == "schedc_plugins::DynamicResources").then_some("dynamic-resources")
    }
}

/// A plugin whose cycle state another plugin reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRead {
    /// The plugin.
    pub plugin: String,
    /// Whether a profile may omit the plugin; written as a trailing `?`.
    pub optional: bool,
}

/// A named state: a column of every node, or an index of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The name in catalogs: `node-resources`.
    pub name: String,
    /// The Rust path of its type. Two states are the same if their paths are equal.
    pub path: String,
    /// Whether the state depends on the arguments of the plugin that reads it. Always false for an index.
    pub with_args: bool,
    /// Its content, in one line; may be empty.
    pub description: String,
}

/// State of a node that a plugin reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// A declared column.
    Declared(State),
    /// A declared column that depends on the arguments of its plugin.
    WithArgs(State),
    /// The whole node (`node-info`).
    NodeInfo,
    /// The node's index (`node-index`).
    NodeIndex,
}

/// The catalogs that a profile uses: the in-tree one and those of its `crates`.
#[derive(Clone, Debug)]
pub struct Catalogs {
    in_tree: Arc<Catalog>,
    third_party: Vec<Arc<Catalog>>,
    by_name: BTreeMap<String, Arc<PluginEntry>>,
}

/// The crate of schedc's own plugins.
pub(crate) const IN_TREE_CRATE: &str = "schedc_plugins";

const IN_TREE: &str = include_str!("../catalog/in-tree.toml");

impl Catalog {
    /// Returns the in-tree catalog, which is part of this crate. Returns `None` after reporting an unreadable file.
    pub fn in_tree(files: &mut Files, diagnostics: &mut Vec<Diagnostic>) -> Option<Arc<Self>> {
        let file = files.add("codegen/catalog/in-tree.toml", IN_TREE);
        let schemas = match serde_json::from_str(IN_TREE_ARGS) {
            Ok(schemas) => schemas,
            Err(error) => {
                let at = Span { file, start: 0, end: 0 };
                diagnostics.push(messages::unreadable_schema(at, &error.to_string()));
                return None;
            }
        };
        read::catalog(files, file, &read::Kind::InTree(&schemas), diagnostics).map(Arc::new)
    }

    /// Reads the catalog of a plugin crate. `sources` are the texts of its Rust files. Reports and omits invalid plugins;
    /// returns `None` if the file is not TOML or has no crate name.
    pub fn third_party(
        files: &Files,
        file: FileId,
        sources: &[String],
        in_tree: &Self,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Arc<Self>> {
        let args = DeclaredArgs::read(sources);
        read::catalog(files, file, &read::Kind::ThirdParty(in_tree, &args), diagnostics).map(Arc::new)
    }
}

impl Catalogs {
    /// Combines catalogs. Two plugins with the same name are an error, since profiles name plugins without their crate.
    /// Different declarations of the same kind are also an error.
    pub fn new(in_tree: Arc<Catalog>, third_party: Vec<Arc<Catalog>>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut by_name: BTreeMap<String, Arc<PluginEntry>> = BTreeMap::new();
        let mut kinds: BTreeMap<String, &CustomKind> = BTreeMap::new();
        for catalog in std::iter::once(&in_tree).chain(&third_party) {
            for kind in &catalog.kinds {
                let first = *kinds.entry(kind.full_name()).or_insert(kind);
                if !first.is_same_kind(kind) {
                    diagnostics.push(messages::kinds_disagree(kind, first));
                }
            }
            for entry in &catalog.plugins {
                match by_name.get(&entry.name) {
                    Some(first) => diagnostics.push(messages::plugin_name_clash(entry, first)),
                    None => {
                        by_name.insert(entry.name.clone(), Arc::clone(entry));
                    }
                }
            }
        }
        Self { in_tree, third_party, by_name }
    }

    /// Returns the in-tree catalog.
    pub fn in_tree(&self) -> &Catalog {
        &self.in_tree
    }

    /// Returns all catalogs, the in-tree one first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Catalog>> {
        std::iter::once(&self.in_tree).chain(&self.third_party)
    }

    /// Returns the plugin with this name, if a catalog has it.
    pub fn plugin(&self, name: &str) -> Option<&Arc<PluginEntry>> {
        self.by_name.get(name)
    }

    /// Returns all plugins, sorted by name.
    pub fn plugins(&self) -> impl Iterator<Item = &Arc<PluginEntry>> {
        self.by_name.values()
    }

    /// Returns whether kube-scheduler has a plugin with this name that schedc does not have yet.
    pub(crate) fn is_planned(&self, name: &str) -> bool {
        self.in_tree.planned.iter().any(|planned| planned.value == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn in_tree() -> Arc<Catalog> {
        let mut diagnostics = Vec::new();
        let catalog = Catalog::in_tree(&mut Files::default(), &mut diagnostics);
        assert_eq!(diagnostics, []);
        catalog.unwrap()
    }

    #[test]
    fn default_list_has_exactly_the_in_tree_plugins() {
        let catalog = in_tree();
        assert_eq!(catalog.default.len(), 20);
        for plugin in &catalog.plugins {
            assert!(catalog.default.iter().any(|name| name.value == plugin.name), "{} is enabled", plugin.name);
        }
        for name in &catalog.default {
            assert!(catalog.plugins.iter().any(|plugin| plugin.name == name.value), "{} exists", name.value);
        }
        for name in &catalog.planned {
            assert!(catalog.plugins.iter().all(|plugin| plugin.name != name.value), "{} is only planned", name.value);
        }
    }

    #[test]
    fn every_argument_schema_belongs_to_a_plugin() {
        let catalog = in_tree();
        let schemas: BTreeMap<String, Schema> = serde_json::from_str(IN_TREE_ARGS).unwrap();
        for (name, schema) in schemas {
            let plugin = catalog.plugins.iter().find(|plugin| plugin.name == name).unwrap();
            assert_eq!(plugin.args, ArgsSchema::Known(schema));
        }
    }

    #[test]
    fn only_plugins_that_can_reject_have_enqueue_extensions() {
        // PostFilter is in this list for DefaultPreemption. schedc's plugin has no PreEnqueue, but registers the events
        // that kube-scheduler's plugin needs for its PreEnqueue.
        let rejecting =
            [Point::PostFilter, Point::PreEnqueue, Point::PreFilter, Point::Filter, Point::Reserve, Point::Permit];
        for plugin in &in_tree().plugins {
            let rejects = rejecting.iter().any(|point| plugin.implements(*point));
            assert!(rejects || !plugin.enqueue_extensions, "{}", plugin.name);
        }
    }
}
