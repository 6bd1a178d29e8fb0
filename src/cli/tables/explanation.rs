//! What becomes of one pod.

use std::fmt::Write;

use indicatif::HumanCount;

use super::count;
use crate::budgets::{Kept, Violated};
use crate::cli::output::{Columns, heading, wrapped};
use crate::explanation::{After, Explanation, NodeReport, Rejection};

/// Feasible nodes with their scores, the best first; the others with their reasons; and the outcome at the end.
pub(crate) fn table(explanation: &Explanation) -> String {
    let parts = [scores(explanation), rejections(explanation), Some(outcome(explanation))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn scores(explanation: &Explanation) -> Option<String> {
    let mut feasible: Vec<&NodeReport> = explanation.nodes.iter().filter(|node| node.feasible).collect();
    let first = *feasible.first()?;
    let weights: Vec<String> =
        first.scores.iter().map(|score| format!(">{} x{}", score.plugin, score.weight)).collect();
    let names = ["NODE", ">TOTAL"].into_iter().chain(weights.iter().map(String::as_str));
    let mut columns = Columns::new(names);
    feasible.sort_by_key(|node| std::cmp::Reverse(node.total));
    for node in feasible {
        let total = node.total.map_or_else(|| "-".to_owned(), |total| total.to_string());
        let mut row = vec![node.node.clone(), total];
        for score in &node.scores {
            row.push(format!("{} > {} > {}", score.raw, score.normalized, score.weighted));
        }
        columns.row(row);
    }
    let title = heading("Feasible nodes");
    let legend = if first.scores.is_empty() { "" } else { " (scores: raw > normalised > weighted)" };
    Some(format!("{title}{legend}\n{}", columns.text()))
}

fn rejections(explanation: &Explanation) -> Option<String> {
    if explanation.nodes.iter().all(|node| node.feasible) {
        return None;
    }
    let mut columns = Columns::new(["NODE", "PLUGIN", "REASON"]);
    for node in &explanation.nodes {
        for (at, rejection) in node.rejections.iter().enumerate() {
            let name = if at == 0 { node.node.as_str() } else { "" };
            let plugin = if rejection.plugin.is_empty() { "(PreFilter)" } else { rejection.plugin };
            columns.row(vec![name, plugin, &rejection.reasons.join(", ")]);
        }
    }
    Some(heading("Rejected nodes") + "\n" + &columns.text())
}

fn outcome(explanation: &Explanation) -> String {
    let Explanation { pod, profile, .. } = explanation;
    let mut text = match &explanation.node {
        Some(node) => heading(format_args!("{pod} goes to {node}")),
        None => heading(format_args!("{pod} goes nowhere")),
    };
    // Writing to a string cannot fail.
    let _ = write!(text, ", says profile {profile}");
    let mut by_plugin = |rejection: &Option<Rejection>, what: &str| {
        if let Some(rejection) = rejection {
            let _ = write!(text, "; {} {what}", rejection.plugin);
        }
    };
    by_plugin(&explanation.held_by, "holds it back before the queue");
    by_plugin(&explanation.pre_filter, "rejects it before it looks at single nodes");
    text.push('\n');
    text += &explanation.after.as_ref().map(before).unwrap_or_default();
    if let Some(message) = &explanation.message {
        let _ = writeln!(text, "  {message}");
    }
    if let Some(preemption) = &explanation.preemption {
        let victims = count(preemption.victims.len(), "pod");
        let _ = writeln!(text, "  room can be made on {} by removing {victims}:", preemption.node);
        text += &wrapped(preemption.victims.iter().map(String::as_str), 4);
        for Violated { budget, allowed, pods } in &preemption.violated_budgets {
            let going = count(pods.len(), "pod");
            let _ = writeln!(text, "  this violates the disruption budget {budget}: {going} would go, {allowed} may");
        }
        for Kept { pod, node, budget } in &preemption.kept_by_budgets {
            let _ = writeln!(text, "  the disruption budget {budget} keeps {pod} on {node}");
        }
    }
    let feasible = explanation.nodes.iter().filter(|node| node.feasible).count();
    let all = count(explanation.nodes.len(), "node");
    match &explanation.best[..] {
        _ if explanation.node.is_none() => {}
        _ if explanation.by_nomination => text += "  room was made for it there (status.nominatedNodeName)\n",
        _ if feasible == 1 => {
            let _ = writeln!(text, "  the only feasible one of {all}");
        }
        [_] => {
            let _ = writeln!(text, "  the highest total of {feasible} feasible ones of {all}");
        }
        best => {
            let ties = best.len();
            let _ = writeln!(text, "  one of {ties} with the highest total, among which is drawn:");
            text += &wrapped(best.iter().map(String::as_str), 4);
        }
    }
    let skipped = [
        ("nothing to filter by for this pod", &explanation.skipped_filters),
        ("nothing to score by for this pod", &explanation.skipped_scores),
    ];
    for (title, plugins) in skipped.into_iter().filter(|(_, plugins)| !plugins.is_empty()) {
        let _ = write!(text, "  {title}:\n{}", wrapped(plugins.iter().copied(), 4));
    }
    text
}

/// What happened before the attempt that is explained.
fn before(after: &After) -> String {
    let After { placed, unschedulable, attempt, preempted, preempted_by } = after;
    let pods_were = if *placed == 1 { "pod was" } else { "pods were" };
    let mut text = format!("  after {} other pending {pods_were} placed", HumanCount(*placed as u64));
    if *unschedulable > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", and {unschedulable} found unschedulable");
    }
    if *attempt > 1 {
        let _ = write!(text, "; attempt {attempt} of this pod");
    }
    text.push('\n');
    if !preempted.is_empty() {
        text += "  earlier attempts preempted:\n";
        text += &wrapped(preempted.iter().map(String::as_str), 4);
    }
    if let Some(by) = preempted_by {
        let _ = writeln!(text, "  {by} preempts it later");
    }
    text
}
