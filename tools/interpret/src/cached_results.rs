//! The part of a cached answer that belongs to the plugins: one verdict for all filters together, and a column of raw scores for
//! each step of Score.
//!
//! Generated code keeps the verdicts of each filter and follows the promises of each plugin
//! ([`Incremental`](schedc_core::incremental::Incremental)). Here, every PreFilter, PreScore and PrepareScore runs again for each pod,
//! which is correct for every plugin. Filter and Score run for changed nodes, and for all nodes if a state differs.

use std::sync::Arc;

use schedc_core::extension_points::Extent;
use schedc_core::incremental::{DependsOn, NeedsFullEvaluation, PluginResults, UpdateContext, UpdateScratch};
use schedc_core::node_mask::NodeMask;
use schedc_core::node_set::NodeSet;
use schedc_core::profile::{Profile, ScoreRange};

use crate::cycle_state::{Cycle, Extents, Pod, Score};
use crate::pipeline::Pipeline;
use crate::steps::Steps;

/// Verdicts and raw scores of all nodes.
#[derive(Default)]
pub struct CachedResults {
    /// The nodes that pass every filter.
    passing: NodeMask,
    /// Number of node slots with scores.
    slots: usize,
    columns: Vec<ScoreColumn>,
    /// Extremes of the raw scores of feasible nodes.
    extents: Extents,
    /// The extremes that the totals belong to; `None` for a new answer.
    of_totals: Option<Extents>,
    /// The steps that the columns belong to.
    steps: Option<Arc<Steps>>,
}

/// Raw scores of one step of Score.
#[derive(Default)]
struct ScoreColumn {
    raw: Vec<i64>,
    /// Whether the extremes must be searched again: a node with one of them got another score, or is no longer feasible.
    is_extent_stale: bool,
}

impl CachedResults {
    /// Runs every Score for nodes.
    fn score_nodes(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        nodes: &NodeSet,
    ) -> Result<(), NeedsFullEvaluation> {
        let pod: &Pod = cx.compiled;
        let columns = Pipeline::columns(&cx.cache.state, &cx.cache.base);
        self.columns.resize_with(pod.steps.score.len(), ScoreColumn::default);
        for (at, step) in pod.steps.score.iter().enumerate().filter(|(_, step)| !score.skips(step.position)) {
            let (column, extent) = (&mut self.columns[at], &mut self.extents.0[at]);
            column.raw.resize(self.slots, 0);
            for node in nodes.iter() {
                let state = score.state(step.position);
                let raw = step.score.score(pod.value(step.position), state, &columns, node.get());
                let raw = raw.map_err(|_| NeedsFullEvaluation)?;
                let before = std::mem::replace(&mut column.raw[node.get()], raw);
                if let Some(plugin) = &step.normalize {
                    column.is_extent_stale |= before != raw && is_extreme(*extent, before);
                    plugin.include(extent, raw);
                }
            }
        }
        Ok(())
    }

    /// Searches stale extremes again.
    fn update_extents(&mut self, steps: &Steps, score: &Score, feasible: &NodeMask) {
        for (at, step) in steps.score.iter().enumerate() {
            let Some(column) = self.columns.get_mut(at) else { return };
            if let Some(plugin) =
                step.normalize.as_ref().filter(|_| column.is_extent_stale && !score.skips(step.position))
            {
                self.extents.0[at] = plugin.extent(&column.raw, feasible);
                column.is_extent_stale = false;
            }
        }
    }

    /// Sets the totals of nodes.
    fn total_nodes(
        &self,
        steps: &Steps,
        score: &Score,
        nodes: impl Iterator<Item = usize>,
        totals: &mut [i64],
    ) -> Result<(), NeedsFullEvaluation> {
        let mut range = ScoreRange::default();
        for node in nodes {
            let mut total: i64 = 0;
            for (at, step) in steps.score.iter().enumerate().filter(|(_, step)| !score.skips(step.position)) {
                let value = range.check(step.normalized(&self.extents, at, self.columns[at].raw[node]));
                total = total.wrapping_add(value.wrapping_mul(step.weight));
            }
            totals[node] = total;
        }
        if range.holds() { Ok(()) } else { Err(NeedsFullEvaluation) }
    }
}

fn is_extreme(extent: Extent, raw: i64) -> bool {
    raw == extent.max || raw == extent.min
}

impl PluginResults<Pipeline> for CachedResults {
    fn resize_filters(&mut self, _: &Pod, _: &Cycle, slots: usize) {
        self.passing.resize(slots);
    }

    fn update_filters(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        cycle: &mut Cycle,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let UpdateContext { compiled: pod, cache, .. } = *cx;
        let alive = cache.base.alive();
        if let Some(mut verdicts) = work.filter_update(DependsOn::Cluster, &mut self.passing, &cache.base) {
            for step in &pod.steps.pre_filter {
                if let Some(slot) = &mut cycle.0[step.position] {
                    step.plugin.update(pod.value(step.position), slot, cache, &mut verdicts)?;
                }
            }
        }
        let columns = Pipeline::columns(&cache.state, &cache.base);
        work.evaluate_together(&mut self.passing, alive, |node| {
            match Pipeline::filter::<0>(pod, cycle, columns, node) {
                Ok(()) => Ok(true),
                Err(rejection) if rejection.code.is_rejected() => Ok(false),
                Err(_) => Err(NeedsFullEvaluation),
            }
        })
    }

    fn passing(&self, _: &Pod, _: &Cycle, word: usize) -> u64 {
        self.passing.words()[word]
    }

    fn resize_scores(&mut self, _: &Score, slots: usize) {
        self.slots = slots;
    }

    fn update_scores(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        _: &Cycle,
        score: &mut Score,
        feasible: &NodeMask,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let UpdateContext { compiled: pod, cache, .. } = *cx;
        let Some(mut scores) = work.score_update(DependsOn::Cluster, feasible) else { return Ok(()) };
        for step in &pod.steps.pre_score {
            if let Some(slot) = &mut score.0[step.position] {
                step.plugin.update(pod.value(step.position), slot, cache, &mut scores)?;
            }
        }
        for step in &pod.steps.score {
            if let (Some(plugin), Some(slot)) = (&step.prepare, &mut score.0[step.position]) {
                plugin.update(pod.value(step.position), &mut slot.state, cache, &mut scores);
            }
        }
        if work.scores.have_changed(feasible) {
            self.score_nodes(cx, score, &work.scores.reevaluate)?;
            work.scores.reevaluate.clear();
        }
        Ok(())
    }

    fn find_idle(&mut self, _: &Pod, _: &Cycle, _: Option<&Score>) {}

    fn clear_scores(&mut self) {
        self.columns.clear();
        self.extents = Extents::default();
        self.of_totals = None;
    }

    fn remove_infeasible(&mut self, _: &Score, feasible: &NodeMask, feasibility_changed: &NodeSet) {
        for node in feasibility_changed.iter().filter(|&node| !feasible.contains(node)) {
            for (column, extent) in self.columns.iter_mut().zip(&self.extents.0) {
                column.is_extent_stale |= column.raw.get(node.get()).is_some_and(|&raw| is_extreme(*extent, raw));
            }
        }
    }

    fn score(
        &mut self,
        cx: &UpdateContext<'_, Pipeline>,
        score: &Score,
        _: &NodeMask,
        work: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        self.steps.get_or_insert_with(|| cx.compiled.steps.clone());
        self.score_nodes(cx, score, &work.scores.to_score)
    }

    fn total(
        &mut self,
        score: &Score,
        feasible: &NodeMask,
        totals: &mut [i64],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let Some(steps) = self.steps.clone() else { return Err(NeedsFullEvaluation) };
        self.update_extents(&steps, score, feasible);
        if self.of_totals.is_some_and(|extents| extents == self.extents) {
            let scores = &work.scores;
            let nodes = scores.to_score.iter().chain(scores.rescored.iter());
            return self.total_nodes(&steps, score, nodes.map(|node| node.get()), totals);
        }
        self.of_totals = Some(self.extents);
        work.scores.retotalled.insert_all(feasible);
        self.total_nodes(&steps, score, feasible.iter().map(|node| node.get()), totals)
    }

    fn bytes(&self) -> usize {
        let scores: usize = self.columns.iter().map(|column| column.raw.capacity() * size_of::<i64>()).sum();
        self.passing.bytes() + scores
    }
}
