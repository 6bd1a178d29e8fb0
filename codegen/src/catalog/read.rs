//! Conversion from TOML to [`Catalog`].

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Catalog, Column, CustomKind, KINDS, PluginEntry, State, StateRead, kinds, writes};
use crate::declared_args::DeclaredArgs;
use crate::diagnostic::Diagnostic;
use crate::fields::{self, Fields};
use crate::identifier::is_identifier;
use crate::messages;
use crate::point::Point;
use crate::schema::{ArgsSchema, Schema};
use crate::source::{FileId, Files, Span, Spanned};
use crate::tree::{self, RawField, RawNode, RawTable, RawValue};

/// The whole node as a column.
const NODE_INFO: &str = "node-info";
/// The node's index as a column.
const NODE_INDEX: &str = "node-index";

const PLUGIN_KEYS: [&str; 14] = [
    "name",
    "path",
    "points",
    "columns",
    "indexes",
    "reads",
    "default-weight",
    "normalizes",
    "prepares-score",
    "enqueue-extensions",
    "watches",
    "writes",
    "description",
    "args",
];

const COLUMN_KEYS: [&str; 3] = ["path", "args", "description"];
const INDEX_KEYS: [&str; 2] = ["path", "description"];

/// Origin of the catalog.
pub(super) enum Kind<'a> {
    /// The in-tree catalog, with the argument schemas by plugin.
    InTree(&'a IndexMap<String, Schema>),
    /// The catalog of a plugin crate, which may refer to the columns and indexes of the in-tree catalog (the first
    /// value). The second value has the arguments that the sources of the crate declare.
    ThirdParty(&'a Catalog, &'a DeclaredArgs),
}

/// Reads a catalog. Invalid plugins are reported and omitted. Returns `None` if the file is not TOML or has no crate name.
pub(super) fn catalog(
    files: &Files,
    file: FileId,
    kind: &Kind<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Catalog> {
    let table = tree::read(files, file, diagnostics)?;
    let start = Span { file, start: 0, end: 0 };
    let keys: &[&str] = match kind {
        Kind::InTree(_) => &["crate", "columns", "indexes", "plugin", "default", "planned"],
        Kind::ThirdParty(..) => &["crate", "kinds", "columns", "indexes", "plugin"],
    };
    let mut fields = Fields::new(&table, "a catalog", start, keys, diagnostics);
    let crate_name = fields.required_string("crate");
    let default = fields.strings("default");
    let planned = fields.strings("planned");
    let kinds = fields.table("kinds");
    let columns = fields.table("columns");
    let indexes = fields.table("indexes");
    let plugins = fields.list("plugin", "tables, each `[[plugin]]`");

    let crate_name = crate_name?;
    if !is_identifier(&crate_name.value) {
        diagnostics.push(messages::not_a_crate_name(&crate_name));
    }
    let mut catalog = Catalog {
        file,
        crate_name: crate_name.value,
        plugins: Vec::new(),
        default,
        planned,
        kinds: kinds.map(|(table, _)| declared_kinds(table, diagnostics)).unwrap_or_default(),
        columns: columns.map(|(table, _)| states(table, &COLUMN_KEYS, diagnostics)).unwrap_or_default(),
        indexes: indexes.map(|(table, _)| states(table, &INDEX_KEYS, diagnostics)).unwrap_or_default(),
    };
    for node in plugins {
        let Some(table) = fields::table(node, "a plugin", diagnostics) else { continue };
        if let Some(entry) = plugin(table, node.span, &catalog, kind, diagnostics) {
            if let Some(first) = catalog.plugins.iter().find(|other| other.name == entry.name) {
                diagnostics.push(messages::plugin_declared_twice(&entry.name, entry.declared_at, first.declared_at));
                continue;
            }
            catalog.plugins.push(Arc::new(entry));
        }
    }
    Some(catalog)
}

fn declared_kinds(table: &RawTable, diagnostics: &mut Vec<Diagnostic>) -> Vec<CustomKind> {
    let mut declared: Vec<CustomKind> = Vec::new();
    for field in &table.fields {
        let Some(kind) = kinds::kind(field, diagnostics) else { continue };
        match declared.iter().find(|first| first.full_name() == kind.full_name()) {
            Some(first) => diagnostics.push(messages::kind_declared_twice(&kind, first)),
            None => declared.push(kind),
        }
    }
    declared
}

/// Reads `[columns]` or `[indexes]`. The value of each name is a path or a table, whose valid keys are `keys`.
fn states(table: &RawTable, keys: &[&str], diagnostics: &mut Vec<Diagnostic>) -> Vec<State> {
    let state = |field: &RawField, diagnostics: &mut Vec<Diagnostic>| {
        let subject = format!("`{}`", field.key.value);
        let (path, with_args, description) = match &field.value.value {
            RawValue::Table(table) => {
                let mut fields = Fields::new(table, subject, field.value.span, keys, diagnostics);
                let (path, description) = (fields.required_string("path"), fields.string("description"));
                let with_args = keys.contains(&"args").then(|| fields.boolean("args")).flatten();
                (path?, with_args.is_some_and(|args| args.value), description)
            }
            _ => (fields::string(&field.value, &subject, diagnostics)?, false, None),
        };
        if [NODE_INFO, NODE_INDEX].contains(&field.key.value.as_str()) {
            diagnostics.push(messages::reserved_state(&field.key));
            return None;
        }
        rust_path(&path, diagnostics);
        let description = description.map(|description| description.value).unwrap_or_default();
        Some(State { name: field.key.value.clone(), path: path.value, with_args, description })
    };
    table.fields.iter().filter_map(|field| state(field, diagnostics)).collect()
}

/// Reports keys that only plugins at other points may have.
fn check_keys_of_points(table: &RawTable, points: &[Point], diagnostics: &mut Vec<Diagnostic>) {
    if !points.contains(&Point::Score) {
        for field in ["default-weight", "normalizes", "prepares-score"].iter().filter_map(|key| table.get(key)) {
            diagnostics.push(messages::only_for_score(&field.key));
        }
    }
    if let Some(field) = table.get("writes").filter(|_| !points.iter().any(|point| point.may_write())) {
        diagnostics.push(messages::only_for_writing_points(
            &field.key,
            Point::ALL.into_iter().filter(|point| point.may_write()),
        ));
    }
}

/// Returns the catalog's declaration of a kind that is not in [`KINDS`]. Reports a kind without a declaration.
fn watched_kind(name: &Spanned<String>, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Option<CustomKind> {
    let kind = catalog.kinds.iter().find(|kind| kind.name == name.value);
    if kind.is_none() {
        let declared = catalog.kinds.iter().map(|kind| kind.name.as_str());
        diagnostics.push(messages::unknown_kind(name, &declared.chain(KINDS).collect::<Vec<_>>()));
    }
    kind.cloned()
}

/// Returns the column with this name. Reports a name that is not in `known`.
fn column(name: &Spanned<String>, known: [&[State]; 2], diagnostics: &mut Vec<Diagnostic>) -> Option<Column> {
    match name.value.as_str() {
        NODE_INFO => Some(Column::NodeInfo),
        NODE_INDEX => Some(Column::NodeIndex),
        _ => declared(name, "column", known, diagnostics).map(|state| match state.with_args {
            true => Column::WithArgs(state),
            false => Column::Declared(state),
        }),
    }
}

fn plugin(
    table: &RawTable,
    at: Span,
    catalog: &Catalog,
    kind: &Kind<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<PluginEntry> {
    let found_before = diagnostics.len();
    let mut fields = Fields::new(table, "a plugin", at, &PLUGIN_KEYS, diagnostics);
    let name = fields.required_string("name");
    let path = fields.required_string("path");
    if fields.get("points").is_none() {
        fields.diagnostics().push(messages::missing_key(at, "a plugin", "points"));
    }
    let points = fields.strings("points");
    let columns = fields.strings("columns");
    let indexes = fields.strings("indexes");
    let reads = fields.strings("reads");
    let default_weight = fields.integer("default-weight");
    let normalizes = fields.boolean("normalizes");
    let prepares_score = fields.boolean("prepares-score");
    let enqueue_extensions = fields.boolean("enqueue-extensions");
    let watches = fields.strings("watches");
    let writes = fields.list("writes", "tables");
    let description = fields.string("description");
    let args = fields.table("args");

    if let Some(name) = name.as_ref().filter(|name| !is_identifier(&name.value)) {
        diagnostics.push(messages::not_a_plugin_name(name));
    }
    if let Some(path) = &path {
        rust_path(path, diagnostics);
    }

    let is_set = |written: Option<Spanned<bool>>| written.is_some_and(|written| written.value);
    let points = known_points(&points, diagnostics);
    check_keys_of_points(table, &points, diagnostics);
    if let Some(weight) = default_weight.as_ref().filter(|weight| !(1..=i128::from(i64::MAX)).contains(&weight.value)) {
        diagnostics.push(messages::default_weight_out_of_range(weight));
    }

    let (built_in, custom): (Vec<_>, Vec<_>) =
        watches.into_iter().partition(|kind| KINDS.contains(&kind.value.as_str()));
    let kinds = custom.iter().filter_map(|kind| watched_kind(kind, catalog, diagnostics)).collect();
    let writes = writes.iter().filter_map(|write| writes::write(write, diagnostics)).collect();

    let shared = match kind {
        Kind::InTree(_) => None,
        Kind::ThirdParty(in_tree, _) => Some(*in_tree),
    };
    let shared_columns = shared.map_or(&[][..], |in_tree| &in_tree.columns);
    let shared_indexes = shared.map_or(&[][..], |in_tree| &in_tree.indexes);
    let columns =
        columns.iter().filter_map(|name| column(name, [&catalog.columns, shared_columns], diagnostics)).collect();
    let indexes = indexes
        .iter()
        .filter_map(|index| declared(index, "index", [&catalog.indexes, shared_indexes], diagnostics))
        .collect();

    let own_args = args.map(|(args, span)| catalog_schema(args, span, diagnostics));
    if diagnostics.len() > found_before {
        return None;
    }
    let (name, path) = (name?, path?);
    let args = match (kind, own_args) {
        (_, Some(schema)) => schema?,
        (Kind::InTree(schemas), None) => {
            schemas.get(&name.value).map_or(ArgsSchema::None, |schema| ArgsSchema::Known(schema.clone()))
        }
        (Kind::ThirdParty(_, declared), None) => declared.of(&path.value),
    };
    Some(PluginEntry {
        name: name.value,
        declared_at: name.span,
        crate_name: catalog.crate_name.clone(),
        path: path.value,
        points,
        columns,
        indexes,
        reads: reads.into_iter().map(|read| state_read(&read.value)).collect(),
        default_weight: default_weight.and_then(|weight| i64::try_from(weight.value).ok()).unwrap_or(1),
        normalizes: is_set(normalizes),
        prepares_score: is_set(prepares_score),
        enqueue_extensions: is_set(enqueue_extensions),
        watches: built_in.into_iter().map(|kind| kind.value).collect(),
        kinds,
        writes,
        description: description.map(|description| description.value).unwrap_or_default(),
        args,
    })
}

/// Reads `NodeAffinity`, or `NodeAffinity?` for an optional plugin.
fn state_read(name: &str) -> StateRead {
    match name.strip_suffix('?') {
        Some(plugin) => StateRead { plugin: plugin.to_owned(), optional: true },
        None => StateRead { plugin: name.to_owned(), optional: false },
    }
}

fn rust_path(path: &Spanned<String>, diagnostics: &mut Vec<Diagnostic>) {
    if !is_path(&path.value) {
        diagnostics.push(messages::not_a_rust_path(path));
    }
}

/// Returns whether `text` is a Rust path, with or without generic arguments, which only rustc checks.
fn is_path(text: &str) -> bool {
    let (names, has_arguments) = text.split_once('<').map_or((text, false), |(names, _)| (names, true));
    let is_name = |name: &str| matches!(name, "crate" | "self" | "super") || is_identifier(name);
    let names = names.strip_prefix("::").unwrap_or(names);
    names.split("::").all(|name| is_name(name.trim())) && (!has_arguments || text.trim_end().ends_with('>'))
}

fn known_points(names: &[Spanned<String>], diagnostics: &mut Vec<Diagnostic>) -> Vec<Point> {
    let mut points: Vec<(Point, Span)> = Vec::new();
    for name in names {
        match Point::from_name(&name.value) {
            None => diagnostics.push(messages::unknown_point(name, true, &Point::ALL.map(Point::name))),
            Some(point) => match points.iter().find(|(other, _)| *other == point) {
                Some((_, first)) => diagnostics.push(messages::point_declared_twice(name, *first)),
                None => points.push((point, name.span)),
            },
        }
    }
    points.sort();
    points.into_iter().map(|(point, _)| point).collect()
}

fn declared(
    name: &Spanned<String>,
    subject: &str,
    declarations: [&[State]; 2],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<State> {
    let mut states = declarations.into_iter().flatten();
    let state = states.find(|state| state.name == name.value).cloned();
    if state.is_none() {
        let mut known: Vec<&str> = declarations.into_iter().flatten().map(|state| state.name.as_str()).collect();
        if subject == "column" {
            known.extend([NODE_INFO, NODE_INDEX]);
        }
        diagnostics.push(messages::unknown_state(name, subject, &known));
    }
    state
}

fn catalog_schema(table: &RawTable, at: Span, diagnostics: &mut Vec<Diagnostic>) -> Option<ArgsSchema> {
    match serde_json::from_value::<Schema>(json_table(table)) {
        Ok(schema @ Schema::Table { .. }) => Some(ArgsSchema::Known(schema)),
        Ok(_) => {
            diagnostics.push(messages::schema_is_no_table(at));
            None
        }
        Err(error) => {
            diagnostics.push(messages::unreadable_schema(at, &error.to_string()));
            None
        }
    }
}

fn json_table(table: &RawTable) -> serde_json::Value {
    serde_json::Value::Object(table.fields.iter().map(|field| (field.key.value.clone(), json(&field.value))).collect())
}

fn json(node: &RawNode) -> serde_json::Value {
    match &node.value {
        RawValue::Bool(value) => serde_json::Value::Bool(*value),
        RawValue::Int(value) => i64::try_from(*value).map_or(serde_json::Value::Null, Into::into),
        RawValue::Float(text) | RawValue::Str(text) | RawValue::Datetime(text) => {
            serde_json::Value::String(text.clone())
        }
        RawValue::List(items) => serde_json::Value::Array(items.iter().map(json).collect()),
        RawValue::Table(table) => json_table(table),
    }
}
