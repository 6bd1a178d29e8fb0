//! The JSON schema of profiles, for editors and other tools that validate files.
//!
//! It is generated from the tables of the checks: keys ([`crate::settings`]), plugins and arguments
//! ([`crate::catalog`]). Every profile without errors is valid according to the schema. The reverse does not hold:
//! a schema cannot express rules such as unique names in a list of tables, or that a plugin binds pods. The draft is 07,
//! which taplo supports.

mod args;
mod extender;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, PluginEntry};
use crate::parse::MULTI_POINT;
use crate::plan::Point;
use crate::schema::ArgsSchema;
use crate::settings::{self, Key, ValueKind};

/// Plugins by name. No profile can use two plugins with the same name, so the schema has the first one. Profiles with
/// the other one need a separate schema.
type Plugins<'c> = BTreeMap<&'c str, &'c PluginEntry>;

/// Returns the schema of profiles that use plugins of these catalogs. The in-tree catalog must be one of them.
pub fn of_profiles(catalogs: &[Arc<Catalog>]) -> Value {
    let mut plugins = Plugins::new();
    for entry in catalogs.iter().flat_map(|catalog| &catalog.plugins) {
        plugins.entry(&entry.name).or_insert(entry);
    }
    let planned: Vec<&str> =
        catalogs.iter().flat_map(|catalog| &catalog.planned).map(|name| name.value.as_str()).collect();
    let properties = settings::PROFILE.iter().map(|key| {
        let schema = match key.name {
            "crates" => crates(),
            "plugins" => plugin_sets(&plugins, &planned),
            "args" => arguments(&plugins),
            "extender" => json!({ "type": "array", "items": extender::schema() }),
            "budget" => {
                table(settings::LIMITS.iter().map(|limit| (limit.name, described(value(limit), limit.doc))), &[])
            }
            _ => value(key),
        };
        (key.name, described(schema, key.doc))
    });
    let Value::Object(mut schema) = table(properties, &[]) else { return Value::Null };
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), "schedc profile".into());
    schema
        .insert("description".to_owned(), "A Kubernetes scheduler: its plugins, their arguments and extenders".into());
    Value::Object(schema)
}

/// Returns the schema of a key with a single value.
fn value(key: &Key) -> Value {
    match &key.kind {
        ValueKind::Name { default } => {
            let pattern = format!("^{}$", args::SUBDOMAIN);
            json!({ "type": "string", "maxLength": 253, "pattern": pattern, "default": default })
        }
        ValueKind::Integer { range, default } => {
            let mut schema = args::integer(Some(*range.start()), Some(*range.end()));
            if let (Some(default), Some(schema)) = (default, schema.as_object_mut()) {
                schema.insert("default".to_owned(), (*default).into());
            }
            schema
        }
        // `of_profiles` has separate schemas for the lists and tables of a profile.
        ValueKind::List(_) => json!({ "type": "array" }),
        ValueKind::Table(_) => json!({ "type": "object" }),
    }
}

fn crates() -> Value {
    let path = described(json!({ "type": "string" }), "a folder with a schedc.toml, relative to the profile");
    json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, table([("path", path)], &["path"])] } })
}

/// Returns the schema of `[plugins]`: a list, or a table of `enabled` and `disabled`, for each extension
/// point.
fn plugin_sets(plugins: &Plugins<'_>, planned: &[&str]) -> Value {
    let points = std::iter::once(None).chain(Point::ALL.map(Some));
    let sets = points.map(|point| {
        let implementing = || plugins.values().filter(move |entry| point.is_none_or(|point| entry.implements(point)));
        let names: Vec<&str> = implementing().map(|entry| entry.name.as_str()).collect();
        let entries = json!({ "type": "array", "items": plugin_entry(point, plugins, &names), "uniqueItems": true });
        let disabled: Vec<&str> = std::iter::once("*").chain(names).chain(planned.iter().copied()).collect();
        let disabled = json!({ "type": "array", "items": { "enum": disabled }, "uniqueItems": true });
        let merged = table(
            [
                ("enabled", described(entries.clone(), "plugins that are added, or have another position or weight")),
                ("disabled", described(disabled, "plugins that are left out; `*` is all of them")),
            ],
            &[],
        );
        let set = described(json!({ "anyOf": [entries, merged] }), &doc(point));
        (point.map_or(MULTI_POINT, Point::name), set)
    });
    table(sets, &[])
}

fn doc(point: Option<Point>) -> String {
    match point {
        None => "plugins that run at every extension point that they implement, in this order".to_owned(),
        Some(point) => format!("plugins at {point}, in this order; a list replaces those of `{MULTI_POINT}`"),
    }
}

/// Returns the schema of an element of a plugin list: a name, or a table with the name and, at points with weights, a
/// weight.
fn plugin_entry(point: Option<Point>, plugins: &Plugins<'_>, names: &[&str]) -> Value {
    let scores = |name: &&&str| plugins.get(**name).is_some_and(|entry| entry.implements(Point::Score));
    let named = |names: &[&str]| ("name", json!({ "enum": names }));
    let mut forms = vec![json!({ "enum": names }), table([named(names)], &["name"])];
    if point.is_none_or(|point| point == Point::Score) {
        let scoring: Vec<&str> = names.iter().filter(scores).copied().collect();
        let weight = described(args::integer(Some(1), None), "the factor of the plugin's score");
        forms.push(table([named(&scoring), ("weight", weight)], &["name"]));
    }
    json!({ "anyOf": forms })
}

/// Returns the schema of `[args]`: a table for each plugin with arguments.
fn arguments(plugins: &Plugins<'_>) -> Value {
    let of_plugins = plugins.values().filter_map(|entry| {
        let schema = match &entry.args {
            ArgsSchema::None => return None,
            ArgsSchema::Known(schema) => args::schema(schema),
            ArgsSchema::Opaque => json!({ "type": "object" }),
        };
        Some((entry.name.as_str(), described(schema, &entry.description)))
    });
    table(of_plugins, &[])
}

/// Returns the schema of an object that has these fields, and no others.
fn table<'k>(fields: impl IntoIterator<Item = (&'k str, Value)>, required: &[&str]) -> Value {
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let (false, Some(schema)) = (required.is_empty(), schema.as_object_mut()) {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn described(mut schema: Value, doc: &str) -> Value {
    if let (false, Some(schema)) = (doc.is_empty(), schema.as_object_mut()) {
        schema.insert("description".to_owned(), doc.into());
    }
    schema
}
