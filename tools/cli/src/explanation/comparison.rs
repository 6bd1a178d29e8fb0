//! The chosen node of a pod compared with another node.

use std::cmp::Reverse;

use schedc_core::extenders::EXTENDER;
use serde::Serialize;

use super::{Explanation, NodeReport, Rejection, Score};

/// Highest weight that is considered for a plugin.
const HIGHEST_WEIGHT: i64 = i32::MAX as i64;

/// The reasons for the chosen node and against another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The other node.
    pub against: String,
    /// Every plugin that rejects the other node.
    pub rejections: Vec<Rejection>,
    /// If the other node is infeasible, the plugin without which it is feasible, if there is one. Otherwise, the score
    /// plugin that favours the chosen node most.
    pub deciding: Option<&'static str>,
    /// Total of the chosen node minus the total of the other node. `None`: the other node is infeasible, or there was no
    /// scoring.
    pub margin: Option<i64>,
    /// The score plugins, in descending order of `difference`.
    pub plugins: Vec<PluginComparison>,
}

/// A score plugin's effect on the choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PluginComparison {
    /// The plugin.
    pub plugin: &'static str,
    /// Its weight.
    pub weight: i64,
    /// Weighted score of the chosen node minus that of the other node.
    pub difference: i64,
    /// The nearest weight with which the other node has a higher total than the chosen one. `None`: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisive_weight: Option<DecisiveWeight>,
    /// The nodes with the highest total if the profile leaves out this score.
    pub without: Vec<String>,
}

/// A weight with which the scheduler prefers the other node to the chosen one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DecisiveWeight {
    /// The weight.
    pub weight: i64,
    /// The nodes with the highest total at this weight. These may be nodes that are not compared.
    pub best: Vec<String>,
}

impl Comparison {
    /// Compares the chosen node with the node `against`. `rejections` are all rejections of `against`. Returns `None`
    /// if the pod has no node, or if no node has the name `against`.
    pub(super) fn of(explanation: &Explanation, against: &str, rejections: Vec<Rejection>) -> Option<Self> {
        let node = |name: &str| explanation.nodes.iter().find(|node| node.node == name);
        let (chosen, other) = (node(explanation.node.as_deref()?)?, node(against)?);
        let mut comparison = Comparison {
            against: against.to_owned(),
            deciding: match &rejections[..] {
                // The name is empty if several PreFilter plugins together exclude the node, so none of them decides
                // alone.
                [only] => Some(only.plugin).filter(|plugin| !plugin.is_empty()),
                _ => None,
            },
            rejections,
            margin: None,
            plugins: Vec::new(),
        };
        if let (Some(chosen_total), Some(other_total)) = (chosen.total, other.total) {
            comparison.margin = Some(chosen_total.saturating_sub(other_total));
            let pairs = chosen.scores.iter().zip(&other.scores);
            let compare =
                |(of_chosen, of_other)| PluginComparison::of(&explanation.nodes, (chosen, other), of_chosen, of_other);
            comparison.plugins = pairs.map(compare).collect();
            comparison.plugins.sort_by_key(|plugin| Reverse(plugin.difference));
            let first = comparison.plugins.first().filter(|plugin| plugin.difference > 0);
            comparison.deciding = first.map(|plugin| plugin.plugin);
        }
        Some(comparison)
    }
}

impl PluginComparison {
    fn of(
        nodes: &[NodeReport],
        (chosen, other): (&NodeReport, &NodeReport),
        of_chosen: &Score,
        of_other: &Score,
    ) -> Self {
        let Score { plugin, weight, .. } = *of_chosen;
        let margin = chosen.total.unwrap_or(0) - other.total.unwrap_or(0);
        let decisive = decisive_weight(weight, of_chosen.normalized - of_other.normalized, margin);
        // Scores of extenders have no weight.
        let decisive = decisive.filter(|_| plugin != EXTENDER);
        PluginComparison {
            plugin,
            weight,
            difference: of_chosen.weighted - of_other.weighted,
            decisive_weight: decisive.map(|weight| DecisiveWeight { weight, best: best(nodes, plugin, weight) }),
            without: best(nodes, plugin, 0),
        }
    }
}

/// Returns the weight nearest to `weight` with which the margin is negative; `None` if there is no such weight from 1 to
/// [`HIGHEST_WEIGHT`].
fn decisive_weight(weight: i64, difference: i64, margin: i64) -> Option<i64> {
    // The margin with weight w is margin + (w - weight) * difference.
    let decisive = match difference {
        0 => return None,
        1.. => weight.checked_sub(margin.div_euclid(difference))?.checked_sub(1)?,
        ..0 => weight.checked_add(margin.div_euclid(-difference))?.checked_add(1)?,
    };
    (1..=HIGHEST_WEIGHT).contains(&decisive).then_some(decisive)
}

/// Returns the nodes with the highest total if a plugin had another weight. Scores do not depend on weights.
fn best(nodes: &[NodeReport], plugin: &str, weight: i64) -> Vec<String> {
    let total = |node: &NodeReport| {
        let weighted = |score: &Score| if score.plugin == plugin { score.normalized * weight } else { score.weighted };
        node.scores.iter().map(weighted).sum::<i64>()
    };
    let scored = || nodes.iter().filter(|node| node.total.is_some());
    let highest = scored().map(total).max();
    scored().filter(|node| Some(total(node)) == highest).map(|node| node.node.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::decisive_weight;

    #[test]
    fn a_decisive_weight_is_the_nearest_one() {
        for weight in 1..8 {
            for difference in -5_i64..=5 {
                for margin in 0..12 {
                    let changed = |w: i64| margin + (w - weight) * difference < 0;
                    let all = (1..100).filter(|w| changed(*w));
                    let nearest = all.min_by_key(|w| (w - weight).abs());
                    assert_eq!(decisive_weight(weight, difference, margin), nearest, "{weight} {difference} {margin}");
                }
            }
        }
    }
}
