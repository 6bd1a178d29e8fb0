//! The reference page of the in-tree plugins.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use schedc_codegen::catalog::{Column, PluginEntry};
use schedc_codegen::plan::Point;
use schedc_codegen::schema::{ArgsSchema, Schema};

use super::{arguments, events, in_tree, plugin_link, quoted, title};

/// Returns the page of the in-tree plugins. `root` is the root of the repository.
///
/// # Errors
///
/// Returns an error if the in-tree catalog or the file of a plugin cannot be read, or if a plugin's events
/// are unknown.
pub fn plugins(root: &Path) -> Result<String, String> {
    let catalog = in_tree()?;
    let mut page = title("Plugin reference");
    page += "
The in-tree plugins, in the order of the default profile, which has all of them. [Profiles](../profiles.md) describes how to select plugins,
and [Writing plugins](../plugins.md) how to write others. The [catalog](../plugins.md#2-the-catalog) explains the terms of the tables.

| plugin | purpose |
|---|---|
";
    let default = catalog.default.iter();
    let plugins: Vec<&PluginEntry> = default
        .filter_map(|name| catalog.plugins.iter().find(|plugin| plugin.name == name.value))
        .map(AsRef::as_ref)
        .collect();
    for plugin in &plugins {
        let _ = writeln!(page, "| {} | {} |", plugin_link("", &plugin.name), plugin.description);
    }
    for plugin in plugins {
        page += &section(root, plugin)?;
    }
    Ok(page)
}

fn section(root: &Path, plugin: &PluginEntry) -> Result<String, String> {
    let mut text = format!("\n## {}\n\n{}\n\n| | |\n|---|---|\n", plugin.name, documentation(root, plugin)?);
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "| {name} | {value} |");
        }
    };
    row("extension points", quoted(plugin.points.iter().map(|point| point.name())));
    if plugin.implements(Point::Score) {
        row("default weight", plugin.default_weight.to_string());
    }
    row("columns", quoted(plugin.columns.iter().map(column)));
    row("indexes", quoted(plugin.indexes.iter().map(|index| index.name.as_str())));
    row("watches", plugin.watches.join(", "));
    let writes = plugin.writes.iter().map(|write| format!("{} `{}`", write.verbs.join(", "), write.resource));
    row("writes", writes.collect::<Vec<_>>().join("; "));
    row("wakes rejected pods", events::waking(plugin)?);
    row("source", format!("[{0}](../../{0})", source(plugin)));
    let ArgsSchema::Known(Schema::Table { fields }) = &plugin.args else {
        return Ok(text);
    };
    let _ =
        write!(text, "\n`[args.{}]`:\n\n| argument | value | default | meaning |\n|---|---|---|---|\n", plugin.name);
    for field in fields {
        for row in arguments::rows(field, "") {
            let _ = writeln!(text, "{row}");
        }
    }
    Ok(text)
}

fn column(column: &Column) -> &str {
    match column {
        Column::Declared(state) | Column::WithArgs(state) => &state.name,
        Column::NodeInfo => "node-info",
        Column::NodeIndex => "node-index",
    }
}

/// Returns the source file of the plugin, from the root of the repository.
fn source(plugin: &PluginEntry) -> String {
    let mut name = String::new();
    for letter in plugin.name.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    format!("plugins/src/{name}.rs")
}

/// Returns the documentation of the plugin's module, without the first paragraph and the one about arguments: the page
/// has a heading and a table instead.
fn documentation(root: &Path, plugin: &PluginEntry) -> Result<String, String> {
    let path = source(plugin);
    let text = fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let paragraphs = text.split("\n\n").skip(1).filter(|paragraph| !paragraph.starts_with("**Arguments.**"));
    let paragraphs: Vec<&str> = paragraphs.collect();
    if paragraphs.is_empty() {
        return Err(format!("{path} does not say what the plugin does"));
    }
    Ok(paragraphs.join("\n\n"))
}
