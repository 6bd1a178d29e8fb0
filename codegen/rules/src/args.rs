//! Arguments: of the shape in the catalog, and with valid combinations.

mod default_preemption;
mod dynamic_resources;
mod node_affinity;
mod node_resources_balanced_allocation;
mod node_resources_fit;
mod pod_topology_spread;
mod shape;
mod volume_binding;

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::parse::RawArgs;
use crate::schema::ArgsSchema;
use crate::source::{Span, Spanned};
use crate::tree::{RawNode, RawTable, RawValue};

/// Checks a plugin's arguments against the schema in its catalog, and against the plugin's rules.
pub fn check_args(schema: &ArgsSchema, args: &RawArgs) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let plugin = args.plugin.value.as_str();
    match schema {
        ArgsSchema::None => diagnostics.push(messages::no_arguments(&args.plugin)),
        ArgsSchema::Opaque => shape::constant(&args.value, plugin, &mut diagnostics),
        ArgsSchema::Known(schema) => {
            let mut by_shape = Vec::new();
            shape::check(&args.value, schema, plugin, &mut by_shape);
            check_plugin_rules(args, &mut diagnostics);
            // If the schema and a rule of the plugin report errors at one location, only the error of the rule is kept:
            // it is more specific.
            let reported: Vec<Span> = diagnostics.iter().filter_map(location).collect();
            diagnostics
                .extend(by_shape.into_iter().filter(|other| location(other).is_none_or(|at| !reported.contains(&at))));
        }
    }
    diagnostics
}

fn location(diagnostic: &Diagnostic) -> Option<Span> {
    diagnostic.primary.as_ref().map(|label| label.span)
}

/// Checks the plugin's rules that a schema cannot express. The rules skip values of the wrong shape.
fn check_plugin_rules(args: &RawArgs, diagnostics: &mut Vec<Diagnostic>) {
    let RawValue::Table(table) = &args.value.value else { return };
    match args.plugin.value.as_str() {
        "DefaultPreemption" => default_preemption::check(table, diagnostics),
        "DynamicResources" => dynamic_resources::check(table, diagnostics),
        "NodeAffinity" => node_affinity::check(table, diagnostics),
        "NodeResourcesBalancedAllocation" => node_resources_balanced_allocation::check(table, diagnostics),
        "NodeResourcesFit" => node_resources_fit::check(table, diagnostics),
        "PodTopologySpread" => pod_topology_spread::check(table, diagnostics),
        "VolumeBinding" => volume_binding::check(table, diagnostics),
        _ => {}
    }
}

/// Returns the table under a key, with its location.
fn table_at<'t>(table: &'t RawTable, key: &str) -> Option<(&'t RawTable, &'t RawNode)> {
    let node = &table.get(key)?.value;
    match &node.value {
        RawValue::Table(table) => Some((table, node)),
        _ => None,
    }
}

/// Returns the tables in the list under a key, each with its location.
fn tables_at<'t>(table: &'t RawTable, key: &str) -> impl Iterator<Item = (&'t RawTable, &'t RawNode)> {
    let items: &[RawNode] = match table.get(key).map(|field| &field.value.value) {
        Some(RawValue::List(items)) => items,
        _ => &[],
    };
    items.iter().filter_map(|node| match &node.value {
        RawValue::Table(table) => Some((table, node)),
        _ => None,
    })
}

/// Returns the string under a key, with its location.
fn string_at(table: &RawTable, key: &str) -> Option<Spanned<String>> {
    let node = &table.get(key)?.value;
    match &node.value {
        RawValue::Str(value) => Some(Spanned { value: value.clone(), span: node.span }),
        _ => None,
    }
}
