//! Output of `schedc replay`.

use super::read_only::{agreement, disagreement};
use crate::commands::output::heading;
use crate::commands::replay::Comparison;

/// Number of disagreements in the table.
const SHOWN: usize = 20;

/// Formats the disagreements and the agreement.
pub(crate) fn table(comparison: &Comparison, all: bool) -> String {
    let Comparison { agreement: found, report } = comparison;
    let mut text = String::new();
    if !report.disagreements.is_empty() {
        text += &(heading("Disagreements") + "\n");
    }
    let shown = if all { usize::MAX } else { SHOWN };
    for difference in report.disagreements.iter().take(shown) {
        text += &format!("{} {}", difference.at, disagreement(&difference.disagreement));
    }
    match report.disagreements.len().saturating_sub(shown) {
        0 if text.is_empty() => {}
        0 => text.push('\n'),
        more => text += &format!("and {more} more; --all prints them\n\n"),
    }
    text += &agreement(found);
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
