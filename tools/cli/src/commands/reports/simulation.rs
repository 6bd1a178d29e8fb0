//! The report of `schedc simulate`.

use std::collections::{BTreeMap, HashSet};

use indicatif::HumanCount;
use schedc_report::{Bar, Bars, Column, Kind, Report as Page, Table, Unit};

use super::charts::{Charts, MAX_ROWS};
use crate::simulation::{Ended, Report};
use crate::simulation_history::SimulationHistory;
use crate::timeline::Span;

/// Returns the page of a simulation. `subtitle` names the input and the profiles.
pub(crate) fn page(report: &Report, history: &SimulationHistory, subtitle: String) -> Page {
    let charts = Charts::new(history, &report.summary);
    let mut page = Page::new("Simulation", subtitle);
    facts(&mut page, report);
    page.notes = notes(report);
    page.notes.extend(charts.notes());
    let pods = pods(report, history);
    if pods.len() > MAX_ROWS {
        page.notes.push(format!(
            "The table of pods has {} of {} rows: pending and preempted pods come first.",
            HumanCount(MAX_ROWS as u64),
            HumanCount(pods.len() as u64)
        ));
    }
    page.view(charts.pods());
    page.view(charts.utilisation(""));
    page.view(charts.heat_map(""));
    page.view(reasons(report, history));
    page.view(table(&pods[..pods.len().min(MAX_ROWS)], history));
    page.view(charts.node_table());
    page
}

/// Adds the most important numbers.
pub(super) fn facts(page: &mut Page, report: &Report) {
    let summary = &report.summary;
    let count = |number: usize| HumanCount(number as u64).to_string();
    page.fact("Placed", count(summary.placed));
    page.fact("Pending", count(summary.unschedulable));
    page.fact("Preempted", count(summary.preempted));
    if summary.deleted_unplaced > 0 {
        page.fact("Deleted before placement", count(summary.deleted_unplaced));
    }
    page.fact("Nodes", count(summary.nodes));
    page.fact("Attempts", count(summary.attempts));
    for resource in &report.utilisation {
        if let (Some(percent), "cpu" | "memory") = (resource.percent, resource.resource.as_str()) {
            page.fact(&format!("Requested {}", resource.resource), format!("{percent:.1} %"));
        }
    }
    if let Some(waits) = report.waits.filter(|_| summary.end > 0.0) {
        page.fact("Wait p50", time(waits.p50));
        page.fact("Wait p99", time(waits.p99));
        page.fact("Virtual time", time(summary.end));
    }
}

fn time(seconds: f64) -> String {
    Span((seconds * 1e9).round() as i64).to_string()
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![
        "Time is virtual. Bindings and deletions take no time; only backoff, waiting plugins and volumes that are being \
         provisioned do."
            .to_owned(),
        "Preempted pods are not created again, because the simulation has no workload controllers.".to_owned(),
        "Utilisation is the sum of requests, not of measured use.".to_owned(),
    ];
    if report.summary.skipped_by.bound > 0 {
        notes.push(format!("{} pods had a node before the simulation.", report.summary.skipped_by.bound));
    }
    match report.summary.ended {
        Ended::NothingHappens => {}
        Ended::NothingHelps => notes.push("The simulation ended because repeated attempts changed nothing.".to_owned()),
        Ended::TimeIsOver => notes.push("The simulation ended at its time limit.".to_owned()),
    }
    notes
}

/// A row of the table of pods.
struct PodRow<'a> {
    pod: &'a str,
    node: &'a str,
    state: &'static str,
    created: Option<f64>,
    bound: Option<f64>,
    waited: Option<f64>,
    attempts: Option<u32>,
    reason: String,
}

impl<'a> PodRow<'a> {
    fn new(pod: &'a str, node: &'a str, state: &'static str) -> Self {
        PodRow { pod, node, state, created: None, bound: None, waited: None, attempts: None, reason: String::new() }
    }
}

/// Returns the rows of all pods. Pending and preempted pods, and those that were deleted before placement, come first.
fn pods<'a>(report: &'a Report, history: &'a SimulationHistory) -> Vec<PodRow<'a>> {
    let waiting = |pod: &'a crate::simulation::Unschedulable, state| PodRow {
        created: Some(pod.created),
        attempts: Some(pod.attempts),
        reason: pod.message.clone(),
        ..PodRow::new(&pod.pod, pod.nominated_node.as_deref().unwrap_or_default(), state)
    };
    let preempted = report.preempted.iter().map(|pod| PodRow {
        reason: format!("preempted by {}", pod.by),
        ..PodRow::new(&pod.pod, &pod.node, "preempted")
    });
    let placed = report.placements.iter().map(|pod| PodRow {
        created: Some(pod.created),
        bound: Some(pod.at),
        waited: Some(pod.waited),
        attempts: Some(pod.attempts),
        ..PodRow::new(&pod.pod, &pod.node, if pod.deleted.is_some() { "placed, then deleted" } else { "placed" })
    });
    let preempted_names: HashSet<&str> = report.preempted.iter().map(|pod| pod.pod.as_str()).collect();
    let before = history.bound_before.iter().filter(|(pod, _)| !preempted_names.contains(pod.as_str()));
    let before = before.map(|(pod, node)| PodRow::new(pod, node, "bound before"));
    let pending = report
        .unschedulable
        .iter()
        .map(|pod| waiting(pod, if pod.nominated_node.is_some() { "pending, nominated" } else { "pending" }));
    let deleted = report.deleted_unplaced.iter().map(|pod| waiting(pod, "deleted before placement"));
    pending.chain(preempted).chain(deleted).chain(placed).chain(before).collect()
}

fn table(pods: &[PodRow<'_>], history: &SimulationHistory) -> Table {
    let has_times = pods.iter().any(|pod| [pod.created, pod.bound].into_iter().flatten().any(|at| at > 0.0));
    let seconds = Kind::Number(Unit::Seconds);
    let attempts = pods.iter().map(|pod| pod.attempts.map(f64::from));
    let mut table = Table::new(
        "Pods",
        "Where each pod went, and why. The details of a row have the scores of the node and of the best other node.",
        "There are no pods.",
    )
    .with(Column::text("Pod", Kind::Pod, pods.iter().map(|pod| pod.pod)))
    .with(Column::text("Node", Kind::Node, pods.iter().map(|pod| pod.node)))
    .with(Column::text("State", Kind::Text, pods.iter().map(|pod| pod.state)))
    .with(Column::numbers("Attempts", Kind::Number(Unit::Count), attempts));
    if has_times {
        table = table
            .with(Column::numbers("Created", seconds, pods.iter().map(|pod| pod.created)))
            .with(Column::numbers("Bound", seconds, pods.iter().map(|pod| pod.bound)))
            .with(Column::numbers("Waited", seconds, pods.iter().map(|pod| pod.waited)));
    }
    table = table.with(Column::text("Reason", Kind::Text, pods.iter().map(|pod| pod.reason.as_str())).hidden());
    table.decisions = pods.iter().map(|pod| history.decisions.of(pod.pod).cloned()).collect();
    table
}

/// Returns the numbers of pending pods by reason.
fn reasons(report: &Report, history: &SimulationHistory) -> Bars {
    let mut pods: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in &report.unschedulable {
        match history.reasons.get(&pod.pod).filter(|reasons| !reasons.is_empty()) {
            Some(reasons) => reasons.iter().for_each(|(reason, _)| *pods.entry(reason).or_default() += 1),
            None => *pods.entry(&pod.message).or_default() += 1,
        }
    }
    let mut pods: Vec<(&str, usize)> = pods.into_iter().collect();
    pods.sort_by_key(|(reason, pods)| (std::cmp::Reverse(*pods), *reason));
    let bars = pods.into_iter().map(|(reason, pods)| Bar {
        label: reason.to_owned(),
        values: vec![pods as f64],
        query: Some(reason.to_owned()),
    });
    Bars {
        title: "Reasons of pending pods".to_owned(),
        description: "Pending pods whose last attempt rejected at least one node for this reason.".to_owned(),
        label: "Reason".to_owned(),
        unit: Unit::Count,
        series: vec!["pods".to_owned()],
        bars: bars.collect(),
        empty: "No pod is pending.".to_owned(),
    }
    .shortened()
}
