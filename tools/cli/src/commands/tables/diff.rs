//! Tables of the differences between two profiles.

use std::fmt::Write;

use serde_json::Value;

use super::{count, more};
use crate::commands::diff::comparison::{Comparison, DifferenceKind, Entry, PlacementChanges};
use crate::commands::output::{Columns, heading, wrapped};

/// Maximum number of pods with different nodes in the table, unless all are requested.
const MAX_PODS: usize = 50;

/// Returns tables for the settings, each extension point, the arguments, the extenders and the pods. `all_pods` shows
/// every pod.
pub(crate) fn table(comparison: &Comparison, all_pods: bool) -> String {
    let (a, b) = (comparison.a.name.as_str(), comparison.b.name.as_str());
    let mut text = match comparison.differences.len() {
        0 => format!("{a} and {b} are equivalent\n"),
        n => format!("{a} and {b}: {}\n", count(n, "difference")),
    };
    let of = |what: DifferenceKind| comparison.differences.iter().filter(move |entry| entry.what == what);
    section(&mut text, "Settings", "SETTING", of(DifferenceKind::Setting), (a, b));
    let mut points: Vec<&str> = Vec::new();
    for point in comparison.differences.iter().filter_map(|entry| entry.point) {
        if !points.contains(&point) {
            points.push(point);
        }
    }
    for point in points {
        let of_point = || comparison.differences.iter().filter(|entry| entry.point == Some(point));
        section(&mut text, point, "PLUGIN", of_point().filter(|entry| entry.what != DifferenceKind::Order), (a, b));
        for entry in of_point().filter(|entry| entry.what == DifferenceKind::Order) {
            order(&mut text, point, of_point().count() == 1, entry, (a, b));
        }
    }
    section(&mut text, "Arguments", "ARGUMENT", of(DifferenceKind::Argument), (a, b));
    section(&mut text, "Extenders", "EXTENDER", of(DifferenceKind::Extender), (a, b));
    if let Some(placement_changes) = &comparison.placements {
        placements(&mut text, placement_changes, if all_pods { usize::MAX } else { MAX_PODS }, (a, b));
    }
    text
}

fn section<'e>(
    text: &mut String,
    title: &str,
    first: &str,
    entries: impl Iterator<Item = &'e Entry>,
    (a, b): (&str, &str),
) {
    let mut columns = Columns::new([first, &a.to_uppercase(), &b.to_uppercase(), "EFFECT ON PODS"]);
    let mut is_empty = true;
    for entry in entries {
        is_empty = false;
        let name = match (entry.plugin.as_ref().or(entry.extender.as_ref()), &entry.name) {
            (Some(whose), Some(name)) => format!("{whose} {name}"),
            (Some(name), None) | (None, Some(name)) => name.clone(),
            (None, None) => String::new(),
        };
        columns.row(vec![name, cell(entry.what, &entry.a), cell(entry.what, &entry.b), entry.effect.clone()]);
    }
    if !is_empty {
        text.push_str(&format!("\n{}\n{}", heading(title), columns.text()));
    }
}

/// Formats a value of a difference.
pub(crate) fn cell(what: DifferenceKind, value: &Value) -> String {
    match (what, value) {
        (_, Value::Null) => "-".to_owned(),
        (DifferenceKind::Plugin, runs) => match runs.get("weight") {
            Some(weight) => format!("x{weight}"),
            None => "yes".to_owned(),
        },
        (DifferenceKind::Extender, Value::Object(whole)) if whole.contains_key("url-prefix") => "yes".to_owned(),
        (DifferenceKind::Weight, weight) => format!("x{weight}"),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

fn order(text: &mut String, point: &str, is_only_entry: bool, entry: &Entry, (a, b): (&str, &str)) {
    if is_only_entry {
        text.push_str(&format!("\n{}\n", heading(point)));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  different order; effect on pods: {}", entry.effect);
    for (name, order) in [(a, &entry.a), (b, &entry.b)] {
        let plugins = order.as_array().into_iter().flatten().filter_map(Value::as_str);
        let _ = write!(text, "    {name}:\n{}", wrapped(plugins, 6));
    }
}

fn placements(text: &mut String, placement_changes: &PlacementChanges, limit: usize, (a, b): (&str, &str)) {
    let _ = writeln!(text, "\n{}", heading("Pods"));
    let _ = match placement_changes.elsewhere.len() {
        0 => writeln!(text, "  {}, all on the same nodes with both profiles", count(placement_changes.pods, "pod")),
        n => writeln!(text, "  {} of {} would be placed differently:", n, count(placement_changes.pods, "pod")),
    };
    if placement_changes.elsewhere.is_empty() {
        return;
    }
    let mut columns = Columns::new(["POD", &a.to_uppercase(), &b.to_uppercase()]);
    for moved in placement_changes.elsewhere.iter().take(limit) {
        let node = |node: &Option<String>| node.clone().unwrap_or_else(|| "-".to_owned());
        columns.row(vec![moved.pod.clone(), node(&moved.a.node), node(&moved.b.node)]);
    }
    text.push_str(&columns.text());
    text.push_str(&more(placement_changes.elsewhere.len().saturating_sub(limit)));
}
