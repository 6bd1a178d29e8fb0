//! Table of the cost of profiles.

use std::fmt::Write;

use schedc_perf::cost::{Amounts, Costs, DecisionCost, ProfileCost};

use crate::commands::output::{Columns, heading};

/// Returns a table per profile.
pub(crate) fn table(costs: &Costs) -> String {
    let mut text = String::new();
    for profile in &costs.profiles {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", heading(profile.name));
        text.push_str(&plugins(profile));
        if let Some(plugin) = profile.most_expensive {
            let _ = writeln!(text, "  For a pod that is evaluated on all nodes, {plugin} takes the most time.");
        }
        let _ = write!(text, "\n{}", decisions(&profile.per_decision));
        let _ = writeln!(text, "\n{}", memory(profile));
    }
    let _ = write!(text, "Measured with {} nodes.", costs.nodes);
    match &costs.no_instructions {
        Some(why) => _ = writeln!(text, " Instructions were not counted: {why}."),
        None => text.push('\n'),
    }
    text
}

fn plugins(profile: &ProfileCost) -> String {
    let mut columns =
        Columns::new(["PLUGIN", "POINT", "FOR", ">PLAIN ns", ">DEMANDING ns", ">PLAIN INSTR.", ">DEMANDING INSTR."]);
    for cost in &profile.plugins {
        columns.row(row(cost.plugin, cost.point, cost.is_per_node, &cost.amounts));
    }
    columns.row(row("all", "", true, &profile.per_node));
    columns.row(row("all", "", false, &profile.per_pod));
    columns.text()
}

fn row(plugin: &str, point: &str, is_per_node: bool, amounts: &Amounts) -> Vec<String> {
    let unit = if is_per_node { "a node" } else { "a pod" };
    let mut row = vec![plugin.to_owned(), point.to_owned(), unit.to_owned()];
    let amounts = [amounts.plain_ns, amounts.demanding_ns, amounts.plain_instructions, amounts.demanding_instructions];
    row.extend(amounts.map(|cost| cost.map_or_else(|| "-".to_owned(), amount)));
    row
}

fn decisions(cost: &DecisionCost) -> String {
    let mut columns = Columns::new(["DECISION", ">PLAIN", ">DEMANDING"]);
    let number = |cost: Option<f64>| cost.map_or_else(|| "-".to_owned(), amount);
    let rows = [
        ("instructions", cost.plain_instructions, cost.demanding_instructions),
        ("allocations", cost.plain_allocations, cost.demanding_allocations),
    ];
    for (what, plain, demanding) in rows {
        columns.row(vec![what.to_owned(), number(plain), number(demanding)]);
    }
    columns.text()
}

fn memory(profile: &ProfileCost) -> String {
    let mut columns = Columns::new(["MEMORY", ">BYTES"]);
    for column in &profile.columns {
        columns.row(vec![format!("column {}, for a node", column.column), column.bytes.to_string()]);
    }
    columns.row(vec!["all columns, for a node".to_owned(), profile.bytes_per_node.to_string()]);
    let others = [
        ("cache, columns and indexes of all profiles, for a node", profile.cache_bytes_per_node),
        ("cache, columns and indexes of all profiles, for a running pod", profile.cache_bytes_per_pod),
        ("executable", profile.binary_size.map(|size| size as f64)),
    ];
    for (what, bytes) in others {
        if let Some(bytes) = bytes {
            columns.row(vec![what.to_owned(), format!("{bytes:.0}")]);
        }
    }
    columns.text()
}

/// Formats a number, with one decimal if it is below 100.
pub(crate) fn amount(number: f64) -> String {
    if number < 100.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}
