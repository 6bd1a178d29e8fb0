//! Profiles as readable TOML.

use schedc_codegen::parse::MULTI_POINT;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::tree::{RawNode, RawTable, RawValue};

use crate::profile::{Enabled, Profile, Set};

/// Maximum length of lines that can be broken.
const WIDTH: usize = 110;

/// Writes a profile. `source` is the name of the imported configuration.
pub(crate) fn toml(profile: &Profile, source: &str) -> String {
    let mut text = String::new();
    comment(&mut text, &format!("Imported from {source} by schedc."));
    text.push('\n');
    if profile.named {
        text.push_str(&format!("scheduler-name = {}\n", string(&profile.scheduler_name)));
    }
    let percentage = profile.percentage_of_nodes_to_score;
    if percentage == 0 {
        comment(
            &mut text,
            "kube-scheduler's rule: the larger the cluster, the smaller the percentage of nodes. 100: all nodes.",
        );
    }
    if percentage != 100 {
        text.push_str(&format!("percentage-of-nodes-to-score = {percentage}\n"));
    }
    let backoffs = [
        ("pod-initial-backoff-seconds", profile.pod_initial_backoff_seconds),
        ("pod-max-backoff-seconds", profile.pod_max_backoff_seconds),
    ];
    for (key, seconds) in backoffs {
        if let Some(seconds) = seconds {
            text.push_str(&format!("{key} = {seconds}\n"));
        }
    }
    if !profile.out_of_tree.is_empty() {
        comment(
            &mut text,
            &format!(
                "Not plugins of kube-scheduler: {}. Name the crates that have them:",
                profile.out_of_tree.join(", ")
            ),
        );
        comment(&mut text, "crates = [\"..\"]");
    }
    if !profile.sets.is_empty() {
        text.push_str("\n[plugins]\n");
        for (point, set) in &profile.sets {
            let key = point.map_or(MULTI_POINT, Point::name);
            text.push_str(&format!("{key} = {}\n", plugin_set(set, key.len() + 3)));
        }
    }
    for args in &profile.args {
        if let RawValue::Table(table) = &args.value.value {
            let path = format!("args.{}", key(&args.plugin.value));
            section(&mut text, &format!("[{path}]"), &path, table);
        }
    }
    for extender in &profile.extenders {
        section(&mut text, "[[extender]]", "extender", extender);
    }
    text
}

/// Writes a table with a header. Tables in it that are too long for a line also get headers.
fn section(text: &mut String, header: &str, path: &str, table: &RawTable) {
    let mut sections = Vec::new();
    let mut lines = String::new();
    for field in &table.fields {
        let key = key(&field.key.value);
        match &field.value.value {
            RawValue::Table(inner) if key.len() + 3 + one_line(&field.value).chars().count() > WIDTH => {
                sections.push((format!("{path}.{key}"), inner));
            }
            _ => lines.push_str(&format!("{key} = {}\n", value(&field.value, 0, key.len() + 3))),
        }
    }
    if !lines.is_empty() || sections.is_empty() {
        text.push_str(&format!("\n{header}\n{lines}"));
    }
    for (path, inner) in sections {
        section(text, &format!("[{path}]"), &path, inner);
    }
}

/// Writes a text as a comment of one line. Control characters become spaces.
fn comment(text: &mut String, comment: &str) {
    let comment: String = comment.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.push_str(&format!("# {comment}\n"));
}

fn plugin_set(set: &Set, column: usize) -> String {
    let enabled: Vec<String> = set.enabled.iter().map(plugin).collect();
    if set.plain {
        return list(&enabled, column);
    }
    let disabled: Vec<String> = set.disabled.iter().map(|name| string(name)).collect();
    let parts: Vec<(&str, &[String])> = [("enabled", enabled.as_slice()), ("disabled", &disabled)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let one_line: Vec<String> = parts.iter().map(|(key, names)| format!("{key} = [{}]", names.join(", "))).collect();
    let one_line = format!("{{ {} }}", one_line.join(", "));
    if column + one_line.chars().count() <= WIDTH {
        return one_line;
    }
    // TOML 1.0 allows line breaks in the brackets of lists, but not in the braces of tables.
    let parts: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(index, (key, names))| {
            let names = if index == 0 { broken_list(names, 0) } else { list(names, 2 + key.len() + 3) };
            format!("{key} = {names}")
        })
        .collect();
    format!("{{ {} }}", parts.join(", "))
}

fn plugin(plugin: &Enabled) -> String {
    match plugin.weight {
        None => string(&plugin.name),
        Some(weight) => format!("{{ name = {}, weight = {weight} }}", string(&plugin.name)),
    }
}

/// Returns a value at a column; if it does not fit the line, lists are broken at their brackets.
fn value(node: &RawNode, indent: usize, column: usize) -> String {
    let text = one_line(node);
    if column + text.chars().count() <= WIDTH {
        return text;
    }
    match &node.value {
        RawValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| value(item, indent + 1, 4 * (indent + 1) + 1)).collect();
            broken_list(&items, indent)
        }
        RawValue::Table(table) => {
            let fields = table.fields.iter().map(|field| {
                let key = key(&field.key.value);
                format!("{key} = {}", value(&field.value, indent, column + key.len() + 5))
            });
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        _ => text,
    }
}

fn one_line(node: &RawNode) -> String {
    match &node.value {
        RawValue::Bool(value) => value.to_string(),
        RawValue::Int(value) => value.to_string(),
        RawValue::Str(value) => string(value),
        RawValue::Float(value) | RawValue::Datetime(value) => value.clone(),
        RawValue::List(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        RawValue::Table(RawTable { fields }) if fields.is_empty() => "{}".to_owned(),
        RawValue::Table(RawTable { fields }) => {
            let fields = fields.iter().map(|field| format!("{} = {}", key(&field.key.value), one_line(&field.value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

fn list(items: &[String], column: usize) -> String {
    let length: usize = items.iter().map(|item| item.chars().count() + 2).sum();
    if column + length <= WIDTH { format!("[{}]", items.join(", ")) } else { broken_list(items, 0) }
}

fn broken_list(items: &[String], indent: usize) -> String {
    let (inner, outer) = ("    ".repeat(indent + 1), "    ".repeat(indent));
    let lines: Vec<String> = items.iter().map(|item| format!("{inner}{item},\n")).collect();
    format!("[\n{}{outer}]", lines.concat())
}

fn key(key: &str) -> String {
    let is_bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if is_bare { key.to_owned() } else { string(key) }
}

fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
