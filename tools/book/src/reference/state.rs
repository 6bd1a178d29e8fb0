//! The reference page of columns and indexes.

use std::fmt::Write;

use schedc_codegen::catalog::{Catalog, Column, State};

use super::{in_tree, plugin_link, title};

/// Returns the page of the columns and indexes of the in-tree catalog, with descriptions and readers.
///
/// # Errors
///
/// Returns an error if the in-tree catalog cannot be read, or does not describe a column or an index.
pub fn state() -> Result<String, String> {
    let catalog = in_tree()?;
    let mut page = title("Columns and indexes");
    page += "
State that plugins can read in addition to their own. A catalog names it in `columns` and `indexes`, in the order of `type Columns` and
`type Indexes` ([the catalog](../plugins.md#2-the-catalog)).

## Columns

A column has an entry for each node, which `filter` and `score` read.

| column | type | content | read by |
|---|---|---|---|
| `node-info` | `schedc_core::column::NodeInfo` | The whole node with its pods | `SimpleFilter` and `SimpleScore`, by default |
";
    let reads_index = |column: &Column| *column == Column::NodeIndex;
    let readers = reader_links(&catalog, |columns, _| columns.iter().any(reads_index));
    let position = "| `node-index` | `schedc_core::column::Position` | The number of the node, for cycle state with an entry for each node |";
    let _ = writeln!(page, "{position} {readers} |");
    for state in &catalog.columns {
        let reads =
            |column: &Column| matches!(column, Column::Declared(read) | Column::WithArgs(read) if read == state);
        page += &row(state, &reader_links(&catalog, |columns, _| columns.iter().any(reads)))?;
    }
    page += "
## Indexes

An index is one value for the cluster. PreFilter, PreScore, Reserve, PostFilter and hints read it, once per pod.

| index | type | content | read by |
|---|---|---|---|
";
    for state in &catalog.indexes {
        page += &row(state, &reader_links(&catalog, |_, indexes| indexes.contains(state)))?;
    }
    Ok(page)
}

fn row(state: &State, readers: &str) -> Result<String, String> {
    let State { name, path, description, .. } = state;
    if description.is_empty() {
        return Err(format!("the in-tree catalog does not describe `{name}`"));
    }
    Ok(format!("| `{name}` | `{path}` | {description} | {readers} |\n"))
}

fn reader_links(catalog: &Catalog, reads: impl Fn(&[Column], &[State]) -> bool) -> String {
    let plugins = catalog.plugins.iter().filter(|plugin| reads(&plugin.columns, &plugin.indexes));
    plugins.map(|plugin| plugin_link("plugins.md", &plugin.name)).collect::<Vec<_>>().join(", ")
}
