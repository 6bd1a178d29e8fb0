//! Influence of plugins' scores on decisions.

use schedc_core::explain::{Explanation, NodeExplanation};

use crate::numbers::rounded;
use crate::result::PluginInfluence;

/// Influence over many decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Influence {
    decisions: u64,
    plugins: Vec<PluginSum>,
}

#[derive(Clone, Debug, Default)]
struct PluginSum {
    plugin: &'static str,
    /// Number of decisions in which the plugin scored; it skips the other pods.
    scored: u64,
    decided: f64,
    outvoted: f64,
    indifferent: f64,
}

impl Influence {
    /// Adds a decision, if several nodes are feasible and are scored.
    pub(crate) fn add(&mut self, explanation: &Explanation) {
        let feasible: Vec<&NodeExplanation> = explanation.nodes.iter().filter(|node| node.is_feasible()).collect();
        let [first, _, ..] = &feasible[..] else { return };
        let is_scored = feasible.iter().all(|node| node.scores.len() == first.scores.len());
        if explanation.by_nomination || !is_scored {
            return;
        }
        self.decisions += 1;
        let totals: Vec<i64> = feasible.iter().map(|node| node.total()).collect();
        let best = highest(&totals);
        for (at, score) in first.scores.iter().enumerate() {
            let own: Vec<i64> = feasible.iter().map(|node| node.scores[at].weighted()).collect();
            let without: Vec<i64> = totals.iter().zip(&own).map(|(total, own)| total.wrapping_sub(*own)).collect();
            let sum = self.of(score.plugin);
            sum.scored += 1;
            sum.decided += difference(&best, &highest(&without));
            let favourites = highest(&own);
            if favourites.len() == feasible.len() {
                sum.indifferent += 1.0;
            } else if common(&best, &favourites) == 0 {
                sum.outvoted += 1.0;
            }
        }
    }

    fn of(&mut self, plugin: &'static str) -> &mut PluginSum {
        let at = match self.plugins.iter().position(|sum| sum.plugin == plugin) {
            Some(at) => at,
            None => {
                self.plugins.push(PluginSum { plugin, ..PluginSum::default() });
                self.plugins.len() - 1
            }
        };
        &mut self.plugins[at]
    }

    /// Returns the number of decisions.
    pub(crate) fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Returns the influence of each plugin of a profile. A plugin is indifferent to a pod that it skips.
    pub(crate) fn finish(&self, plugins: &[(&'static str, i64)]) -> Vec<PluginInfluence> {
        let share = |sum: f64| if self.decisions == 0 { 0.0 } else { rounded(sum / self.decisions as f64) };
        let of = |(plugin, weight): &(&'static str, i64)| {
            let sum = self.plugins.iter().find(|sum| sum.plugin == *plugin).cloned().unwrap_or_default();
            let skipped = self.decisions.saturating_sub(sum.scored) as f64;
            PluginInfluence {
                plugin: (*plugin).to_owned(),
                weight: *weight,
                decided: share(sum.decided),
                outvoted: share(sum.outvoted),
                indifferent: share(sum.indifferent + skipped),
            }
        };
        plugins.iter().map(of).collect()
    }
}

/// Returns the positions of the highest values.
fn highest(values: &[i64]) -> Vec<usize> {
    let max = values.iter().max();
    values.iter().enumerate().filter(|(_, value)| Some(*value) == max).map(|(at, _)| at).collect()
}

/// Returns the number of common values of two sorted lists.
fn common(a: &[usize], b: &[usize]) -> usize {
    a.iter().filter(|value| b.binary_search(value).is_ok()).count()
}

/// Returns the probability that a node from `a` differs from one of `b`, if both are drawn with equal probability and
/// are equal whenever possible.
fn difference(a: &[usize], b: &[usize]) -> f64 {
    1.0 - common(a, b) as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_are_indifferent_to_pods_that_they_skip() {
        let sum = PluginSum { plugin: "A", scored: 3, indifferent: 1.0, ..PluginSum::default() };
        let found = Influence { decisions: 4, plugins: vec![sum] }.finish(&[("A", 1), ("B", 2)]);
        assert_eq!(found.iter().map(|it| it.indifferent).collect::<Vec<_>>(), [0.5, 1.0]);
    }

    #[test]
    fn a_difference_is_the_probability_of_another_node() {
        assert_eq!(difference(&[1], &[1]), 0.0);
        assert_eq!(difference(&[1], &[2]), 1.0);
        // The plugin alone separates one node from three others.
        assert_eq!(difference(&[1], &[0, 1, 2, 3]), 0.75);
        assert_eq!(difference(&[0, 1], &[1]), 0.5);
        assert_eq!(highest(&[3, 7, 7, 1]), [1, 2]);
    }
}
