//! Plugin arguments: converts the fields of kube-scheduler's `NAMEArgs` to the same fields in kebab-case.
//!
//! `Schemas` contains the schemas of plugins' arguments, which `schedc check` uses. The arguments are checked in the
//! same way, with their locations in the configuration. This module adds kube-scheduler's steps: strict decoding,
//! defaults for empty values, and validation of values that a profile cannot express.

use std::collections::{HashMap, HashSet};

use schedc_profile_rules::check_args;
use schedc_profile_rules::parse::RawArgs;
use schedc_profile_rules::schema::{ArgsSchema, IN_TREE_ARGS, Schema};
use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::tree::{RawField, RawNode, RawTable, RawValue};

use crate::config::{API_VERSION, PluginConfig, Profile};
use crate::decode::Fields;
use crate::effective::Effective;
use crate::kube_scheduler;
use crate::messages;
use crate::profile::{can_name, is_out_of_tree};
use crate::report::Report;
use crate::tree::{Node, Value};

mod plugins;
pub(crate) mod shapes;

use shapes::Shape;

/// The schemas of the arguments of schedc's plugins, by the name of the plugin.
#[derive(Debug)]
pub(crate) struct Schemas(HashMap<String, Schema>);

impl Schemas {
    /// Reads the schemas, which are part of the program.
    pub(crate) fn read() -> Result<Self, serde_json::Error> {
        serde_json::from_str(IN_TREE_ARGS).map(Schemas)
    }

    fn of(&self, plugin: &str) -> ArgsSchema {
        match self.0.get(plugin) {
            Some(schema) => ArgsSchema::Known(schema.clone()),
            None if is_out_of_tree(plugin) => ArgsSchema::Opaque,
            None => ArgsSchema::None,
        }
    }
}

/// Returns the arguments of a profile's plugins, in source order. Arguments without effect in the profile are
/// omitted.
pub(crate) fn of_profile(
    index: usize,
    profile: &Profile,
    effective: &Effective,
    schemas: &Schemas,
    report: &mut Report,
) -> Vec<RawArgs> {
    let mut all: Vec<RawArgs> = Vec::new();
    let mut seen: HashMap<&str, Span> = HashMap::new();
    let mut running = effective.names();
    // The extension points of out-of-tree plugins are unknown, so these plugins are assumed to run if `multiPoint` has
    // them.
    running.extend(
        effective
            .multi_point
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|name| kube_scheduler::find(name).is_none()),
    );
    let running_names: HashSet<&str> = running.iter().copied().collect();
    for (number, config) in profile.plugin_config.iter().enumerate() {
        if let Some(first) = seen.get(config.name.value.as_str()) {
            report.error(messages::configured_twice(&config.name, *first));
            continue;
        }
        seen.insert(&config.name.value, config.name.span);
        let path = format!("profiles[{index}].pluginConfig[{number}].args");
        let args = of_plugin(config, &path, report);
        if !running_names.contains(config.name.value.as_str()) {
            report.warning(messages::args_of_disabled_plugin(&config.name, &running));
            continue;
        }
        let Some(args) = args else { continue };
        if can_name(&config.name.value) {
            all.extend(keep_supported_args(args, &schemas.of(&config.name.value), report));
        }
    }
    all.retain(|args| !matches!(&args.value.value, RawValue::Table(table) if table.fields.is_empty()));
    all
}

/// Reads the arguments of a plugin. `None` if none are written, if kube-scheduler's plugin takes none, or after an
/// error.
fn of_plugin(config: &PluginConfig, path: &str, report: &mut Report) -> Option<RawArgs> {
    let name = config.name.value.as_str();
    if let Some(successor) = kube_scheduler::successor(name) {
        report.error(messages::removed_plugin(&config.name, successor));
        return None;
    }
    let node = config.args.as_ref()?;
    let table = match shapes::of(name) {
        Some(fields) => {
            let errors_before = report.errors.len();
            type_meta(node, name, report);
            let mut table = map(node, fields, path, true, report)?;
            plugins::convert_args(name, &mut table, node.span, report);
            if report.errors.len() > errors_before {
                return None;
            }
            table
        }
        None if kube_scheduler::find(name).is_some() => {
            report.warning(messages::no_arguments(&config.name));
            return None;
        }
        None => match convert_untyped(node, report)?.value {
            RawValue::Table(mut table) => {
                table.fields.retain(|field| !["api-version", "kind"].contains(&field.key.value.as_str()));
                table
            }
            other => {
                report.error(messages::wrong_kind(node.span, path, "a map of fields", other.kind()));
                return None;
            }
        },
    };
    let value = RawNode { span: node.span, value: RawValue::Table(table) };
    Some(RawArgs { plugin: config.name.clone(), value })
}

/// Checks the optional fields `apiVersion` and `kind` of arguments.
fn type_meta(node: &Node, name: &str, report: &mut Report) {
    let Value::Map(fields) = &node.value else { return };
    let kind = format!("{name}Args");
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", kind.as_str())] {
        let Some((_, value)) = fields.iter().find(|(field, _)| field.value == key) else { continue };
        match &value.value {
            Value::Str(text) if text == expected || text.is_empty() => {}
            Value::Null => {}
            _ => report.error(messages::wrong_args_type(value.span, key, name, expected)),
        }
    }
}

/// Reads a map of known fields strictly. `allows_type_meta`: whether it may contain `apiVersion` and `kind`.
pub(crate) fn map(
    node: &Node,
    shape: &'static [(&'static str, Shape)],
    path: &str,
    allows_type_meta: bool,
    report: &mut Report,
) -> Option<RawTable> {
    let type_meta = ["apiVersion", "kind"].into_iter().filter(|_| allows_type_meta);
    let known: Vec<&str> = shape.iter().map(|(key, _)| *key).chain(type_meta).collect();
    if !matches!(node.value, Value::Map(_) | Value::Null) {
        report.error(messages::wrong_kind(node.span, path, "a map of fields", node.value.kind()));
        return None;
    }
    let Value::Map(written) = &node.value else { return Some(RawTable::default()) };
    Fields::of(node, path, &known, &mut report.errors);
    let mut table = RawTable::default();
    for (key, value) in written {
        let Some((_, shape)) = shape.iter().find(|(known, _)| *known == key.value) else { continue };
        let path = format!("{path}.{}", key.value);
        if let Some(value) = convert_value(value, shape, &path, report) {
            table.fields.push(field(&key.value, key.span, value));
        }
    }
    Some(table)
}

fn convert_value(node: &Node, shape: &Shape, path: &str, report: &mut Report) -> Option<RawNode> {
    let value = match (shape, &node.value) {
        (_, Value::Null) => return None,
        (Shape::Bool, Value::Bool(value)) => RawValue::Bool(*value),
        (Shape::Int { bits }, Value::Int(value)) => {
            let limit = 1_i128 << (bits - 1);
            if !(-limit..limit).contains(value) {
                report.error(messages::too_many_bits(node.span, path, *bits));
                return None;
            }
            RawValue::Int(*value)
        }
        (Shape::Str, Value::Str(value)) => RawValue::Str(value.clone()),
        (Shape::List(element), Value::List(items)) => {
            let items = items.iter().enumerate();
            // In a list of maps, null stands for an empty map. From other lists, null is removed.
            let items = items.filter_map(|(index, item)| {
                let path = format!("{path}[{index}]");
                match (element, &item.value) {
                    (Shape::Map(_), Value::Null) => {
                        Some(RawNode { span: item.span, value: RawValue::Table(RawTable::default()) })
                    }
                    _ => convert_value(item, element, &path, report),
                }
            });
            RawValue::List(items.collect())
        }
        (Shape::Map(fields), Value::Map(_)) => RawValue::Table(map(node, fields, path, false, report)?),
        (shape, other) => {
            report.error(messages::wrong_kind(node.span, path, shape.description(), other.kind()));
            return None;
        }
    };
    Some(RawNode { span: node.span, value })
}

/// Reads arguments of unknown shape. Nulls and fractions are removed.
fn convert_untyped(node: &Node, report: &mut Report) -> Option<RawNode> {
    let value = match &node.value {
        Value::Null => return None,
        Value::Bool(value) => RawValue::Bool(*value),
        Value::Int(value) => RawValue::Int(*value),
        Value::Float(value) => {
            report.warning(messages::fraction(node.span, *value));
            return None;
        }
        Value::Str(value) => RawValue::Str(value.clone()),
        Value::List(items) => RawValue::List(items.iter().filter_map(|item| convert_untyped(item, report)).collect()),
        Value::Map(fields) => RawValue::Table(RawTable {
            fields: fields
                .iter()
                .filter_map(|(key, value)| Some(field(&key.value, key.span, convert_untyped(value, report)?)))
                .collect(),
        }),
    };
    Some(RawNode { span: node.span, value })
}

fn field(key: &str, span: Span, value: RawNode) -> RawField {
    RawField { key: Spanned { value: kebab_case(key), span }, value }
}

/// Converts `scoringStrategy` to `scoring-strategy`; names that are not in camel case stay unchanged.
fn kebab_case(key: &str) -> String {
    if !key.starts_with(|first: char| first.is_ascii_lowercase())
        || !key.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return key.to_owned();
    }
    let mut kebab = String::new();
    let mut capitals = 0;
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            if capitals == 0 {
                kebab.push('-');
            }
            capitals += 1;
        } else {
            // The last of several capitals begins a word: `enableHTTPSOnly`.
            if capitals > 1 && c.is_ascii_lowercase() {
                kebab.insert(kebab.len() - 1, '-');
            }
            capitals = 0;
        }
        kebab.push(c.to_ascii_lowercase());
    }
    kebab
}

/// Checks the arguments that schedc's plugin supports, and removes the others. `None` if none is left.
fn keep_supported_args(mut args: RawArgs, schema: &ArgsSchema, report: &mut Report) -> Option<RawArgs> {
    let fields = match schema {
        ArgsSchema::Known(Schema::Table { fields }) => Some(fields.as_slice()),
        ArgsSchema::None => Some(&[][..]),
        _ => None,
    };
    if let (Some(known), RawValue::Table(table)) = (fields, &mut args.value.value) {
        for field in &table.fields {
            if !known.iter().any(|known| known.name == field.key.value) {
                report.warning(messages::argument_not_in_schedc(&field.key, &args.plugin.value));
            }
        }
        table.fields.retain(|field| known.iter().any(|known| known.name == field.key.value));
        if table.fields.is_empty() {
            return None;
        }
    }
    report.errors.extend(check_args(schema, &args));
    Some(args)
}

#[cfg(test)]
mod tests {
    use super::kebab_case;

    #[test]
    fn names_become_kebab_case() {
        for (camel, kebab) in [
            ("scoringStrategy", "scoring-strategy"),
            ("minCandidateNodesPercentage", "min-candidate-nodes-percentage"),
            ("type", "type"),
            ("urlPrefix2", "url-prefix2"),
            ("enableHTTPSOnly", "enable-https-only"),
            ("example.com/gpu", "example.com/gpu"),
            ("Zone", "Zone"),
        ] {
            assert_eq!(kebab_case(camel), kebab);
        }
    }
}
