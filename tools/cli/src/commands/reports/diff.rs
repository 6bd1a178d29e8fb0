//! The report of `schedc diff`.

use indicatif::HumanCount;
use schedc_report::{Bar, Bars, Candidate, Column, Decision, Kind, Report as Page, Table, Unit};

use super::charts::{Charts, MAX_ROWS};
use crate::commands::diff::comparison::{Comparison, Entry, PlacementChange, PlacementChanges};
use crate::commands::tables::diff::cell;
use crate::simulation::Report;
use crate::simulation_history::SimulationHistory;

/// A simulation with one of the profiles.
pub(crate) struct SimulatedSide {
    pub(crate) report: Report,
    pub(crate) history: SimulationHistory,
}

/// Returns the page of a comparison, with the simulations if there is a cluster. `subtitle` names the input.
pub(crate) fn page(comparison: &Comparison, sides: Option<&[SimulatedSide; 2]>, subtitle: String) -> Page {
    let names = [comparison.a.name.as_str(), comparison.b.name.as_str()];
    let mut page = Page::new(format!("{} and {}", names[0], names[1]), subtitle);
    page.fact("Differences of the profiles", comparison.differences.len());
    if let Some(placements) = &comparison.placements {
        page.fact("Pods", HumanCount(placements.pods as u64));
        page.fact("On other nodes", HumanCount(placements.elsewhere.len() as u64));
        if placements.pods > 0 {
            let share = placements.elsewhere.len() as f64 * 100.0 / placements.pods as f64;
            page.fact("Share on other nodes", format!("{share:.1} %"));
        }
    }
    page.view(differences(&comparison.differences, names));
    let (Some(placements), Some(sides)) = (&comparison.placements, sides) else { return page };
    page.notes.push("Both profiles start from the same cluster and the same seed, and serve all pods.".to_owned());
    let charts = sides.each_ref().map(|side| Charts::new(&side.history, &side.report.summary));
    page.view(outcomes(sides, names));
    for (charts, name) in charts.iter().zip(names) {
        page.view(schedc_report::Lines { is_half: true, ..charts.utilisation(&format!(": {name}")) });
    }
    for (charts, name) in charts.iter().zip(names) {
        page.view(schedc_report::HeatMap { is_half: true, ..charts.heat_map(&format!(": {name}")) });
    }
    let rows = &placements.elsewhere[..placements.elsewhere.len().min(MAX_ROWS)];
    if rows.len() < placements.elsewhere.len() {
        page.notes.push(format!("The table of pods has {} of {} rows.", rows.len(), placements.elsewhere.len()));
    }
    page.notes.extend(charts.iter().flat_map(Charts::notes));
    page.notes.dedup();
    page.view(moved(rows, placements, sides, names));
    page
}

fn differences(entries: &[Entry], [a, b]: [&str; 2]) -> Table {
    let subject = |entry: &Entry| match (entry.plugin.as_ref().or(entry.extender.as_ref()), &entry.name) {
        (Some(owner), Some(name)) => format!("{owner} {name}"),
        (Some(name), None) | (None, Some(name)) => name.clone(),
        (None, None) => "order of plugins".to_owned(),
    };
    let value = |entry: &Entry, value| cell(entry.what, value);
    Table::new("Differences of the profiles", "", "The profiles are equivalent.")
        .with(Column::text("Extension point", Kind::Text, entries.iter().map(|entry| entry.point.unwrap_or_default())))
        .with(Column::text("Setting or plugin", Kind::Text, entries.iter().map(subject)))
        .with(Column::text(a, Kind::Text, entries.iter().map(|entry| value(entry, &entry.a))))
        .with(Column::text(b, Kind::Text, entries.iter().map(|entry| value(entry, &entry.b))))
        .with(Column::text("Effect on pods", Kind::Text, entries.iter().map(|entry| entry.effect.as_str())))
}

/// A count of a simulation.
type Count = fn(&Report) -> usize;

/// Returns the numbers of pods by outcome, side by side.
fn outcomes(sides: &[SimulatedSide; 2], names: [&str; 2]) -> Bars {
    let counts: [(&str, Count); 4] = [
        ("placed", |report| report.summary.placed),
        ("pending at the end", |report| report.summary.unschedulable),
        ("preempted", |report| report.summary.preempted),
        ("attempts", |report| report.summary.attempts),
    ];
    let used_nodes = |side: &SimulatedSide| {
        let nodes: std::collections::HashSet<&str> =
            side.report.placements.iter().map(|placement| placement.node.as_str()).collect();
        nodes.len() as f64
    };
    let bar = |label: &str, values: Vec<f64>| Bar { label: label.to_owned(), values, query: None };
    let mut bars: Vec<Bar> = counts
        .iter()
        .map(|(label, count)| bar(label, sides.iter().map(|side| count(&side.report) as f64).collect()))
        .collect();
    bars.push(bar("nodes that received pods", sides.iter().map(used_nodes).collect()));
    Bars {
        title: "Outcomes".to_owned(),
        description: "Numbers of pods, attempts and nodes with each profile.".to_owned(),
        label: "Outcome".to_owned(),
        unit: Unit::Count,
        series: names.map(str::to_owned).to_vec(),
        bars,
        empty: String::new(),
    }
}

fn moved(rows: &[PlacementChange], changes: &PlacementChanges, sides: &[SimulatedSide; 2], names: [&str; 2]) -> Table {
    let node = |side: fn(&PlacementChange) -> &Option<String>| {
        rows.iter().map(move |row| side(row).clone().unwrap_or_default())
    };
    let message = |side: fn(&PlacementChange) -> &Option<String>| {
        rows.iter().map(move |row| side(row).clone().unwrap_or_default())
    };
    let mut table = Table::new(
        "Pods on other nodes",
        &format!(
            "{} of {} pods. The details of a row have the scores of both nodes.",
            changes.elsewhere.len(),
            changes.pods
        ),
        "All pods are on the same nodes with both profiles.",
    )
    .with(Column::text("Pod", Kind::Pod, rows.iter().map(|row| row.pod.as_str())))
    .with(Column::text(names[0], Kind::Node, node(|row| &row.a.node)))
    .with(Column::text(names[1], Kind::Node, node(|row| &row.b.node)))
    .with(Column::text(&format!("Reason with {}", names[0]), Kind::Text, message(|row| &row.a.message)).hidden())
    .with(Column::text(&format!("Reason with {}", names[1]), Kind::Text, message(|row| &row.b.message)).hidden());
    table.decisions = rows.iter().map(|row| decision(row, sides, names)).collect();
    table
}

/// Returns the nodes that the profiles chose for a pod, each with the scores of its profile; `None` if neither has scores.
fn decision(row: &PlacementChange, sides: &[SimulatedSide; 2], names: [&str; 2]) -> Option<Decision> {
    let chosen = sides.iter().zip(names).filter_map(|(side, name)| {
        let candidate = side.history.decisions.of(&row.pod)?.candidates.first()?;
        Some(Candidate { role: format!("chosen by {name}"), ..candidate.clone() })
    });
    let candidates: Vec<Candidate> = chosen.collect();
    (!candidates.is_empty()).then_some(Decision { feasible: 0, best: 1, candidates })
}
