//! The reference page of profile keys.

use std::fmt::Write;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::plan::Point;
use schedc_codegen::schema::ArgsSchema;
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
The keys of a profile, a TOML file. All keys are optional; other keys are errors. [Profiles](../profiles.md) describes how they work together,
and the [plugin reference](plugins.md) has the arguments of each plugin. `schedc check` and this page use the same tables.

| key | value | default | meaning |
|---|---|---|---|
";
    for key in settings::PROFILE {
        page += &row(&key);
    }
    page += "
## `[plugins]`

Each key is an extension point, or `multi-point` for all that a plugin implements. Its value is a list of plugins, which replaces the default,
or a table of `enabled` and `disabled`, which is [merged](../profiles.md#two-ways-to-name-plugins) with the default. A plugin is a name, or
`{ name = \"...\", weight = ... }` for a score plugin.

| key | task of its plugins | in the default profile, in this order |
|---|---|---|
";
    for point in Point::ALL {
        let (name, purpose, plugins) = (point.name(), purpose(point), default_plugins(&catalog, point));
        let name =
            status_anchor(point).map_or(format!("`{name}`"), |heading| format!("[`{name}`](../statuses.md#{heading})"));
        let _ = writeln!(page, "| {name} | {purpose} | {plugins} |");
    }
    page += "
The links of the keys lead to the effects of each plugin status.

## `[args.NAME]`

";
    let with_args = catalog.plugins.iter().filter(|plugin| matches!(plugin.args, ArgsSchema::Known(_)));
    let with_args: Vec<String> = with_args.map(|plugin| plugin_link(PLUGINS_PAGE, &plugin.name)).collect();
    let _ = writeln!(page, "In-tree plugins with arguments: {}.", with_args.join(", "));
    page += "The arguments of other plugins are those of their `type Args`.

## `[budget]`

[Budgets](../profiles.md#budgets) are limits for `schedc bench --check`.

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
    let value = details_link(key).map_or_else(|| value.clone(), |place| format!("[{value}]({place})"));
    format!("| `{name}` | {value} | {default} | {doc} |\n")
}

/// Returns the target of the link to details of a key's value, if there are any.
fn details_link(key: &Key) -> Option<&'static str> {
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
    let names = default
        .filter(|name| catalog.plugins.iter().any(|plugin| plugin.name == name.value && plugin.implements(point)));
    let links: Vec<String> = names.map(|name| plugin_link(PLUGINS_PAGE, &name.value)).collect();
    if links.is_empty() { "-".to_owned() } else { links.join(", ") }
}

fn purpose(point: Point) -> &'static str {
    match point {
        Point::PreEnqueue => "admit a pod to the active queue, or hold it back",
        Point::QueueSort => "order the active queue; one plugin, the same in all profiles of a binary",
        Point::PreFilter => "read pod and cluster once, before nodes are evaluated",
        Point::Filter => "reject nodes",
        Point::PostFilter => "make room for a pod without feasible nodes",
        Point::PreScore => "read the feasible nodes once, before they are scored",
        Point::Score => "give each feasible node a score of 0 to 100",
        Point::Reserve => "reserve resources for the pod on its node, or release them",
        Point::Permit => "let the pod be bound, make it wait, or reject it",
        Point::PreBind => "complete preparations, such as volumes, before the pod is bound",
        Point::Bind => "bind the pod; at least one plugin",
        Point::PostBind => "run code after the pod was bound",
    }
}

/// Returns the anchor of an extension point in docs/statuses.md. QueueSort has none.
fn status_anchor(point: Point) -> Option<String> {
    (point != Point::QueueSort).then(|| point.name().replace('-', ""))
}
