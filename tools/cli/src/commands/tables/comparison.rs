//! The chosen node compared with another one.

use std::fmt::Write;

use super::count;
use crate::commands::output::{Columns, heading};
use crate::explanation::{Comparison, DecisiveWeight, Explanation, PluginComparison};

/// Maximum number of nodes in a list of equally good nodes.
const MAX_NAMES: usize = 3;

/// Returns the reasons why the node was chosen and not the other one.
pub(super) fn table(explanation: &Explanation, comparison: &Comparison) -> String {
    let Comparison { against, rejections, deciding, margin, plugins } = comparison;
    let chosen = explanation.node.as_deref().unwrap_or_default();
    let mut text = heading(format_args!("Why {chosen} and not {against}")) + "\n";
    // Writing to a string cannot fail.
    for rejection in rejections {
        let plugin = if rejection.plugin.is_empty() { "PreFilter" } else { rejection.plugin };
        let _ = writeln!(text, "  {plugin} rejects {against}: {}", rejection.reasons.join(", "));
    }
    match (&rejections[..], deciding) {
        ([], _) if chosen == against => text += "  it is the chosen node\n",
        ([], _) if explanation.by_nomination => {
            text += "  a preemption nominated the chosen node, regardless of the scores\n"
        }
        ([], Some(plugin)) => {
            let _ = writeln!(text, "  deciding: {plugin}, which favours {chosen} most");
        }
        ([], None) => {}
        (_, Some(plugin)) => {
            let _ = writeln!(text, "  deciding: {plugin}; without its filter, {against} is feasible");
        }
        ([_], None) => {}
        (_, None) => {
            let _ = writeln!(
                text,
                "  leaving out a single one of these {} does not make {against} feasible",
                count(rejections.len(), "filter")
            );
        }
    }
    match margin {
        Some(0) if chosen != against => text += "  equal totals: the choice is random\n",
        Some(margin) if chosen != against => {
            let _ = writeln!(text, "  margin: {margin}");
        }
        _ => return text,
    }
    let mut columns = Columns::new(["PLUGIN", ">WEIGHT", ">DIFFERENCE", "DECISIVE WEIGHT", "BEST WITHOUT IT"]);
    for PluginComparison { plugin, weight, difference, decisive_weight, without } in plugins {
        let decisive =
            decisive_weight.as_ref().map_or_else(|| "-".to_owned(), |decisive| decisive_text(decisive, against));
        let row = [(*plugin).to_owned(), weight.to_string(), difference.to_string(), decisive, names(without)];
        columns.row(row.to_vec());
    }
    text + &columns.text()
}

fn decisive_text(DecisiveWeight { weight, best }: &DecisiveWeight, against: &str) -> String {
    match best.iter().any(|node| node == against) {
        true => weight.to_string(),
        false => format!("{weight} (then {} is best)", names(best)),
    }
}

fn names(nodes: &[String]) -> String {
    let more = nodes.len().saturating_sub(MAX_NAMES);
    let shown = nodes[..nodes.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} + {more} more") }
}
