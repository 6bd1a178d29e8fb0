//! Explanation of one pod's scheduling cycle, node by node: rejections with reasons, or scores of all plugins.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::observer::{Observer, Point};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::tie_break::TieBreak;
use crate::engine::verdict::Verdict;
use crate::engine::{
    Decision, Engine, PreFilterOutcome, RejectedPod, SchedulingCycle, UNTIMED, excluded_node_reason, no_nodes,
};
use crate::model::cache::Cache;
use crate::model::map::Map;
use crate::model::node_mask::NodeMask;
use crate::model::placement::Placement;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::extension_points::{Preview, Shortage};
use crate::plugin_api::random::Random;
use crate::plugin_api::status::{Code, ReasonList, Status};
use crate::profile_api::extenders::{EXTENDER, ExtenderRejection, Extenders};
use crate::profile_api::profile::{PluginScore, Profile};

/// Result of a hypothetical scheduling cycle for a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Status of the PreEnqueue plugin that holds the pod. If there is one, nothing else ran.
    pub gated_by: Option<Status>,
    /// PreFilter's rejection of the pod for all nodes, or PreFilter's failure.
    pub pre_filter: Option<Status>,
    /// Plugins whose PreFilter skipped Filter.
    pub skipped: Vec<&'static str>,
    /// Names of the candidate nodes, sorted, if PreFilter excluded others. Some of these nodes may not exist.
    pub narrowed: Option<Vec<String>>,
    /// All nodes, sorted by name. Empty if a PreEnqueue plugin holds the pod, or if PreFilter rejects it or fails.
    pub nodes: Vec<NodeExplanation>,
    /// The decision. A placeholder, `Unschedulable` with an empty diagnosis, if a PreEnqueue plugin holds the pod.
    pub decision: Decision,
    /// All errors that may end the attempt. kube-scheduler evaluates nodes in parallel, and reports the error that occurs
    /// first.
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
    /// The scores of the plugins that do not skip, in the profile's order, then the sum of all extenders, if they ran.
    /// Empty if the node is infeasible, or if scoring failed.
    pub scores: Vec<PluginScore>,
    /// Reservations that Reserve would make for the pod, by plugin. Empty if the node is infeasible.
    pub previews: Vec<Preview>,
    /// Shortage of an infeasible node: set by [`Engine::explain_shortages`], if the first plugin that rejects the node
    /// reports one.
    pub shortage: Option<Shortage>,
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
    pub(crate) fn explain_with_draw(
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
        let cycle = SchedulingCycle {
            pod,
            cache,
            now: UNTIMED,
            lists_preemption_candidates: true,
            draw,
            observer: &mut extender_results,
        };
        explanation.decision = self.conclude(&mut start, cycle);
        self.next_start = next_start;
        match start {
            PreFilterOutcome::PreFiltered(mut attempt) => {
                let attempt = &mut *attempt;
                ExplainedAttempt { engine: self, pod, attempt, cache, extender_results }
                    .explain(all_filters, &mut explanation);
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

    /// Adds the shortages of infeasible nodes to the explanation of a pod. The cluster must be unchanged since the
    /// explanation.
    pub fn explain_shortages(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, explanation: &mut Explanation) {
        if explanation.nodes.is_empty() || !pod.spec.may_use_devices() {
            return;
        }
        let read = self.read(pod, cache);
        let PreFilterOutcome::PreFiltered(attempt) = self.start(&read, cache) else { return };
        for explained in &mut explanation.nodes {
            let Some(verdict) = explained.verdicts.first() else { continue };
            let previews = previews(&*self.plugins, &attempt, pod, cache, &explained.node);
            let of_rejector = previews.into_iter().find(|preview| preview.plugin == verdict.plugin);
            explained.shortage = of_rejector.and_then(|preview| preview.resources.err());
        }
    }
}

/// Returns the reservations that Reserve would make on a node, by plugin.
fn previews<P: Profile>(
    plugins: &P,
    attempt: &PreFilteredPod<P>,
    pod: &Arc<Pod>,
    cache: &Cache<P::State>,
    node: &str,
) -> Vec<Preview> {
    let base = &cache.base;
    let Some(index) = base.interner.get(node).and_then(|name| base.node(name)) else { return Vec::new() };
    let placement = Placement { pod: pod.clone(), node: index, node_name: node.into() };
    plugins.previews(&attempt.cycle, cache, &placement)
}

/// A decided attempt that is to be explained.
struct ExplainedAttempt<'a, P: Profile> {
    engine: &'a mut Engine<P>,
    pod: &'a Arc<Pod>,
    attempt: &'a mut PreFilteredPod<P>,
    cache: &'a Cache<P::State>,
    extender_results: ExtenderResults,
}

impl<P: Profile> ExplainedAttempt<'_, P> {
    /// Adds all but the decision to the explanation.
    fn explain(&mut self, all_filters: bool, explanation: &mut Explanation) {
        explanation.skipped = self.attempt.pre_filter.skipped().to_vec();
        explanation.narrowed = self.narrowed();
        explanation.nodes = self.nodes(all_filters);
        explanation.by_nomination = match P::Extenders::NONE {
            true => self.engine.nominated_node(self.pod, self.attempt, self.cache).is_some(),
            // `nominated_node` would call the extenders a second time. Instead: the nominated node was chosen if the
            // decision did not run Filter for the other nodes.
            false => !self.extender_results.ran_filter,
        };
        // A failure of Filter on one node ends the attempt.
        let has_failed =
            |node: &NodeExplanation| node.verdicts.first().is_some_and(|verdict| verdict.code == Code::Error);
        let is_scored =
            !matches!(explanation.decision, Decision::Error(_)) || !explanation.nodes.iter().any(has_failed);
        if is_scored {
            self.preview(&mut explanation.nodes);
        }
        if is_scored && self.explain_scores(&mut explanation.nodes) {
            let feasible = || explanation.nodes.iter().filter(|n| n.is_feasible());
            let highest = feasible().map(NodeExplanation::total).max();
            explanation.best = feasible().filter(|n| Some(n.total()) == highest).map(|n| n.node.clone()).collect();
        }
        if matches!(explanation.decision, Decision::Error(_)) {
            explanation.errors = self.errors(&explanation.nodes);
        }
    }

    /// Returns the names of the candidate nodes, if PreFilter excluded others.
    fn narrowed(&self) -> Option<Vec<String>> {
        let base = &self.cache.base;
        let pre_filter = &self.attempt.pre_filter;
        let unknown = pre_filter.unknown_nodes().iter().map(|name| base.interner.resolve(*name));
        let names = pre_filter.nodes()?.iter().map(|&node| base.name(node)).chain(unknown);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort_unstable();
        // A plugin may return the name of a missing node twice.
        names.dedup();
        Some(names)
    }

    /// Returns the verdicts on all nodes, by name. Stores the feasible nodes in the engine.
    fn nodes(&mut self, all_filters: bool) -> Vec<NodeExplanation> {
        let base = &self.cache.base;
        let mut feasible = NodeMask::default();
        feasible.resize(base.infos().len());
        let mut nodes = Vec::new();
        for index in base.alive().iter() {
            let verdicts = self.verdicts(index, all_filters);
            if verdicts.is_empty() {
                feasible.insert(index);
            }
            nodes.push(NodeExplanation {
                node: base.name(index).to_string(),
                verdicts,
                scores: Vec::new(),
                previews: Vec::new(),
                shortage: None,
            });
        }
        nodes.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        self.engine.evaluation.feasible.copy_from(&feasible);
        nodes
    }

    fn verdicts(&mut self, node: NodeIndex, all_filters: bool) -> Vec<Verdict> {
        let pre_filter = &self.attempt.pre_filter;
        let mut verdicts = if pre_filter.nodes().is_some_and(|nodes| nodes.binary_search(&node).is_err()) {
            let reason = excluded_node_reason(&pre_filter.narrowed_by());
            let code = Code::UnschedulableAndUnresolvable;
            vec![Verdict { code, plugin: "", reasons: ReasonList::from_iter([reason.into()]) }]
        } else {
            match all_filters {
                true => self.attempt.all_verdicts(self.pod, self.cache, node),
                false => self.attempt.verdict(self.pod, self.cache, node).into_iter().collect(),
            }
        };
        let is_rejected = !verdicts.is_empty() || self.extender_results.removed_nodes.contains(node);
        if let Some(verdict) = self.extender_results.verdict(node).filter(|_| is_rejected) {
            // Rejections of extenders precede those of plugins.
            verdicts.insert(0, verdict);
            verdicts.truncate(if all_filters { usize::MAX } else { 1 });
        }
        verdicts
    }

    /// Adds the reservations that Reserve would make on the feasible nodes.
    fn preview(&mut self, nodes: &mut [NodeExplanation]) {
        if !self.pod.spec.may_use_devices() {
            return;
        }
        for explained in nodes.iter_mut().filter(|node| node.is_feasible()) {
            explained.previews = previews(&*self.engine.plugins, self.attempt, self.pod, self.cache, &explained.node);
        }
    }

    /// Adds the scores of the feasible nodes. Returns false if scoring fails.
    fn explain_scores(&mut self, nodes: &mut [NodeExplanation]) -> bool {
        let Engine { evaluation, plugins, .. } = &mut *self.engine;
        let PreFilteredPod { compiled, cycle, .. } = &*self.attempt;
        let Ok(scores) = evaluation.breakdown(&**plugins, compiled, cycle, self.cache) else { return false };
        for (index, mut scores) in scores {
            scores.extend(self.extender_results.score(index));
            let name = self.cache.base.name(index);
            if let Ok(at) = nodes.binary_search_by(|n| n.node.as_str().cmp(name)) {
                nodes[at].scores = scores;
            }
        }
        true
    }

    /// Returns the errors with which the attempt can end.
    fn errors(&mut self, nodes: &[NodeExplanation]) -> BTreeSet<String> {
        let verdicts = nodes.iter().filter_map(|node| node.verdicts.first());
        let errors: BTreeSet<String> = verdicts.filter(|v| v.code == Code::Error).map(Verdict::failure).collect();
        if !errors.is_empty() {
            return errors;
        }
        let Engine { evaluation, plugins, .. } = &mut *self.engine;
        let PreFilteredPod { compiled, cycle, .. } = &*self.attempt;
        evaluation.possible_errors(&**plugins, compiled, cycle, self.cache)
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
        // If extenders removed no node, the reasons that they gave are ignored.
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

    /// Returns the sum of the extenders' scores, which is not normalised: 0 for a node that they did not receive,
    /// `None` if they scored no node.
    fn score(&self, node: NodeIndex) -> Option<PluginScore> {
        let added = self.added.get(&node).copied().unwrap_or(0);
        (!self.added.is_empty()).then_some(PluginScore { plugin: EXTENDER, raw: added, normalized: added, weight: 1 })
    }
}
