//! Tables of the results of a simulation.

use std::collections::HashMap;
use std::fmt::Write;

use indicatif::HumanCount;

use super::utilisation::utilisation;
use super::{count, more};
use crate::budgets::ProtectedPod;
use crate::cluster::Skipped;
use crate::commands::output::{Columns, heading, wrapped};
use crate::simulation::{
    Interval, KeptByBudget, Line, LogEvent, Placement, Preempted, Report, Summary, Unschedulable, Waits,
};
use crate::timeline::Span;

/// Maximum number of rows of a list that is printed in full, about a screen. Of a longer list, the first 20 rows are
/// printed, half of this number, unless all rows are requested.
const SCREENFUL: usize = 40;

/// Options for the tables.
#[derive(Clone, Copy)]
pub(crate) struct View {
    /// Whether to show every placement, however many there are.
    pub(crate) all: bool,
    /// Whether to show times.
    pub(crate) times: bool,
}

/// Returns the log, the placements, the reasons of the pods that got no node, and utilisation. The summary is at the
/// end, where users see it.
pub(crate) fn table(report: &Report, view: View) -> String {
    let parts = [
        log(&report.log),
        placements(&report.placements, view),
        without_node("Unschedulable", &report.unschedulable),
        without_node("Deleted before they were placed", &report.deleted_unplaced),
        preempted(&report.preempted, view),
        kept_by_budgets(&report.kept_by_budgets, view),
        over_time(&report.over_time, view),
        utilisation(&report.utilisation),
        Some(summary(report, view)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Formats a time in seconds as a duration.
fn time(seconds: f64) -> String {
    // Rounds to microseconds: floating-point numbers are not exact below.
    Span((seconds * 1e6).round() as i64 * 1000).to_string()
}

fn log(lines: &[Line]) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["AT", "OBJECT", "WHAT"]);
    for Line { at, object, what, message } in lines {
        let what = match what {
            LogEvent::Created => "created",
            LogEvent::Changed => "changed",
            LogEvent::Deleted => "deleted",
            LogEvent::Preempted => "preempted",
            LogEvent::Held => "held:",
            LogEvent::Unschedulable => "unschedulable:",
            LogEvent::Failed => "failed:",
            LogEvent::Woken => "woken",
            LogEvent::Bound => "bound",
        };
        columns.row(vec![time(*at), object.clone(), format!("{what} {message}").trim_end().to_owned()]);
    }
    Some(heading("Log") + "\n" + &columns.text())
}

/// Returns the number of rows to print.
fn shown(rows: usize, view: View) -> usize {
    if view.all || rows <= SCREENFUL { rows } else { SCREENFUL / 2 }
}

fn placements(placements: &[Placement], view: View) -> Option<String> {
    if placements.is_empty() {
        return None;
    }
    let names = ["POD", "NODE", "AT", "WAITED", "ATTEMPTS", "DELETED"];
    let mut columns = Columns::new(names.into_iter().take(if view.times { 6 } else { 2 }));
    let shown = shown(placements.len(), view);
    for Placement { pod, node, at, waited, attempts, deleted, .. } in &placements[..shown] {
        let mut row = vec![pod.clone(), node.clone()];
        if view.times {
            row.extend([time(*at), time(*waited), attempts.to_string(), deleted.map(time).unwrap_or_default()]);
        }
        columns.row(row);
    }
    Some(heading("Placed") + "\n" + &columns.text() + &more(placements.len() - shown))
}

fn without_node(title: &str, pods: &[Unschedulable]) -> Option<String> {
    let pods = pods.iter().map(|pod| (pod.message.as_str(), pod.pod.as_str()));
    by_message(pods).map(|text| heading(title) + "\n" + &text)
}

/// Groups pods by message, in the order of the first pod of each group. `pods` yields the message and the name of each
/// pod.
fn by_message<'a>(pods: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
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

fn preempted(pods: &[Preempted], view: View) -> Option<String> {
    if pods.is_empty() {
        return None;
    }
    let violates = pods.iter().any(|pod| !pod.violates.is_empty());
    let names = ["POD", "NODE", "BY"].into_iter().chain(view.times.then_some("AT"));
    let mut columns = Columns::new(names.chain(violates.then_some("VIOLATED BUDGETS")));
    let shown = shown(pods.len(), view);
    for Preempted { pod, node, by, violates: budgets, at } in &pods[..shown] {
        let mut row = vec![pod.clone(), node.clone(), by.clone()];
        row.extend(view.times.then(|| time(*at)));
        row.extend(violates.then(|| budgets.join(", ")));
        columns.row(row);
    }
    Some(heading("Preempted") + "\n" + &columns.text() + &more(pods.len() - shown))
}

fn kept_by_budgets(pods: &[KeptByBudget], view: View) -> Option<String> {
    if pods.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE", "BUDGET", "FROM"]);
    let shown = shown(pods.len(), view);
    for KeptByBudget { kept: ProtectedPod { pod, node, budget }, from } in &pods[..shown] {
        columns.row(vec![pod, node, budget, from]);
    }
    Some(
        heading("Protected from preemption by disruption budgets") + "\n" + &columns.text() + &more(pods.len() - shown),
    )
}

fn over_time(parts: &[Interval], view: View) -> Option<String> {
    if parts.is_empty() || !view.times {
        return None;
    }
    let names = ["FROM", "TO", ">CREATED", ">PLACED", ">DELETED", ">PREEMPTED", ">PENDING AT END", ">RUNNING AT END"];
    let mut columns = Columns::new(names);
    for part in parts {
        let numbers = [part.created, part.placed, part.deleted, part.preempted, part.pending, part.running];
        let numbers = numbers.into_iter().map(|n| HumanCount(n as u64).to_string());
        columns.row([time(part.from), time(part.to)].into_iter().chain(numbers).collect::<Vec<_>>());
    }
    Some(heading("Over time") + "\n" + &columns.text())
}

fn summary(report: &Report, view: View) -> String {
    let summary = &report.summary;
    let number = |n: usize| HumanCount(n as u64);
    let optional = |n: usize, what: &str| if n > 0 { format!("{} {what}, ", number(n)) } else { String::new() };
    let mut text = heading(format_args!(
        "{}: {} placed, {} unschedulable, {}{}{} skipped",
        count(summary.pods, "pod"),
        number(summary.placed),
        number(summary.unschedulable),
        optional(summary.deleted_unplaced, "deleted before placement"),
        optional(summary.preempted, "preempted"),
        number(summary.skipped)
    ));
    text += &skipped(&summary.skipped_by);
    if view.times {
        text += &times(summary, report.waits.as_ref());
    }
    text += &objects(summary);
    // Writing to a string cannot fail.
    let _ = write!(text, "{:.2} s to read, {:.2} s to schedule", summary.read_seconds, summary.schedule_seconds);
    let pods = summary.placed + summary.unschedulable;
    let (n, each) = if view.times { (summary.attempts, "an attempt") } else { (pods, "a pod") };
    if n > 0 {
        let _ = write!(text, ", {:.0} µs {each}", summary.schedule_seconds * 1e6 / n as f64);
    }
    text.push('\n');
    text
}

/// Returns the rest of the first line of the summary, the reasons why pods were skipped, and a line about pods on
/// unknown nodes.
fn skipped(skipped: &Skipped) -> String {
    let mut text = String::new();
    let mut why = Vec::new();
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            why.push(format!("{} {what}", HumanCount(n as u64)));
        }
    };
    add(skipped.bound, "bound already");
    add(skipped.finished, "finished");
    add(skipped.deleting, "being deleted");
    for (scheduler, n) in &skipped.other_schedulers {
        add(*n, &format!("of scheduler {scheduler}"));
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

/// Returns the lines about time.
fn times(summary: &Summary, waits: Option<&Waits>) -> String {
    let number = |n: usize| HumanCount(n as u64);
    let mut text = String::new();
    if let Some(Waits { p50, p99, max }) = waits {
        let _ = writeln!(text, "waits for a node: p50 {}, p99 {}, max {}", time(*p50), time(*p99), time(*max));
    }
    let _ = write!(text, "{} in {}", count(summary.events, "event"), time(summary.end));
    if let Some(start) = &summary.start {
        let _ = write!(text, " from {start}");
    }
    if summary.events_without_object > 0 {
        let _ = write!(text, ", {} of objects that did not exist any more", number(summary.events_without_object));
    }
    if summary.events_not_reached > 0 {
        let _ = write!(text, ", {} after the end", number(summary.events_not_reached));
    }
    let _ = writeln!(text, "; {}, {} of them retries", count(summary.attempts, "attempt"), number(summary.retries));
    text
}

/// Returns a line with the counts of other objects.
fn objects(summary: &Summary) -> String {
    let number = |n: usize| HumanCount(n as u64);
    let mut text = count(summary.nodes, "node");
    for (kind, n) in &summary.objects {
        let _ = write!(text, ", {} {kind}", number(*n));
    }
    let others: Vec<String> = summary.other_kinds.iter().map(|(kind, n)| format!("{} {kind}", number(*n))).collect();
    if !others.is_empty() {
        let _ = write!(text, "; ignored: {}", others.join(", "));
    }
    text.push('\n');
    text
}
