//! The reference page of profile keys.

use std::fmt::Write;

use schedc_codegen::catalog::{ArgsSchema, Catalog};
use schedc_codegen::plan::Point;
use schedc_codegen::settings::{self, Key, ValueKind};

use super::{in_tree, plugin_link, title};

const PLUGINS_PAGE: &str = "plugins.md";

/// Returns the page of profile keys.
///
/// # Errors
///
/// Returns an error if the in-tree catalog cannot be read.
pub fn profiles() -> Result<String, String> {
    let catalog = in_tree()?;
    let mut page = title("Profile reference");
    page += "
The keys of a profile, which is a TOML file. All keys are optional. [Profiles](../profiles.md) explains how they work together, and the
[plugin reference](plugins.md) has the arguments of each plugin. `schedc check` uses the same tables as this page, so the list of keys
is complete.

| key | value | default | meaning |
|---|---|---|---|
";
    for key in settings::PROFILE {
        page += &row(&key);
    }
    page += "
## `[plugins]`

Each key names an extension point, or `multi-point` for all extension points of a plugin. Its value is a list of plugins, which
replaces the defaults, or a table of `enabled` and `disabled`, which is [merged](../profiles.md#two-ways-to-name-plugins) with the
defaults. A plugin is a name, or `{ name = \"...\", weight = ... }` for score plugins.

| key | purpose of its plugins | in the default profile, in this order |
|---|---|---|
";
    for point in Point::ALL {
        let (name, purpose, plugins) = (point.name(), purpose(point), default_plugins(&catalog, point));
        let name =
            answers(point).map_or(format!("`{name}`"), |heading| format!("[`{name}`](../statuses.md#{heading})"));
        let _ = writeln!(page, "| {name} | {purpose} | {plugins} |");
    }
    page += "
The links lead to the effects of each status of a plugin.

## `[args.NAME]`

";
    let with_args = catalog.plugins.iter().filter(|plugin| matches!(plugin.args, ArgsSchema::Known(_)));
    let with_args: Vec<String> = with_args.map(|plugin| plugin_link(PLUGINS_PAGE, &plugin.name)).collect();
    let _ = writeln!(page, "In-tree plugins with arguments: {}.", with_args.join(", "));
    page += "The `type Args` of a custom plugin defines its arguments.

## `[budget]`

[Budgets](../profiles.md#budgets) are limits for `schedc bench --cost --check`.

| key | value | default | limit on |
|---|---|---|---|
";
    for key in settings::LIMITS {
        page += &row(&key);
    }
    Ok(page)
}

fn row(key: &Key) -> String {
    let (name, doc) = (key.name, key.doc);
    let (value, default) = match &key.kind {
        ValueKind::Name { default } => ("a DNS subdomain".to_owned(), format!("`\"{default}\"`")),
        ValueKind::Integer { range, default } => {
            let default = default.map_or("no limit".to_owned(), |default| format!("`{default}`"));
            (format!("integer, {}", super::arguments::range(Some(*range.start()), Some(*range.end()))), default)
        }
        ValueKind::List(of) => (format!("list of {of}"), "`[]`".to_owned()),
        ValueKind::Table(of) => (format!("table of {of}"), "-".to_owned()),
    };
    let value = more(key).map_or_else(|| value.clone(), |place| format!("[{value}]({place})"));
    format!("| `{name}` | {value} | {default} | {doc} |\n")
}

/// Returns a link to more about the value of a key.
fn more(key: &Key) -> Option<&'static str> {
    let places = [
        (settings::CRATES, "../plugins.md#3-the-profile"),
        (settings::PLUGINS, "#plugins"),
        (settings::ARGS, "#argsname"),
        (settings::EXTENDER, "../profiles.md#extenders"),
        (settings::BUDGET, "#budget"),
    ];
    places.into_iter().find(|(of, _)| of == key).map(|(_, place)| place)
}

fn default_plugins(catalog: &Catalog, point: Point) -> String {
    let default = catalog.default.iter();
    let there = default
        .filter(|name| catalog.plugins.iter().any(|plugin| plugin.name == name.value && plugin.implements(point)));
    let links: Vec<String> = there.map(|name| plugin_link(PLUGINS_PAGE, &name.value)).collect();
    if links.is_empty() { "-".to_owned() } else { links.join(", ") }
}

fn purpose(point: Point) -> &'static str {
    match point {
        Point::PreEnqueue => "admit a pod to the queue, or gate it",
        Point::QueueSort => "order the queue; one plugin, the same in all profiles of a binary",
        Point::PreFilter => "evaluate pod and cluster once, before the nodes",
        Point::Filter => "reject nodes",
        Point::PostFilter => "preempt pods, or otherwise help an unschedulable pod",
        Point::PreScore => "evaluate the feasible nodes once, before scoring",
        Point::Score => "give each feasible node 0 to 100 points",
        Point::Reserve => "reserve resources for the pod on its node; Unreserve releases them",
        Point::Permit => "let the pod be bound, make it wait, or reject it",
        Point::PreBind => "prepare the node or volumes before the pod is bound",
        Point::Bind => "bind the pod; at least one plugin",
        Point::PostBind => "run after the pod was bound",
    }
}

/// Returns the heading of an extension point in docs/statuses.md.
fn answers(point: Point) -> Option<String> {
    (point != Point::QueueSort).then(|| point.name().replace('-', ""))
}
