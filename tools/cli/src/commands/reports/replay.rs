//! The report of `schedc replay`.

use indicatif::HumanCount;
use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::shadow::{Comparison, Finding, NodeScore, ProfileCounts};
use schedc_report::{Bar, Bars, Candidate, Column, Decision, Kind, PluginScore, Report as Page, Table, Unit};

use super::charts::MAX_ROWS;
use crate::commands::tables::replay::changes_are;
use crate::replay::{Difference, Order, Report};

/// Returns the page of a replay. `subtitle` names the recording.
pub(crate) fn page(report: &Report, profiles: &[ProfileInfo], subtitle: String) -> Page {
    let mut page = Page::new("Replay", subtitle);
    let sum = |count: fn(&ProfileCounts) -> u64| report.counts.iter().map(count).sum::<u64>();
    let agreed = sum(|counts| counts.same_best + counts.same_message);
    let compared = agreed + sum(|counts| counts.lower_score + counts.infeasible + counts.other_message + counts.fits);
    page.fact("Decisions compared", HumanCount(compared));
    if compared > 0 {
        page.fact("Agreement", format!("{:.2} %", agreed as f64 * 100.0 / compared as f64));
    }
    page.fact("Disagreements", HumanCount(report.disagreements.len() as u64));
    if !report.disagreements.is_empty() {
        page.fact("Explained by another order", HumanCount(report.explained));
        page.fact("Unexplained", HumanCount(report.unexplained));
    }
    page.fact("Ties", HumanCount(report.ties));
    page.fact("Not compared", sum(|counts| counts.not_judged));
    page.fact("Files", report.files);
    page.fact("Gaps", report.gaps);
    page.notes.push(
        "Each decision is compared in the recorded state before it. A disagreement has no consequences for later decisions."
            .to_owned(),
    );
    page.notes.push(
        "An explained disagreement would be an agreement if the decision came before or after the named changes. The \
         reason is that a scheduler receives changes later than they are recorded, and has its own decisions earlier."
            .to_owned(),
    );
    page.notes.push(
        "If several nodes have the highest total, each of them is an agreement. Such a decision is a tie.".to_owned(),
    );
    page.notes.extend(report.cut.iter().map(|place| format!("{place}: the recording ends without its regular end.")));
    for (name, decisions) in &report.other_schedulers {
        page.notes
            .push(format!("{decisions} decisions of {name} are not compared: no profile replaces this scheduler."));
    }
    page.view(agreement(report, profiles));
    let rows = &report.disagreements[..report.disagreements.len().min(MAX_ROWS)];
    if rows.len() < report.disagreements.len() {
        page.notes.push(format!("The table has the first {} disagreements.", rows.len()));
    }
    page.view(table(rows));
    page
}

/// A number of decisions of a profile.
type Count = fn(&ProfileCounts) -> u64;

/// Returns the numbers of decisions by result.
fn agreement(report: &Report, profiles: &[ProfileInfo]) -> Bars {
    let used: Vec<(&ProfileInfo, &ProfileCounts)> =
        profiles.iter().zip(&report.counts).filter(|(_, counts)| **counts != ProfileCounts::default()).collect();
    let results: [(&str, Option<&str>, Count); 7] = [
        ("bound to one of the best nodes", None, |counts| counts.same_best),
        ("bound to a node with a lower score", Some("lower score"), |counts| counts.lower_score),
        ("bound to an infeasible node", Some("infeasible"), |counts| counts.infeasible),
        ("unschedulable, same message", None, |counts| counts.same_message),
        ("unschedulable, other message", Some("other message"), |counts| counts.other_message),
        ("unschedulable there, fits here", Some("fits"), |counts| counts.fits),
        ("not compared", None, |counts| counts.not_judged),
    ];
    let bars = results.iter().map(|(label, query, count)| Bar {
        label: (*label).to_owned(),
        values: used.iter().map(|(_, counts)| count(counts) as f64).collect(),
        query: query.map(str::to_owned),
    });
    Bars {
        title: "Agreement".to_owned(),
        description: "Recorded decisions by the answer of the profile for the same state.".to_owned(),
        label: "Result".to_owned(),
        unit: Unit::Count,
        series: used.iter().map(|(profile, _)| profile.name.to_owned()).collect(),
        bars: if used.is_empty() { Vec::new() } else { bars.collect() },
        empty: "The recording has no decision of a scheduler that a profile replaces.".to_owned(),
    }
}

/// A row of the table of disagreements.
struct Row<'a> {
    result: &'static str,
    /// The recorded node.
    node: &'a str,
    /// The first of the nodes with the highest total.
    best: &'a str,
    /// Number of other nodes with the highest total.
    others: usize,
    /// Total of the best node minus total of the recorded node.
    better_by: Option<i64>,
    recorded_message: &'a str,
    /// Message of the profile.
    message_here: &'a str,
    scores: &'a [Comparison],
}

impl<'a> Row<'a> {
    fn of(finding: &'a Finding) -> Self {
        let (result, node, best, better_by, recorded_message, message_here, scores): (
            _,
            &str,
            &[String],
            _,
            &str,
            &str,
            &[Comparison],
        ) = match finding {
            Finding::LowerScore { node, best, by, scores } => ("lower score", node, best, Some(*by), "", "", scores),
            Finding::Infeasible { node, reason, best, scores } => ("infeasible", node, best, None, "", reason, scores),
            Finding::OtherMessage { theirs, ours } => ("other message", "", &[], None, theirs, ours, &[]),
            Finding::Fits { theirs, best } => ("fits", "", best, None, theirs, "", &[]),
        };
        let first = best.first().map_or("", String::as_str);
        Row {
            result,
            node,
            best: first,
            others: best.len().saturating_sub(1),
            better_by,
            recorded_message,
            message_here,
            scores,
        }
    }

    /// Returns the scores of the best and of the recorded node; `None` if the finding has no scores.
    fn decision(&self) -> Option<Decision> {
        let candidate = |role: &str, node: &str, score: &dyn Fn(&Comparison) -> Option<NodeScore>| Candidate {
            role: role.to_owned(),
            node: node.to_owned(),
            scores: self
                .scores
                .iter()
                .filter_map(|comparison| {
                    let normalized = score(comparison)?.normalized;
                    Some(PluginScore { plugin: comparison.plugin.to_owned(), weight: comparison.weight, normalized })
                })
                .collect(),
        };
        let candidates = vec![
            candidate("best here", self.best, &|comparison| Some(comparison.best)),
            candidate("recorded", self.node, &|comparison| comparison.bound),
        ];
        let candidates: Vec<_> = candidates.into_iter().filter(|candidate| !candidate.scores.is_empty()).collect();
        (!candidates.is_empty()).then_some(Decision { feasible: 0, best: 1 + self.others, candidates })
    }
}

/// Formats the order of changes in which the profile agrees with the recorded decision.
fn order(difference: &Difference) -> String {
    let sides = difference.order.iter().flat_map(Order::sides);
    sides.map(|(relation, changes)| format!("{relation} {}", changes_are(changes))).collect::<Vec<_>>().join(", ")
}

fn table(disagreements: &[Difference]) -> Table {
    let rows: Vec<Row<'_>> = disagreements.iter().map(|difference| Row::of(&difference.disagreement.finding)).collect();
    let all = || disagreements.iter();
    let orders: Vec<String> = disagreements.iter().map(order).collect();
    let mut table = Table::new(
        "Disagreements",
        "Decisions with another answer. The details of a row have the scores of both nodes, or the messages.",
        "All decisions agree.",
    )
    .with(Column::text("Pod", Kind::Pod, all().map(|difference| difference.disagreement.pod.as_str())))
    .with(Column::text("Recorded node", Kind::Node, rows.iter().map(|row| row.node)))
    .with(Column::text("Best node here", Kind::Node, rows.iter().map(|row| row.best)))
    .with(Column::text("Result", Kind::Text, rows.iter().map(|row| row.result)))
    .with(Column::numbers(
        "Better by",
        Kind::Number(Unit::Count),
        rows.iter().map(|row| row.better_by.map(|by| by as f64)),
    ))
    .with(Column::text("Agrees", Kind::Text, orders.iter().map(String::as_str)))
    .with(Column::text("Profile", Kind::Text, all().map(|difference| difference.disagreement.profile)))
    .with(Column::text("Time", Kind::Text, all().map(|difference| difference.at.as_str())))
    .with(Column::text("Recorded message", Kind::Text, rows.iter().map(|row| row.recorded_message)).hidden())
    .with(Column::text("Message here", Kind::Text, rows.iter().map(|row| row.message_here)).hidden())
    .with(Column::text("Line", Kind::Text, all().map(|difference| difference.place.as_str())).hidden());
    table.decisions = rows.iter().map(Row::decision).collect();
    table
}
