//! What became of a cluster over time.

use std::fmt::Write;

use indicatif::HumanCount;
use schedc::replay::{Interval, Line, Placement, Preempted, Report, Summary, Unschedulable, Waits, What};
use schedc::timeline::Span;

use super::simulation::{SCREENFUL, amounts_of_objects, by_message, skipped, utilisation};
use super::{count, more};
use crate::cli::output::{Columns, heading};

/// Placements, the pods that have none with their reasons, what happened when, utilisation, and a summary at the end,
/// where it is seen.
pub(crate) fn table(report: &Report, all: bool) -> String {
    let parts = [
        log(&report.log),
        placements(&report.placements, all),
        without_node("Unschedulable", &report.unschedulable),
        without_node("Deleted before they were placed", &report.deleted_unplaced),
        preempted(&report.preempted, all),
        over_time(&report.over_time),
        utilisation(&report.utilisation),
        Some(summary(&report.summary, report.waits.as_ref())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A time in seconds, as durations are written.
fn time(seconds: f64) -> String {
    // Less than a microsecond is what floating-point numbers are not exact about.
    Span((seconds * 1e6).round() as i64 * 1000).to_string()
}

fn log(lines: &[Line]) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["AT", "OBJECT", "WHAT"]);
    for Line { at, object, what, message } in lines {
        let what = match what {
            What::Created => "created",
            What::Changed => "changed",
            What::Deleted => "deleted",
            What::Preempted => "preempted",
            What::Held => "held back:",
            What::Unschedulable => "unschedulable:",
            What::Failed => "failed:",
            What::Woken => "woken",
            What::Bound => "bound",
        };
        columns.row(vec![time(*at), object.clone(), format!("{what} {message}").trim_end().to_owned()]);
    }
    Some(heading("Log") + "\n" + &columns.text())
}

fn placements(placements: &[Placement], all: bool) -> Option<String> {
    let shown = if all || placements.len() <= SCREENFUL { placements.len() } else { SCREENFUL / 2 };
    if placements.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE", "AT", "WAITED", "ATTEMPTS", "DELETED"]);
    for placement in &placements[..shown] {
        let Placement { pod, node, at, waited, attempts, deleted, .. } = placement;
        let deleted = deleted.map(time).unwrap_or_default();
        columns.row(vec![pod.clone(), node.clone(), time(*at), time(*waited), attempts.to_string(), deleted]);
    }
    Some(heading("Placed") + "\n" + &columns.text() + &more(placements.len() - shown))
}

fn without_node(title: &str, pods: &[Unschedulable]) -> Option<String> {
    let pods = pods.iter().map(|pod| (pod.message.as_str(), pod.pod.as_str()));
    by_message(pods).map(|text| heading(title) + "\n" + &text)
}

fn preempted(pods: &[Preempted], all: bool) -> Option<String> {
    let shown = if all || pods.len() <= SCREENFUL { pods.len() } else { SCREENFUL / 2 };
    if pods.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE", "BY", "AT"]);
    for Preempted { pod, node, by, at } in &pods[..shown] {
        columns.row(vec![pod.clone(), node.clone(), by.clone(), time(*at)]);
    }
    Some(heading("Preempted") + "\n" + &columns.text() + &more(pods.len() - shown))
}

fn over_time(parts: &[Interval]) -> Option<String> {
    if parts.is_empty() {
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

fn summary(summary: &Summary, waits: Option<&Waits>) -> String {
    let number = |n: usize| HumanCount(n as u64);
    let optional = |n: usize, what: &str| if n > 0 { format!("{} {what}, ", number(n)) } else { String::new() };
    let mut text = heading(format_args!(
        "{}: {} placed, {} unschedulable, {}{}{} skipped",
        count(summary.pods, "pod"),
        number(summary.placed),
        number(summary.unschedulable),
        optional(summary.deleted_unplaced, "deleted before"),
        optional(summary.preempted, "preempted"),
        number(summary.skipped)
    ));
    text += &skipped(&summary.skipped_by);
    if let Some(Waits { p50, p99, max }) = waits {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "waits for a node: p50 {}, p99 {}, max {}", time(*p50), time(*p99), time(*max));
    }
    let _ = write!(text, "{} in {}", count(summary.events, "event"), time(summary.end));
    if let Some(start) = &summary.start {
        let _ = write!(text, " from {start}");
    }
    if summary.events_without_object > 0 {
        let _ = write!(text, ", {} of objects that were gone already", number(summary.events_without_object));
    }
    if summary.events_not_reached > 0 {
        let _ = write!(text, ", {} later", number(summary.events_not_reached));
    }
    let _ = writeln!(text, "; {}, {} of them again", count(summary.attempts, "attempt"), number(summary.retries));
    text += &amounts_of_objects(summary.nodes, &summary.objects, &summary.other_kinds);
    let _ = write!(text, "{:.2} s to read, {:.2} s to simulate", summary.read_seconds, summary.schedule_seconds);
    if summary.attempts > 0 {
        let _ = write!(text, ", {:.0} µs an attempt", summary.schedule_seconds * 1e6 / summary.attempts as f64);
    }
    text.push('\n');
    text
}
