//! The part of a cached answer that belongs to the plugins: the verdicts of each filter, and the scores of each plugin
//! that normalises.
//!
//! The promises of each plugin ([`Incremental`](schedc_core::incremental::Incremental)) determine which results are
//! updated, as in generated code.

use std::sync::Arc;

use schedc_core::incremental::{
    DependsOn, NeedsFullEvaluation, NormalizedScores, PluginResults, UpdateContext, UpdateScratch, score_each, weighted,
};
use schedc_core::model::NodeIndex;
use schedc_core::node_mask::NodeMask;
use schedc_core::node_set::NodeSet;

use crate::cycle_state::{Cycle, Pod, Score};
use crate::erased::{AllColumns, InTreeColumns, Inputs};
use crate::steps::{Pipeline, ScoreStep, Steps};

/// Cached verdicts and scores of all plugins.
#[derive(Default)]
pub struct CachedResults {
    /// The steps that the results belong to.
    steps: Option<Arc<Steps>>,
    /// The nodes that pass, by step of Filter.
    passing: Vec<NodeMask>,
    /// The steps of Filter that are not idle: they can reject a node, now or after a cluster change.
    filters: Vec<usize>,
    /// Scores of the plugins that normalise, by step of Score.
    normalized_scores: Vec<NormalizedScores>,
    score_steps: ActiveSteps,
}

/// Steps of Score of a compiled pod.
#[derive(Default)]
struct ActiveSteps {
    /// Steps whose state a cluster change can affect.
    updated: Vec<usize>,
    /// Steps that do not normalise, and are not idle.
    unnormalized: Vec<usize>,
    /// Steps that normalise, and are not idle.
    normalizing: Vec<usize>,
}

impl ActiveSteps {
    fn find(&mut self, pod: &Pod, score: &Score) {
        let ActiveSteps { updated, unnormalized, normalizing } = self;
        [&mut *updated, unnormalized, normalizing].into_iter().for_each(|steps| steps.clear());
        for (at, step) in pod.steps.score.iter().enumerate() {
            let depends = step.score.depends_on(pod.value(step.position));
            if depends.needs_update() {
                updated.push(at);
            }
            if !score.skips(step.position) && depends != DependsOn::Nothing {
                if step.normalize.is_some() { &mut *normalizing } else { &mut *unnormalized }.push(at);
            }
        }
    }

    /// Returns a node's sum of the weighted scores of the plugins that do not normalise.
    fn unnormalized_sum(
        &self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        node: usize,
    ) -> Result<i64, NeedsFullEvaluation> {
        let pod: &Pod = cx.compiled;
        let columns = InTreeColumns::columns(&cx.cache.state, &cx.cache.base);
        self.unnormalized.iter().try_fold(0, |sum: i64, &at| {
            let ScoreStep { position, weight, score: plugin, .. } = &pod.steps.score[at];
            let raw = plugin.score(pod.value(*position), score.state(*position), &columns, node);
            Ok(sum.wrapping_add(weighted(raw, *weight)?))
        })
    }
}

/// Returns the inputs of a plugin's Score.
fn score_inputs<'a>(cx: &UpdateContext<'a, Pipeline>, score: &'a Score, step: &ScoreStep) -> Inputs<'a> {
    Inputs { pod: cx.compiled.value(step.position), state: score.state(step.position), cache: cx.cache }
}

impl CachedResults {
    /// Sets the totals of nodes.
    fn set_totals(
        &self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        nodes: &NodeSet,
        totals: &mut [i32],
    ) -> Result<(), NeedsFullEvaluation> {
        let normalized_scores = || self.score_steps.normalizing.iter().map(|&at| &self.normalized_scores[at]);
        let common = normalized_scores().fold(0, |sum: i32, scores| sum.wrapping_add(scores.common_in_total()));
        score_each(nodes, totals, common, |node| self.score_steps.unnormalized_sum(cx, score, node))?;
        normalized_scores().for_each(|scores| scores.add_by_node(nodes, totals));
        Ok(())
    }
}

impl PluginResults<Pipeline> for CachedResults {
    fn resize_filters(&mut self, pod: &Pod, _: &Cycle, slots: usize) {
        self.passing.resize_with(pod.steps.filter.len(), NodeMask::default);
        self.filters.iter().for_each(|&at| self.passing[at].resize(slots));
    }

    fn update_filters(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        cycle: &mut Cycle,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let UpdateContext { compiled: pod, cache, .. } = *cx;
        for step in &pod.steps.unread_pre_filter {
            // No filter reads the state, but the plugin may now reject the pod or restrict its nodes.
            let mut passing = NodeMask::default();
            if let Some(slot) = &mut cycle.0[step.position]
                && let Some(mut verdicts) = work.filter_update(DependsOn::Cluster, &mut passing, &cache.base)
            {
                step.plugin.update(pod.value(step.position), &mut slot.state, cache, &mut verdicts)?;
                work.verdicts.reevaluate.clear();
            }
        }
        for &at in &self.filters {
            let (step, passing) = (&pod.steps.filter[at], &mut self.passing[at]);
            let value = pod.value(step.position);
            let mut depends = DependsOn::Node;
            if let (Some(plugin), Some(slot)) = (&step.pre_filter, &mut cycle.0[step.position]) {
                depends = step.plugin.depends_on(value, Some(slot.state.value()));
                if let Some(mut verdicts) = work.filter_update(depends, passing, &cache.base) {
                    plugin.update(value, &mut slot.state, cache, &mut verdicts)?;
                }
            }
            if !cycle.skips(step.position) {
                let inputs = Inputs { pod: value, state: cycle.state(step.position), cache };
                step.plugin.evaluate(inputs, depends, work, passing)?;
            }
        }
        Ok(())
    }

    fn rejectors(&self, pod: &Pod, cycle: &Cycle, node: NodeIndex) -> Vec<&'static str> {
        let rejects = |&&at: &&usize| !cycle.skips(pod.steps.filter[at].position) && !self.passing[at].contains(node);
        self.filters.iter().filter(rejects).map(|&at| pod.steps.filter[at].name).collect()
    }

    fn passing(&self, pod: &Pod, cycle: &Cycle, word: usize) -> u64 {
        let runs = |&&at: &&usize| !cycle.skips(pod.steps.filter[at].position);
        self.filters.iter().filter(runs).fold(u64::MAX, |passing, &at| passing & self.passing[at].words()[word])
    }

    fn resize_scores(&mut self, _: &Score, slots: usize) {
        let steps = self.steps.as_ref().map_or(0, |steps| steps.score.len());
        self.normalized_scores.resize_with(steps, NormalizedScores::default);
        self.score_steps.normalizing.iter().for_each(|&at| self.normalized_scores[at].resize(slots));
    }

    fn update_scores(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        (_, score): (&Cycle, &mut Score),
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let UpdateContext { compiled: pod, cache, .. } = *cx;
        for step in &pod.steps.unread_pre_score {
            if let Some(slot) = &mut score.0[step.position]
                && let Some(mut update) = work.score_update(DependsOn::Cluster, feasible)
            {
                step.plugin.update(pod.value(step.position), &mut *slot.state, cache, &mut update)?;
                work.scores.reevaluate.clear();
            }
        }
        for &at in &self.score_steps.updated {
            let step = &pod.steps.score[at];
            let value = pod.value(step.position);
            let Some(slot) = &mut score.0[step.position] else { continue };
            let Some(mut update) = work.score_update(DependsOn::Cluster, feasible) else { continue };
            if let Some(plugin) = &step.pre_score {
                plugin.update(value, &mut *slot.state, cache, &mut update)?;
            } else if let Some(plugin) = &step.prepare {
                plugin.update(value, &mut *slot.state, cache, &mut update);
            }
            let is_unchanged = update.is_unchanged();
            let Some(plugin) = &step.normalize else {
                work.scores.rescore_unnormalized(feasible, is_unchanged);
                continue;
            };
            if work.scores.have_changed(feasible, plugin.reports_all_scores()) {
                if !score.skips(step.position) {
                    let scores = &mut self.normalized_scores[at];
                    plugin.update_scores(score_inputs(cx, score, step), scores, &work.scores, feasible, totals)?;
                }
                work.scores.reevaluate.clear();
            }
        }
        Ok(())
    }

    fn find_active(&mut self, pod: &Pod, cycle: &Cycle, score: Option<&Score>) {
        self.steps = Some(pod.steps.clone());
        self.filters.clear();
        for (at, step) in pod.steps.filter.iter().enumerate() {
            let depends = step.plugin.depends_on(pod.value(step.position), cycle.state(step.position));
            let is_idle = match &step.pre_filter {
                Some(_) => cycle.skips(step.position) && !depends.needs_update(),
                None => depends == DependsOn::Nothing,
            };
            if !is_idle {
                self.filters.push(at);
            }
        }
        if let Some(score) = score {
            self.score_steps.find(pod, score);
        }
    }

    fn clear_scores(&mut self) {
        self.normalized_scores.iter_mut().for_each(NormalizedScores::clear);
    }

    fn remove_infeasible(&mut self, _: &Score, feasible: &NodeMask, feasibility_changed: &NodeSet, totals: &mut [i32]) {
        for &at in &self.score_steps.normalizing {
            self.normalized_scores[at].remove_infeasible(feasible, feasibility_changed, totals);
        }
    }

    fn score(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        for &at in &self.score_steps.normalizing {
            let step = &cx.compiled.steps.score[at];
            let Some(plugin) = &step.normalize else { continue };
            let scores = &mut self.normalized_scores[at];
            plugin.score_nodes(score_inputs(cx, score, step), scores, &work.scores, feasible, totals)?;
        }
        Ok(())
    }

    fn total(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let Some(steps) = &self.steps else { return Err(NeedsFullEvaluation) };
        for &at in &self.score_steps.normalizing {
            let (step, scores) = (&steps.score[at], &mut self.normalized_scores[at]);
            let Some(plugin) = &step.normalize else { continue };
            plugin.normalize_scores(scores, step.weight, feasible, totals, &mut work.scores.retotalled)?;
        }
        self.set_totals(cx, score, work.scores.nodes_to_score_base(), totals)?;
        self.set_totals(cx, score, &work.scores.rescored_unnormalized, totals)
    }

    fn find_normalized(&mut self, has_property: impl Fn(&NormalizedScores) -> bool) -> Option<&mut NormalizedScores> {
        self.normalized_scores.iter_mut().find(|scores| has_property(scores))
    }

    fn bytes(&self) -> usize {
        self.passing.iter().map(NodeMask::bytes).sum::<usize>()
            + self.normalized_scores.iter().map(NormalizedScores::bytes).sum::<usize>()
    }
}
