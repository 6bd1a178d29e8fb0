//! Tables that explain the decision for one pod.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use indicatif::HumanCount;

use super::{comparison, count, remedies};
use crate::budgets::{ProtectedPod, Violation};
use crate::commands::output::{Columns, heading, wrapped};
use crate::explanation::{EarlierCycles, Explanation, NodeReport, Rejection, Score};

/// Maximum number of nodes in a list of ties, unless every node is printed.
const MAX_TIES: usize = 10;

/// Nodes that a table shows.
#[derive(Clone, Debug)]
pub(crate) enum Nodes {
    /// The feasible nodes with the highest totals, up to this number, and the rejected nodes by reason.
    Top(usize),
    /// Every node in a separate row.
    All,
    /// Only these nodes.
    Named(Vec<String>),
}

impl Nodes {
    fn include(&self, node: &NodeReport) -> bool {
        match self {
            Nodes::Top(_) | Nodes::All => true,
            Nodes::Named(names) => names.contains(&node.node),
        }
    }
}

/// Returns the feasible nodes with their scores, the best first, then rejected nodes with their reasons, the outcome, the
/// remedies, and the comparison with another node.
pub(crate) fn table(explanation: &Explanation, view: &Nodes) -> String {
    let parts = [
        scores(explanation, view),
        rejections(explanation, view),
        Some(outcome(explanation, view)),
        explanation.remedies.as_ref().map(remedies::table),
        explanation.comparison.as_ref().map(|comparison| comparison::table(explanation, comparison)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Returns the tables of several pods, one after the other.
pub(crate) fn tables(explanations: &[Explanation], view: &Nodes) -> String {
    explanations.iter().map(|explanation| table(explanation, view)).collect::<Vec<_>>().join("\n\n")
}

fn scores(explanation: &Explanation, view: &Nodes) -> Option<String> {
    let feasible: Vec<&NodeReport> = explanation.nodes.iter().filter(|node| node.feasible).collect();
    let mut nodes: Vec<&NodeReport> = feasible.iter().copied().filter(|node| view.include(node)).collect();
    let first = *nodes.first()?;
    // Scores that are equal on all nodes explain no choice, and would make lines long.
    let is_shared = |at: &usize| feasible.iter().all(|node| node.scores.get(*at) == first.scores.get(*at));
    let (shared, different): (Vec<usize>, Vec<usize>) = (0..first.scores.len()).partition(is_shared);
    let name = |at: usize| format!("{} x{}", first.scores[at].plugin, first.scores[at].weight);
    let names: Vec<String> = different.iter().map(|&at| format!(">{}", name(at))).collect();
    let mut columns = Columns::new(["NODE", ">TOTAL"].into_iter().chain(names.iter().map(String::as_str)));
    // The chosen node comes before equally good ones.
    let is_other = |node: &NodeReport| Some(&node.node) != explanation.node.as_ref();
    nodes.sort_by_key(|node| (Reverse(node.total), is_other(node)));
    let shown = match view {
        Nodes::Top(k) => nodes.len().min(*k),
        Nodes::All | Nodes::Named(_) => nodes.len(),
    };
    for node in &nodes[..shown] {
        let total = node.total.map_or_else(|| "-".to_owned(), |total| total.to_string());
        let scores = different.iter().filter_map(|&at| node.scores.get(at)).map(steps);
        columns.row([node.node.clone(), total].into_iter().chain(scores).collect::<Vec<_>>());
    }
    let legend = if first.scores.is_empty() { "" } else { " (scores: raw > normalised > weighted)" };
    let mut text = format!("{}{legend}\n{}", heading("Feasible nodes"), columns.text());
    if shown < nodes.len() {
        let rest = HumanCount((nodes.len() - shown) as u64);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  ... and {rest} more; --nodes prints them all");
    }
    if !shared.is_empty() {
        text += if feasible.len() == 1 { "  scores:\n" } else { "  equal on all feasible nodes:\n" };
        let scores: Vec<String> =
            shared.into_iter().map(|at| format!("{} {}", name(at), steps(&first.scores[at]))).collect();
        text += &wrapped(scores.iter().map(String::as_str), 4);
    }
    Some(text)
}

/// Formats a score: raw, normalised and weighted.
fn steps(score: &Score) -> String {
    format!("{} > {} > {}", score.raw, score.normalized, score.weighted)
}

fn rejections(explanation: &Explanation, view: &Nodes) -> Option<String> {
    let rejected = explanation.nodes.iter().filter(|node| !node.feasible);
    let nodes: Vec<&NodeReport> = rejected.filter(|node| view.include(node)).collect();
    if nodes.is_empty() {
        return None;
    }
    let text = match view {
        Nodes::Top(_) => by_reason(&nodes) + details_hint(&nodes),
        Nodes::All | Nodes::Named(_) => by_node(&nodes),
    };
    Some(heading("Rejected nodes") + "\n" + &text)
}

fn details_hint(nodes: &[&NodeReport]) -> &'static str {
    let has_details = nodes.iter().any(|node| !node.details.is_empty());
    if has_details { "  --nodes shows the devices of each rejected node\n" } else { "" }
}

fn by_node(nodes: &[&NodeReport]) -> String {
    let mut columns = Columns::new(["NODE", "PLUGIN", "REASON"]);
    for node in nodes {
        for (at, rejection) in node.rejections.iter().enumerate() {
            let name = if at == 0 { node.node.as_str() } else { "" };
            columns.row(vec![name, plugin(rejection), &rejection.reasons.join(", ")]);
            if at == 0 {
                node.details.iter().for_each(|detail| columns.row(vec!["", "", &format!("  {detail}")]));
            }
        }
    }
    columns.text()
}

/// Groups nodes with the same rejections, the most frequent rejections first.
fn by_reason(nodes: &[&NodeReport]) -> String {
    let mut groups: Vec<(&[Rejection], Vec<&str>)> = Vec::new();
    let mut by_rejections = HashMap::new();
    for node in nodes {
        let at = *by_rejections.entry(&node.rejections).or_insert(groups.len());
        if at == groups.len() {
            groups.push((&node.rejections, Vec::new()));
        }
        groups[at].1.push(&node.node);
    }
    groups.sort_by_key(|(_, names)| Reverse(names.len()));
    let mut columns = Columns::new([">COUNT", "PLUGIN", "REASON", "NODES"]);
    for (rejections, names) in groups {
        for (at, rejection) in rejections.iter().enumerate() {
            let (number, names) = match at {
                0 => (HumanCount(names.len() as u64).to_string(), abridged(&names)),
                _ => (String::new(), String::new()),
            };
            columns.row(vec![number, plugin(rejection).to_owned(), rejection.reasons.join(", "), names]);
        }
    }
    columns.text()
}

fn plugin(rejection: &Rejection) -> &str {
    if rejection.plugin.is_empty() { "(PreFilter)" } else { rejection.plugin }
}

/// Returns the first names of a list that fit into a short line, and the number of the others.
fn abridged(names: &[&str]) -> String {
    const WIDTH: usize = 40;
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if at > 0 && text.chars().count() + name.chars().count() > WIDTH {
            let rest = HumanCount((names.len() - at) as u64);
            return format!("{text} + {rest} more");
        }
        text += if at > 0 { ", " } else { "" };
        text += name;
    }
    text
}

fn outcome(explanation: &Explanation, view: &Nodes) -> String {
    let Explanation { pod, profile, .. } = explanation;
    let mut text = match &explanation.node {
        Some(node) => heading(format_args!("{pod} goes to {node}")),
        None => heading(format_args!("{pod} is unschedulable")),
    };
    // Writing to a string cannot fail.
    let _ = write!(text, " (profile {profile})");
    let mut by_plugin = |rejection: &Option<Rejection>, what: &str| {
        if let Some(rejection) = rejection {
            let _ = write!(text, "; {} {what}", rejection.plugin);
        }
    };
    by_plugin(&explanation.held_by, "rejects it in PreEnqueue");
    by_plugin(&explanation.pre_filter, "rejects it in PreFilter");
    text.push('\n');
    text += &explanation.after.as_ref().map(before).unwrap_or_default();
    if let Some(message) = &explanation.message {
        let _ = writeln!(text, "  {message}");
    }
    if let Some(preemption) = &explanation.preemption {
        let victims = count(preemption.victims.len(), "pod");
        let _ = writeln!(text, "  preemption on {} would remove {victims}:", preemption.node);
        text += &wrapped(preemption.victims.iter().map(String::as_str), 4);
        for Violation { budget, allowed, pods } in &preemption.violated_budgets {
            let victims_of_budget = count(pods.len(), "pod");
            let _ = writeln!(
                text,
                "  this violates the disruption budget {budget}: {victims_of_budget} removed, {allowed} allowed"
            );
        }
        for ProtectedPod { pod, node, budget } in &preemption.kept_by_budgets {
            let _ = writeln!(text, "  the disruption budget {budget} protects {pod} on {node}");
        }
    }
    let feasible = explanation.nodes.iter().filter(|node| node.feasible).count();
    let all = count(explanation.nodes.len(), "node");
    match &explanation.best[..] {
        _ if explanation.node.is_none() => {}
        _ if explanation.by_nomination => text += "  the pod's nominated node (status.nominatedNodeName)\n",
        _ if feasible == 1 => {
            let _ = writeln!(text, "  the only feasible node of {all}");
        }
        [_] => {
            let _ = writeln!(text, "  the highest total; {feasible} of {all} are feasible");
        }
        best => {
            let ties = best.len();
            let shown = if matches!(view, Nodes::All) { ties } else { ties.min(MAX_TIES) };
            let _ = writeln!(text, "  chosen at random among {ties} nodes with the highest total:");
            let rest = (shown < ties).then(|| format!("and {} more", HumanCount((ties - shown) as u64)));
            text += &wrapped(best[..shown].iter().map(String::as_str).chain(rest.as_deref()), 4);
        }
    }
    let skipped = [
        ("filters without effect on this pod", &explanation.skipped_filters),
        ("scores without effect on this pod", &explanation.skipped_scores),
    ];
    for (title, plugins) in skipped.into_iter().filter(|(_, plugins)| !plugins.is_empty()) {
        let _ = write!(text, "  {title}:\n{}", wrapped(plugins.iter().copied(), 4));
    }
    text
}

/// Returns the lines about the simulation before the explained attempt.
fn before(after: &EarlierCycles) -> String {
    let EarlierCycles { placed, unschedulable, attempt, preempted, preempted_by } = after;
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
