//! Output of `schedc replay`.

use serde::Serialize;

use super::read_only::{Agreement, agreement, disagreement};
use crate::commands::output::heading;
use crate::replay::{NamedChange, Order, Report};

/// Maximum number of disagreements in the table, unless all are requested.
const MAX_DISAGREEMENTS: usize = 20;

/// Maximum number of changes that a line names.
const MAX_CHANGES: usize = 3;

/// The printed result.
#[derive(Serialize)]
pub(crate) struct Comparison {
    #[serde(flatten)]
    pub(crate) agreement: Agreement,
    #[serde(flatten)]
    pub(crate) report: Report,
}

/// Formats changes as a text, such as `Pod shop/web was created (FILE:LINE)`. Only the first [`MAX_CHANGES`] changes
/// are named; the others are counted.
pub(crate) fn changes_are(changes: &[NamedChange]) -> String {
    let named = changes.iter().take(MAX_CHANGES).map(|change| {
        let NamedChange { place, kind, name, change } = change;
        format!("{kind} {name} was {change} ({place})")
    });
    let more = changes.len().saturating_sub(MAX_CHANGES);
    named.chain((more > 0).then(|| format!("{more} more changes"))).collect::<Vec<_>>().join(", ")
}

/// Formats the disagreements and the agreement.
pub(crate) fn table(comparison: &Comparison, all: bool) -> String {
    let Comparison { agreement: counts, report } = comparison;
    let mut text = String::new();
    if !report.disagreements.is_empty() {
        text += &(heading("Disagreements") + "\n");
    }
    let shown = if all { usize::MAX } else { MAX_DISAGREEMENTS };
    for difference in report.disagreements.iter().take(shown) {
        text += &format!("{} {}", difference.at, disagreement(&difference.disagreement));
        for (relation, changes) in difference.order.iter().flat_map(Order::sides) {
            text += &format!("  agrees {relation} {}\n", changes_are(changes));
        }
    }
    match report.disagreements.len().saturating_sub(shown) {
        0 if text.is_empty() => {}
        0 => text.push('\n'),
        more => text += &format!("and {more} more; --all prints them\n\n"),
    }
    text += &agreement(counts);
    if !report.disagreements.is_empty() {
        let Report { disagreements, explained, unexplained, not_searched, .. } = report;
        let searched = if *not_searched > 0 { format!(" ({not_searched} not searched)") } else { String::new() };
        text += &format!(
            "\n{} disagreements: {explained} explained by another order of changes, {unexplained} unexplained{searched}\n",
            disagreements.len()
        );
    }
    let others = report.other_schedulers.iter().map(|(name, count)| format!(", {count} decisions of {name}"));
    text + &format!(
        "\n{} ties; {} files with {} restarts and {} gaps, {} events of schedulers{}\n",
        report.ties,
        report.files,
        report.restarts,
        report.gaps,
        report.events,
        others.collect::<String>()
    )
}
