//! Influence of plugins' scores on decisions.

use schedc_core::engine::Decision;
use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::extenders::EXTENDER;
use schedc_core::profile::ProfileInfo;
use serde_json::Value;

use crate::numbers::rounded;
use crate::result::{LeftOut, PluginInfluence};

/// Influence over many decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Influence {
    decisions: u64,
    left_out: LeftOut,
    plugins: Vec<PluginSum>,
}

#[derive(Clone, Debug, Default)]
struct PluginSum {
    plugin: &'static str,
    /// Number of decisions in which the plugin scored; in the other decisions, it skipped the pod.
    scored: u64,
    decided: f64,
    outvoted: f64,
    indifferent: f64,
}

impl Influence {
    /// Adds a decision. A decision that is no choice among scored nodes is left out, and counted by its reason.
    pub(crate) fn add(&mut self, explanation: &Explanation) {
        let left_out = &mut self.left_out;
        match explanation.decision {
            Decision::Error(_) => return left_out.failed += 1,
            Decision::Unschedulable(_) => return left_out.no_node += 1,
            Decision::Node(_) if explanation.by_nomination => return left_out.nominated += 1,
            Decision::Node(_) => {}
        }
        let feasible: Vec<&NodeExplanation> = explanation.nodes.iter().filter(|node| node.is_feasible()).collect();
        let [first, _, ..] = &feasible[..] else { return left_out.one_node += 1 };
        if feasible.iter().any(|node| node.scores.len() != first.scores.len()) {
            return left_out.failed += 1;
        }
        self.decisions += 1;
        let totals: Vec<i64> = feasible.iter().map(|node| node.total()).collect();
        let best = highest(&totals);
        for (at, score) in first.scores.iter().enumerate() {
            let scores: Vec<i64> = feasible.iter().map(|node| node.scores[at].weighted()).collect();
            let without: Vec<i64> =
                totals.iter().zip(&scores).map(|(total, score)| total.wrapping_sub(*score)).collect();
            let sum = self.sum_of(score.plugin);
            sum.scored += 1;
            sum.decided += difference(&best, &highest(&without));
            let favourites = highest(&scores);
            if favourites.len() == feasible.len() {
                sum.indifferent += 1.0;
            } else if common(&best, &favourites) == 0 {
                sum.outvoted += 1.0;
            }
        }
    }

    fn sum_of(&mut self, plugin: &'static str) -> &mut PluginSum {
        let at = match self.plugins.iter().position(|sum| sum.plugin == plugin) {
            Some(at) => at,
            None => {
                self.plugins.push(PluginSum { plugin, ..PluginSum::default() });
                self.plugins.len() - 1
            }
        };
        &mut self.plugins[at]
    }

    /// Returns the number of decisions that are not left out.
    pub(crate) fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Returns the numbers of decisions that are left out.
    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Returns the influence of each of these plugins, given with their weights. A plugin is indifferent to a pod that
    /// it skips.
    pub(crate) fn finish(&self, plugins: &[(&'static str, i64)]) -> Vec<PluginInfluence> {
        let share = |sum: f64| if self.decisions == 0 { 0.0 } else { rounded(sum / self.decisions as f64) };
        let influence = |(plugin, weight): &(&'static str, i64)| {
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
        plugins.iter().map(influence).collect()
    }
}

/// Returns the plugins that score in any of these profiles, each once, with its weight in the first profile that has
/// it. All extenders together are one plugin with the weight 1, because their scores are already weighted.
pub(crate) fn scoring_plugins<'p>(profiles: impl Iterator<Item = &'p ProfileInfo>) -> Vec<(&'static str, i64)> {
    let mut plugins: Vec<(&'static str, i64)> = Vec::new();
    let mut has_extender = false;
    for profile in profiles {
        for (name, weight) in profile.plugins("score") {
            if plugins.iter().all(|(known, _)| known != name) {
                plugins.push((name, weight.unwrap_or(1)));
            }
        }
        has_extender |= profile.extenders.iter().any(|extender| has_scores(extender));
    }
    plugins.extend(has_extender.then_some((EXTENDER, 1)));
    plugins
}

/// Returns whether an extender scores nodes.
fn has_scores(extender: &str) -> bool {
    serde_json::from_str(extender).is_ok_and(|extender: Value| extender["prioritize-verb"].is_string())
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

/// Returns the probability that a node drawn from `a` differs from a node drawn from `b`. All nodes of a list are
/// equally likely, and the two draws depend on each other such that they are equal as often as possible.
fn difference(a: &[usize], b: &[usize]) -> f64 {
    1.0 - common(a, b) as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schedc_core::model::NodeIndex;
    use schedc_core::profile::{Budget, PluginScore, PointInfo};

    use super::*;

    /// Returns the explanation of a decision for the first node. Each pair has the scores of a node: that of the plugin
    /// `A`, and that of extenders.
    fn explanation(nodes: &[(i64, i64)]) -> Explanation {
        let score = |plugin, raw| PluginScore { plugin, raw, normalized: raw, weight: 1 };
        let node = |(at, (plugin, extenders)): (usize, &(i64, i64))| NodeExplanation {
            node: format!("n{at}"),
            verdicts: Vec::new(),
            scores: vec![score("A", *plugin), score(EXTENDER, *extenders)],
            previews: Vec::new(),
            shortage: None,
        };
        Explanation {
            gated_by: None,
            pre_filter: None,
            skipped: Vec::new(),
            narrowed: None,
            nodes: nodes.iter().enumerate().map(node).collect(),
            decision: Decision::Node(NodeIndex(0)),
            errors: BTreeSet::new(),
            best: Vec::new(),
            by_nomination: false,
        }
    }

    #[test]
    fn extenders_have_an_influence() {
        let profile = ProfileInfo {
            name: "p",
            source: "p.toml",
            scheduler_name: "p",
            percentage_of_nodes_to_score: 100,
            pod_initial_backoff_seconds: 1,
            pod_max_backoff_seconds: 10,
            budget: Budget::NONE,
            points: &[PointInfo { point: "score", plugins: &[("A", Some(2))] }],
            args: &[],
            extenders: &[
                r#"{"url-prefix":"http://a","filter-verb":"filter"}"#,
                r#"{"url-prefix":"http://b","prioritize-verb":"prioritize","weight":3}"#,
            ],
        };
        let plugins = scoring_plugins([&profile, &profile].into_iter());
        assert_eq!(plugins, [("A", 2), (EXTENDER, 1)]);
        let without = ProfileInfo { extenders: &profile.extenders[..1], ..profile };
        assert_eq!(scoring_plugins([&without].into_iter()), [("A", 2)]);

        let mut influence = Influence::default();
        influence.add(&explanation(&[(1, 9), (2, 0)]));
        influence.add(&explanation(&[(9, 0), (0, 0)]));
        let [plugin, extenders] = &influence.finish(&plugins)[..] else { panic!("two plugins") };
        assert_eq!((plugin.decided, plugin.outvoted, plugin.indifferent), (0.25, 0.5, 0.0));
        assert_eq!((extenders.decided, extenders.outvoted, extenders.indifferent), (0.5, 0.0, 0.5));
    }

    #[test]
    fn decisions_without_scores_are_left_out_and_counted() {
        let mut influence = Influence::default();
        let all = explanation(&[(1, 0), (2, 0)]);
        influence.add(&all);
        influence.add(&explanation(&[(1, 0)]));
        influence.add(&Explanation { by_nomination: true, ..all.clone() });
        // A failed attempt has no scores, or scores that did not count.
        influence.add(&Explanation { decision: Decision::Error("no connection".to_owned()), ..all.clone() });
        let mut unequal = all;
        unequal.nodes[0].scores.clear();
        influence.add(&unequal);
        assert_eq!(influence.decisions(), 1);
        assert_eq!(influence.left_out(), LeftOut { no_node: 0, one_node: 1, nominated: 1, failed: 2 });
    }

    #[test]
    fn plugins_are_indifferent_to_pods_that_they_skip() {
        let sum = PluginSum { plugin: "A", scored: 3, indifferent: 1.0, ..PluginSum::default() };
        let influence = Influence { decisions: 4, plugins: vec![sum], ..Influence::default() };
        let plugins = influence.finish(&[("A", 1), ("B", 2)]);
        assert_eq!(plugins.iter().map(|plugin| plugin.indifferent).collect::<Vec<_>>(), [0.5, 1.0]);
    }

    #[test]
    fn a_difference_is_the_probability_of_another_node() {
        assert_eq!(difference(&[1], &[1]), 0.0);
        assert_eq!(difference(&[1], &[2]), 1.0);
        // Without the plugin, three other nodes are as good as the chosen one.
        assert_eq!(difference(&[1], &[0, 1, 2, 3]), 0.75);
        assert_eq!(difference(&[0, 1], &[1]), 0.5);
        assert_eq!(highest(&[3, 7, 7, 1]), [1, 2]);
    }
}
