//! The remedies of an unschedulable pod.

use std::fmt::Write;

use indicatif::HumanCount;

use crate::commands::output::{Columns, heading};
use crate::remedies::{Combination, Remedies};

/// Returns the list of remedies.
pub(super) fn table(remedies: &Remedies) -> String {
    let Remedies { found, trials, cut } = remedies;
    let trials = HumanCount(*trials as u64);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match &found[..] {
        [] => writeln!(text, "{} ({trials} decisions with one or two changes)", heading("No remedy found")),
        _ => writeln!(text, "{} (one row is enough; each is verified by a decision)", heading("Remedies")),
    };
    if !found.is_empty() {
        let mut columns = Columns::new(["NODE", "CHANGE"]);
        for Combination { changes, node, .. } in found {
            let changes: Vec<&str> = changes.iter().map(|change| change.text.as_str()).collect();
            columns.row(vec![node.clone(), changes.join(", and ")]);
        }
        text += &columns.text();
    }
    if *cut {
        let _ = writeln!(text, "  the search was limited and ended after {trials} decisions; other remedies may exist");
    }
    text
}
