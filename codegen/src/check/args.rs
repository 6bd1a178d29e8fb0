//! Arguments: for enabled plugins only, of the shape that the catalog tells, and what a shape cannot tell.

mod node_affinity;
mod node_resources_balanced_allocation;
mod node_resources_fit;
mod shape;

use super::{Context, plugin_names};
use crate::catalog::ArgsSchema;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::parse::RawArgs;
use crate::tree::{RawNode, RawTable, RawValue};

pub(super) fn check(cx: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for args in &cx.raw.args {
        let name = args.plugin.value.as_str();
        if !plugin_names::known(cx, &args.plugin, None, false, found) {
            continue;
        }
        let Some((_, plugin)) = cx.plan.find(name) else {
            if cx.catalogs.plugin(name).is_some_and(|entry| !entry.points.iter().any(|point| cx.in_doubt(*point))) {
                found.push(messages::args_of_disabled_plugin(&args.plugin));
            }
            continue;
        };
        match &plugin.entry.args {
            ArgsSchema::None => found.push(messages::no_arguments(&args.plugin)),
            ArgsSchema::Opaque => shape::constant(&args.value, name, found),
            ArgsSchema::Known(schema) => {
                let found_before = found.len();
                shape::check(&args.value, schema, name, found);
                let mut special = Vec::new();
                plugin_rule(args, &mut special);
                let said: Vec<_> = found[found_before..].iter().filter_map(|other| other.primary.as_ref()).collect();
                let said: Vec<_> = said.into_iter().map(|label| label.span).collect();
                special
                    .retain(|diagnostic| diagnostic.primary.as_ref().is_none_or(|label| !said.contains(&label.span)));
                found.append(&mut special);
            }
        }
    }
}

/// What the shape of a plugin's arguments cannot say. These rules pass over values of the wrong shape.
fn plugin_rule(args: &RawArgs, found: &mut Vec<Diagnostic>) {
    let RawValue::Table(table) = &args.value.value else { return };
    match args.plugin.value.as_str() {
        "NodeAffinity" => node_affinity::check(table, found),
        "NodeResourcesBalancedAllocation" => node_resources_balanced_allocation::check(table, found),
        "NodeResourcesFit" => node_resources_fit::check(table, found),
        _ => {}
    }
}

/// The table under a key, with its place.
fn table_at<'t>(table: &'t RawTable, key: &str) -> Option<(&'t RawTable, &'t RawNode)> {
    let node = &table.get(key)?.value;
    match &node.value {
        RawValue::Table(table) => Some((table, node)),
        _ => None,
    }
}

/// The list under a key; empty if there is none.
fn list_at<'t>(table: &'t RawTable, key: &str) -> &'t [RawNode] {
    match table.get(key).map(|field| &field.value.value) {
        Some(RawValue::List(items)) => items,
        _ => &[],
    }
}

/// The tables in the list under a key, each with its place.
fn tables_at<'t>(table: &'t RawTable, key: &str) -> impl Iterator<Item = (&'t RawTable, &'t RawNode)> {
    list_at(table, key).iter().filter_map(|node| match &node.value {
        RawValue::Table(table) => Some((table, node)),
        _ => None,
    })
}

/// The string under a key, with its place.
fn string_at(table: &RawTable, key: &str) -> Option<crate::source::Spanned<String>> {
    let node = &table.get(key)?.value;
    match &node.value {
        RawValue::Str(value) => Some(crate::source::Spanned { value: value.clone(), span: node.span }),
        _ => None,
    }
}
