//! What became of the pods of a cluster.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use indicatif::{BinaryBytes, HumanCount};
use schedc::cluster::Skipped;
use schedc::simulation::{Placement, Preempted, Report, Summary, Unschedulable};
use schedc::utilisation::{Unit, Utilisation};

use super::{count, more};
use crate::cli::output::{Columns, heading, wrapped};

/// More placements than these fill a screen, and only the first are printed.
pub(super) const SCREENFUL: usize = 40;

/// Placements, the pods that have none with their reasons, utilisation, and a summary at the end, where it is seen.
pub(crate) fn table(report: &Report, all: bool) -> String {
    let parts = [
        placements(&report.placements, all),
        unschedulable(&report.unschedulable),
        preempted(&report.preempted),
        utilisation(&report.utilisation),
        summary(&report.summary),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn placements(placements: &[Placement], all: bool) -> Option<String> {
    let shown = if all || placements.len() <= SCREENFUL { placements.len() } else { SCREENFUL / 2 };
    if placements.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE"]);
    for placement in &placements[..shown] {
        columns.row(vec![&placement.pod, &placement.node]);
    }
    Some(heading("Placed") + "\n" + &columns.text() + &more(placements.len() - shown))
}

fn unschedulable(pods: &[Unschedulable]) -> Option<String> {
    let pods = pods.iter().map(|pod| (pod.message.as_str(), pod.pod.as_str()));
    by_message(pods).map(|text| heading("Unschedulable") + "\n" + &text)
}

/// Pods of one message together, in the order of the first pod of each. Each comes with its message.
pub(super) fn by_message<'a>(pods: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut by_message = HashMap::new();
    for (message, pod) in pods {
        let at = *by_message.entry(message).or_insert(groups.len());
        if at == groups.len() {
            groups.push((message, Vec::new()));
        }
        groups[at].1.push(pod);
    }
    if groups.is_empty() {
        return None;
    }
    let mut text = String::new();
    for (message, pods) in groups {
        let pods_of_message = if pods.len() > 1 { format!("{}: ", count(pods.len(), "pod")) } else { String::new() };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {pods_of_message}{message}");
        text += &wrapped(pods, 4);
    }
    Some(text)
}

fn preempted(pods: &[Preempted]) -> Option<String> {
    if pods.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE", "BY"]);
    for Preempted { pod, node, by } in pods {
        columns.row(vec![pod, node, by]);
    }
    Some(heading("Preempted") + "\n" + &columns.text())
}

pub(super) fn utilisation(rows: &[Utilisation]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let names = ["RESOURCE", ">REQUESTED", ">ALLOCATABLE", ">SHARE", ">LOWEST NODE", ">MEDIAN", ">HIGHEST"];
    let mut columns = Columns::new(names);
    for row in rows {
        let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1} %"));
        columns.row(vec![
            row.resource.clone(),
            amount(row.requested, row.unit),
            amount(row.allocatable, row.unit),
            percent(row.percent),
            percent(row.per_node.map(|spread| spread.min)),
            percent(row.per_node.map(|spread| spread.median)),
            percent(row.per_node.map(|spread| spread.max)),
        ]);
    }
    Some(heading("Utilisation") + "\n" + &columns.text())
}

fn amount(amount: i64, unit: Unit) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let size = amount.unsigned_abs();
    match unit {
        Unit::Millicores => {
            let (cores, rest) = (HumanCount(size / 1000), size % 1000);
            let text = format!("{sign}{cores}.{rest:03}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Unit::Bytes => format!("{sign}{}", BinaryBytes(size)),
        Unit::Count => format!("{sign}{}", HumanCount(size)),
    }
}

fn summary(summary: &Summary) -> Option<String> {
    let number = |n: usize| HumanCount(n as u64);
    let preempted = match summary.preempted {
        0 => String::new(),
        n => format!("{} preempted, ", number(n)),
    };
    let mut text = heading(format_args!(
        "{}: {} placed, {} unschedulable, {preempted}{} skipped",
        count(summary.pods, "pod"),
        number(summary.placed),
        number(summary.unschedulable),
        number(summary.skipped)
    ));
    text += &skipped(&summary.skipped_by);
    text += &amounts_of_objects(summary.nodes, &summary.objects, &summary.other_kinds);
    let _ = write!(text, "{:.2} s to read, {:.2} s to schedule", summary.read_seconds, summary.schedule_seconds);
    let decided = summary.placed + summary.unschedulable;
    if decided > 0 {
        let _ = write!(text, ", {:.0} µs a pod", summary.schedule_seconds * 1e6 / decided as f64);
    }
    text.push('\n');
    Some(text)
}

/// Why pods were skipped: the rest of the line.
pub(super) fn skipped(skipped: &Skipped) -> String {
    let mut text = String::new();
    let mut why = Vec::new();
    let mut say = |n: usize, what: &str| {
        if n > 0 {
            why.push(format!("{} {what}", HumanCount(n as u64)));
        }
    };
    say(skipped.bound, "bound already");
    say(skipped.finished, "finished");
    say(skipped.deleting, "being deleted");
    for (scheduler, n) in &skipped.other_schedulers {
        say(*n, &format!("of scheduler {scheduler}"));
    }
    if !why.is_empty() {
        let _ = write!(text, " ({})", why.join(", "));
    }
    text.push('\n');
    if skipped.bound_to_unknown_nodes > 0 {
        let (n, are) = (skipped.bound_to_unknown_nodes, if skipped.bound_to_unknown_nodes == 1 { "is" } else { "are" });
        let _ = writeln!(text, "{} {are} bound to nodes that are not in the input", count(n, "pod"));
    }
    text
}

/// What there is besides pods, in a line.
pub(super) fn amounts_of_objects(
    nodes: usize,
    objects: &BTreeMap<&str, usize>,
    other_kinds: &BTreeMap<String, usize>,
) -> String {
    let number = |n: usize| HumanCount(n as u64);
    let mut text = count(nodes, "node");
    for (kind, n) in objects {
        let _ = write!(text, ", {} {kind}", number(*n));
    }
    let others: Vec<String> = other_kinds.iter().map(|(kind, n)| format!("{} {kind}", number(*n))).collect();
    if !others.is_empty() {
        let _ = write!(text, "; not looked at: {}", others.join(", "));
    }
    text.push('\n');
    text
}
