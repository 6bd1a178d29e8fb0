//! Explanation of one pod's scheduling cycle, node by node: rejections with reasons, or scores of all plugins.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::observer::{Observer, Point};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::tie_break::TieBreak;
use crate::engine::verdict::Verdict;
use crate::engine::{Decision, Engine, PreFilterOutcome, RejectedPod, UNTIMED, excluded_node_reason, no_nodes};
use crate::model::cache::Cache;
use crate::model::map::Map;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::random::Random;
use crate::plugin_api::status::{Code, ReasonList, Status};
use crate::profile_api::extenders::{EXTENDER, ExtenderRejection, Extenders};
use crate::profile_api::profile::{PluginScore, Profile};

/// Result of a hypothetical scheduling cycle for a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Status of the PreEnqueue plugin that holds the pod; nothing else ran.
    pub gated_by: Option<Status>,
    /// PreFilter's rejection of the pod as a whole, or its failure.
    pub pre_filter: Option<Status>,
    /// Plugins whose PreFilter skipped Filter.
    pub skipped: Vec<&'static str>,
    /// Names of the candidate nodes, sorted, if PreFilter excluded others. The nodes may not exist.
    pub narrowed: Option<Vec<String>>,
    /// Every node, by name.
    pub nodes: Vec<NodeExplanation>,
    /// The decision.
    pub decision: Decision,
    /// All errors that may end the attempt. kube-scheduler evaluates nodes in parallel, and reports the first error.
    pub errors: BTreeSet<String>,
    /// Names of the feasible nodes with the highest total.
    pub best: Vec<String>,
    /// Whether the pod's own nominated node was feasible, and was chosen without scoring.
    pub by_nomination: bool,
}

/// Result for a pod on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeExplanation {
    /// The node.
    pub node: String,
    /// Rejections; empty if the node is feasible.
    pub verdicts: Vec<Verdict>,
    /// The scores, in the profile's order, without plugins that skip, and the sum of all extenders, if they ran. Empty
    /// if the node is infeasible, or if scoring failed.
    pub scores: Vec<PluginScore>,
}

impl NodeExplanation {
    /// Returns whether every filter and every extender passes the node.
    pub fn is_feasible(&self) -> bool {
        self.verdicts.is_empty()
    }
    /// Returns the sum of the weighted scores.
    pub fn total(&self) -> i64 {
        self.scores.iter().fold(0, |sum, score| sum.wrapping_add(score.weighted()))
    }
}

impl<P: Profile> Engine<P> {
    /// Explains a decision. With `all_filters`, all plugins that reject a node are listed, otherwise the first. Among
    /// equally good nodes, the decision is the first by index.
    pub fn explain(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, all_filters: bool) -> Explanation {
        self.explain_with_draw(pod, cache, all_filters, TieBreak::First.draw_fn(&mut Random::new(0)))
    }

    /// Explains a decision, with the random choices of [`Engine::decide`].
    pub fn explain_with_draw(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        all_filters: bool,
        draw: impl FnMut(usize) -> usize,
    ) -> Explanation {
        let mut explanation = Explanation {
            gated_by: self.plugins.pre_enqueue(pod, cache).err(),
            pre_filter: None,
            skipped: Vec::new(),
            narrowed: None,
            nodes: Vec::new(),
            decision: Decision::Unschedulable(Box::new(no_nodes())),
            errors: BTreeSet::new(),
            best: Vec::new(),
            by_nomination: false,
        };
        if explanation.gated_by.is_some() || cache.base.count() == 0 {
            return explanation;
        }
        let read = self.read(pod, cache);
        let mut start = self.start(&read, cache);
        let cache = &*cache;
        let next_start = self.next_start;
        let mut extender_results = ExtenderResults::default();
        explanation.decision = self.conclude(pod, &mut start, cache, UNTIMED, draw, &mut extender_results);
        self.next_start = next_start;
        match start {
            PreFilterOutcome::PreFiltered(mut attempt) => {
                self.explain_nodes(pod, &mut attempt, cache, all_filters, extender_results, &mut explanation);
            }
            PreFilterOutcome::Rejected(rejected) => {
                let RejectedPod { pre_filter, status, .. } = *rejected;
                explanation.skipped = pre_filter.skipped().to_vec();
                if !status.code.is_rejected() {
                    explanation.errors.insert(status.message());
                }
                explanation.pre_filter = Some(status);
            }
        }
        explanation
    }

    fn explain_nodes(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        all_filters: bool,
        extender_results: ExtenderResults,
        explanation: &mut Explanation,
    ) {
        explanation.skipped = attempt.pre_filter.skipped().to_vec();
        explanation.narrowed = attempt.pre_filter.nodes().map(|nodes| {
            let unknown = attempt.pre_filter.unknown_nodes().iter().map(|name| cache.base.interner.resolve(*name));
            let names = nodes.iter().map(|&node| cache.base.name(node)).chain(unknown);
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            names.sort_unstable();
            // A plugin may return the name of a missing node twice.
            names.dedup();
            names
        });
        let feasible = self.explain_filters(pod, attempt, cache, all_filters, &extender_results, explanation);
        explanation.by_nomination = match P::Extenders::NONE {
            true => self.nominated_node(pod, attempt, cache).is_some(),
            // Extenders are called only once.
            false => !extender_results.ran_filter,
        };
        self.answer.feasible.copy_from(&feasible);
        let PreFilteredPod { compiled, cycle, .. } = attempt;
        if let Ok(scores) = self.answer.breakdown(&*self.plugins, compiled, cycle, cache) {
            for (index, scores) in scores {
                let name = cache.base.name(index);
                if let Ok(at) = explanation.nodes.binary_search_by(|n| n.node.as_str().cmp(name)) {
                    explanation.nodes[at].scores = scores;
                    explanation.nodes[at].scores.extend(extender_results.score(index));
                }
            }
            let feasible = || explanation.nodes.iter().filter(|n| n.is_feasible());
            let highest = feasible().map(NodeExplanation::total).max();
            explanation.best = feasible().filter(|n| Some(n.total()) == highest).map(|n| n.node.clone()).collect();
        }
        if matches!(explanation.decision, Decision::Error(_)) {
            let verdicts = explanation.nodes.iter().filter_map(|node| node.verdicts.first());
            explanation.errors = verdicts.filter(|v| v.code == Code::Error).map(Verdict::failure).collect();
            if explanation.errors.is_empty() {
                explanation.errors = self.answer.possible_errors(&*self.plugins, compiled, cycle, cache);
            }
        }
    }

    fn explain_filters(
        &self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        all_filters: bool,
        extender_results: &ExtenderResults,
        explanation: &mut Explanation,
    ) -> NodeMask {
        let mut feasible = NodeMask::default();
        feasible.resize(cache.base.infos().len());
        let narrowed_by = attempt.pre_filter.narrowed_by();
        let narrowed = attempt.pre_filter.nodes().map(<[_]>::to_vec);
        for index in cache.base.alive().iter() {
            let mut verdicts = if narrowed.as_ref().is_some_and(|nodes| nodes.binary_search(&index).is_err()) {
                let code = Code::UnschedulableAndUnresolvable;
                vec![Verdict {
                    code,
                    plugin: "",
                    reasons: ReasonList::from_iter([excluded_node_reason(&narrowed_by).into()]),
                }]
            } else {
                match all_filters {
                    true => attempt.all_verdicts(pod, cache, index),
                    false => attempt.verdict(pod, cache, index).into_iter().collect(),
                }
            };
            let is_rejected = !verdicts.is_empty() || extender_results.removed_nodes.contains(index);
            if let Some(verdict) = extender_results.verdict(index).filter(|_| is_rejected) {
                // Their rejections precede those of plugins.
                verdicts.insert(0, verdict);
                verdicts.truncate(if all_filters { usize::MAX } else { 1 });
            }
            if verdicts.is_empty() {
                feasible.insert(index);
            }
            explanation.nodes.push(NodeExplanation {
                node: cache.base.name(index).to_string(),
                verdicts,
                scores: Vec::new(),
            });
        }
        explanation.nodes.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        feasible
    }
}

/// Results of extenders during a decision.
#[derive(Default)]
struct ExtenderResults {
    ran_filter: bool,
    removed_nodes: NodeMask,
    rejections: Map<NodeIndex, ExtenderRejection>,
    added: Map<NodeIndex, i64>,
}

impl Observer for ExtenderResults {
    fn point_started(&mut self, point: Point) {
        self.ran_filter |= point == Point::Filter;
    }

    fn extenders_filtered(&mut self, nodes: &NodeMask, rejections: &[ExtenderRejection]) {
        self.removed_nodes.copy_from(nodes);
        // If they removed no node, their reasons for other nodes do not count.
        if !nodes.is_empty() {
            self.rejections = rejections.iter().map(|rejection| (rejection.node, rejection.clone())).collect();
        }
    }

    fn extenders_scored(&mut self, scores: &[(NodeIndex, i64)]) {
        self.added = scores.iter().copied().collect();
    }
}

impl ExtenderResults {
    fn verdict(&self, node: NodeIndex) -> Option<Verdict> {
        match self.rejections.get(&node) {
            Some(ExtenderRejection { code, reason, .. }) => {
                Some(Verdict { code: *code, plugin: EXTENDER, reasons: ReasonList::from_iter([reason.clone().into()]) })
            }
            None if self.removed_nodes.contains(node) => {
                Some(Verdict { code: Code::Unschedulable, plugin: EXTENDER, reasons: ReasonList::default() })
            }
            None => None,
        }
    }

    /// Returns their score, which is not normalised; 0 for a node that they did not receive.
    fn score(&self, node: NodeIndex) -> Option<PluginScore> {
        let added = self.added.get(&node).copied().unwrap_or(0);
        (!self.added.is_empty()).then_some(PluginScore { plugin: EXTENDER, raw: added, normalized: added, weight: 1 })
    }
}
