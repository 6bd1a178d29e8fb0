//! The report of `schedc explain`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use indicatif::HumanCount;
use schedc_report::{Bar, Bars, Column, Kind, Report as Page, Table, Unit};

use super::charts::MAX_ROWS;
use crate::explanation::{Comparison, Explanation, NodeReport};
use crate::remedies::Remedies;

/// Maximum number of explained pods in a page.
const MAX_PODS: usize = 20;

/// Returns the page of explanations. `subtitle` names the input.
pub(crate) fn page(explanations: &[Explanation], subtitle: String) -> Page {
    let mut page = match explanations {
        [one] => Page::new(format!("Explanation of {}", one.pod), subtitle),
        several => Page::new(format!("Explanation of {} pods", several.len()), subtitle),
    };
    for explanation in explanations.iter().take(MAX_PODS) {
        let suffix = if explanations.len() > 1 { format!(": {}", explanation.pod) } else { String::new() };
        if explanations.len() == 1 {
            facts(&mut page, explanation);
        }
        views(&mut page, explanation, &suffix);
    }
    if explanations.len() > MAX_PODS {
        page.notes.push(format!("The page has the first {MAX_PODS} of {} pods.", explanations.len()));
    }
    page
}

fn facts(page: &mut Page, explanation: &Explanation) {
    let feasible = explanation.nodes.iter().filter(|node| node.feasible).count();
    page.fact("Node", explanation.node.as_deref().unwrap_or("none"));
    page.fact("Profile", explanation.profile);
    page.fact("Feasible nodes", HumanCount(feasible as u64));
    page.fact("Rejected nodes", HumanCount((explanation.nodes.len() - feasible) as u64));
    if explanation.best.len() > 1 {
        page.fact("Nodes with the highest total", explanation.best.len());
    }
}

fn views(page: &mut Page, explanation: &Explanation, suffix: &str) {
    page.view(result(explanation, suffix));
    page.view(rejections(explanation, suffix));
    if let Some(comparison) = &explanation.comparison {
        page.view(compared(comparison, explanation, suffix));
    }
    if let Some(remedies) = &explanation.remedies {
        page.view(remedy_table(remedies, suffix));
    }
    let mut feasible: Vec<&NodeReport> = explanation.nodes.iter().filter(|node| node.feasible).collect();
    feasible.sort_by_key(|node| (Reverse(node.total), &node.node));
    let rejected: Vec<&NodeReport> = explanation.nodes.iter().filter(|node| !node.feasible).collect();
    let rows = first_rows(page, &feasible, "Scores", suffix);
    page.view(scores(rows, suffix));
    let rows = first_rows(page, &rejected, "Rejected nodes", suffix);
    page.view(rejected_nodes(rows, suffix));
}

/// Returns the first rows of a table. Adds a note to the page if rows are left out.
fn first_rows<'r, 'n>(page: &mut Page, rows: &'r [&'n NodeReport], table: &str, suffix: &str) -> &'r [&'n NodeReport] {
    if rows.len() > MAX_ROWS {
        let (shown, all) = (HumanCount(MAX_ROWS as u64), HumanCount(rows.len() as u64));
        page.notes.push(format!("The table `{table}{suffix}` has the first {shown} of {all} nodes."));
    }
    &rows[..rows.len().min(MAX_ROWS)]
}

/// Returns the result, one fact per row.
fn result(explanation: &Explanation, suffix: &str) -> Table {
    let mut rows: Vec<(&str, String)> =
        vec![("pod", explanation.pod.clone()), ("node", explanation.node.clone().unwrap_or_else(|| "none".to_owned()))];
    rows.extend(explanation.message.clone().map(|message| ("message", message)));
    let rejection =
        |rejection: &crate::explanation::Rejection| format!("{}: {}", rejection.plugin, rejection.reasons.join(", "));
    rows.extend(explanation.held_by.as_ref().map(|held| ("held by", rejection(held))));
    rows.extend(explanation.pre_filter.as_ref().map(|by| ("rejected by PreFilter of", rejection(by))));
    if explanation.by_nomination {
        rows.push(("chosen by", "an earlier preemption, which nominated the node for the pod".to_owned()));
    } else if explanation.best.len() > 1 {
        rows.push(("chosen by", format!("the seed, among {} nodes with the highest total", explanation.best.len())));
    } else if explanation.node.is_some() {
        rows.push(("chosen by", "the highest total".to_owned()));
    }
    if let Some(preemption) = &explanation.preemption {
        rows.push(("preemption", format!("{} on {}", preemption.victims.join(", "), preemption.node)));
    }
    if !explanation.skipped_filters.is_empty() {
        rows.push(("skipped filters", explanation.skipped_filters.join(", ")));
    }
    if !explanation.skipped_scores.is_empty() {
        rows.push(("skipped scores", explanation.skipped_scores.join(", ")));
    }
    Table::new(&format!("Result{suffix}"), "", "")
        .with(Column::text("What", Kind::Text, rows.iter().map(|(name, _)| *name)))
        .with(Column::text("Value", Kind::Text, rows.iter().map(|(_, value)| value.as_str())))
}

/// Returns the numbers of rejected nodes by the reasons of the first plugin that rejects them.
fn rejections(explanation: &Explanation, suffix: &str) -> Bars {
    let mut nodes: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for rejection in explanation.nodes.iter().filter_map(|node| node.rejections.first()) {
        *nodes.entry((rejection.plugin, rejection.reasons.join(", "))).or_default() += 1;
    }
    let mut nodes: Vec<_> = nodes.into_iter().collect();
    nodes.sort_by_key(|(_, nodes)| Reverse(*nodes));
    let bars = nodes.into_iter().map(|((plugin, reason), nodes)| Bar {
        label: if plugin.is_empty() { reason.clone() } else { format!("{plugin}: {reason}") },
        values: vec![nodes as f64],
        query: Some(reason),
    });
    Bars {
        title: format!("Reasons of rejected nodes{suffix}"),
        description: "Nodes by the first plugin that rejects them.".to_owned(),
        label: "Reason".to_owned(),
        unit: Unit::Count,
        series: vec!["nodes".to_owned()],
        bars: bars.collect(),
        empty: "No node is rejected.".to_owned(),
    }
    .shortened()
}

/// Returns the scores of the feasible nodes, the highest total first.
fn scores(nodes: &[&NodeReport], suffix: &str) -> Table {
    let bar = |highest: Option<i64>| Kind::Bar(u32::try_from(highest.unwrap_or(1)).unwrap_or(1).max(1), Unit::Count);
    let totals = nodes.iter().map(|node| node.total.map(|total| total as f64));
    let mut table = Table::new(
        &format!("Scores{suffix}"),
        "Weighted scores of the feasible nodes. The details of a row have raw and normalised scores.",
        "No node is feasible, or only one is, which needs no scores.",
    )
    .with(Column::text("Node", Kind::Node, nodes.iter().map(|node| node.node.as_str())))
    .with(Column::numbers("Total", bar(nodes.iter().filter_map(|node| node.total).max()), totals));
    let Some(scored) = nodes.iter().find(|node| !node.scores.is_empty()) else { return table };
    let all = || nodes.iter().flat_map(|node| &node.scores);
    let highest = all().map(|score| score.weighted).max();
    for score in &scored.scores {
        let score_of = |node: &&NodeReport| node.scores.iter().find(|other| other.plugin == score.plugin).cloned();
        let values = |value: fn(crate::explanation::Score) -> i64| {
            nodes.iter().map(move |node| score_of(node).map(|score| value(score) as f64))
        };
        let plugin = score.plugin;
        let number = Kind::Number(Unit::Count);
        table = table
            .with(Column::numbers(&format!("{plugin} ×{}", score.weight), bar(highest), values(|score| score.weighted)))
            .with(Column::numbers(&format!("{plugin}, raw"), number, values(|score| score.raw)).hidden())
            .with(Column::numbers(&format!("{plugin}, normalised"), number, values(|score| score.normalized)).hidden());
    }
    table
}

fn rejected_nodes(nodes: &[&NodeReport], suffix: &str) -> Table {
    let joined = |node: &&NodeReport, value: &dyn Fn(&crate::explanation::Rejection) -> String| {
        node.rejections.iter().map(value).collect::<Vec<_>>().join("; ")
    };
    let plugins = nodes.iter().map(|node| joined(node, &|rejection| rejection.plugin.to_owned()));
    let reasons = nodes.iter().map(|node| joined(node, &|rejection| rejection.reasons.join(", ")));
    let codes = nodes.iter().map(|node| joined(node, &|rejection| rejection.code.clone()));
    Table::new(&format!("Rejected nodes{suffix}"), "Nodes that a plugin rejects.", "No node is rejected.")
        .with(Column::text("Node", Kind::Node, nodes.iter().map(|node| node.node.as_str())))
        .with(Column::text("Plugin", Kind::Text, plugins))
        .with(Column::text("Reason", Kind::Text, reasons))
        .with(Column::text("Status", Kind::Text, codes).hidden())
        .with(Column::text("Shortage", Kind::Text, nodes.iter().map(|node| node.details.join("; "))).hidden())
}

fn compared(comparison: &Comparison, explanation: &Explanation, suffix: &str) -> Table {
    let plugins = || comparison.plugins.iter();
    let weight = Kind::Number(Unit::Count);
    let rejections =
        comparison.rejections.iter().map(|by| format!("{} rejects it: {}", by.plugin, by.reasons.join(", ")));
    let rejections = rejections.collect::<Vec<_>>().join("; ");
    let decisive = plugins().map(|plugin| plugin.decisive_weight.as_ref().map(|decisive| decisive.weight as f64));
    Table::new(
        &format!("{} and {}{suffix}", explanation.node.as_deref().unwrap_or("no node"), comparison.against),
        "Score plugins. Those that favour the chosen node most come first. The decisive weight is the weight nearest to \
         the current one with which the other node has the higher total.",
        if rejections.is_empty() { "The other node has no scores." } else { &rejections },
    )
    .with(Column::text("Plugin", Kind::Text, plugins().map(|plugin| plugin.plugin)))
    .with(Column::numbers("Weight", weight, plugins().map(|plugin| Some(plugin.weight as f64))))
    .with(Column::numbers("Difference", weight, plugins().map(|plugin| Some(plugin.difference as f64))))
    .with(Column::numbers("Decisive weight", weight, decisive))
    .with(Column::text("Best without it", Kind::Text, plugins().map(|plugin| first(&plugin.without))))
}

/// Returns the first name and the number of others.
fn first(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [name, others @ ..] => format!("{name} and {} more", others.len()),
    }
}

fn remedy_table(remedies: &Remedies, suffix: &str) -> Table {
    let found = || remedies.found.iter();
    let texts =
        found().map(|remedy| remedy.changes.iter().map(|change| change.text.as_str()).collect::<Vec<_>>().join("; "));
    let disturbance = found().map(|remedy| Some(f64::from(remedy.disturbance)));
    Table::new(
        &format!("Remedies{suffix}"),
        "Changes with which the scheduler places the pod. Those that disturb least come first.",
        "No remedy was found.",
    )
    .with(Column::text("Remedy", Kind::Text, texts))
    .with(Column::text("Node then", Kind::Node, found().map(|remedy| remedy.node.as_str())))
    .with(Column::numbers("Disturbance", Kind::Number(Unit::Count), disturbance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation(feasible: usize, rejected: usize) -> Explanation {
        let node = |at: usize, feasible: bool| NodeReport {
            node: format!("node-{at}"),
            feasible,
            rejections: (!feasible)
                .then(|| crate::explanation::Rejection {
                    plugin: "Custom",
                    code: "Unschedulable".to_owned(),
                    reasons: vec![format!("reason {at}")],
                })
                .into_iter()
                .collect(),
            shortage: None,
            details: Vec::new(),
            scores: Vec::new(),
            total: None,
        };
        let nodes = (0..feasible).map(|at| node(at, true)).chain((0..rejected).map(|at| node(at, false)));
        Explanation { pod: "shop/web".to_owned(), profile: "default", nodes: nodes.collect(), ..Explanation::default() }
    }

    #[test]
    fn tables_and_bars_of_large_clusters_are_limited() {
        let explained = explanation(MAX_ROWS + 1, MAX_ROWS + 2);
        let page = page(&[explained], String::new());
        assert_eq!(
            page.notes,
            [
                "The table `Scores` has the first 20,000 of 20,001 nodes.",
                "The table `Rejected nodes` has the first 20,000 of 20,002 nodes.",
            ]
        );
        let bars = rejections(&explanation(0, 70), "");
        assert_eq!(bars.bars.len(), 50);
        assert!(bars.description.ends_with("The first 50 of 70 are shown."), "{}", bars.description);
        assert!(super::page(&[explanation(3, 2)], String::new()).notes.is_empty());
    }
}
