//! Results of the plugins of a profile in a cached answer, kept by generated code.

mod normalized_scores;
mod promises;
mod score_levels;
mod scratch;
mod updates;

use std::sync::Arc;

pub use normalized_scores::{ClassKernel, NormalizedScores};
pub use promises::{DefaultPromises, Promises};
pub use scratch::{Changes, ScoreChanges, UpdateScratch, VerdictChanges};
pub use updates::{FilterKernel, init_totals, is_dense, is_sparse, reset_totals, score_each, total_each, weighted};

use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::profile::Profile;

/// Inputs of an update of a cached answer.
pub struct UpdateContext<'a, P: Profile> {
    /// The plugins.
    pub plugins: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// The compiled pod.
    pub compiled: &'a Arc<P::Pod>,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
}

impl<P: Profile> Clone for UpdateContext<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Profile> Copy for UpdateContext<'_, P> {}

/// Verdicts and raw scores, plugin by plugin. Generated.
pub trait PluginResults<P: Profile>: Default + Send {
    /// Whether answers are cached at all.
    const IS_CACHED: bool = true;

    /// Resizes the verdicts to this number of node slots.
    fn resize_filters(&mut self, pod: &P::Pod, cycle: &P::Cycle, slots: usize);

    /// Updates filter states and verdicts after the changes in `work`. `work.verdicts` gets the nodes whose verdict may
    /// have changed.
    ///
    /// # Errors
    /// A plugin's update failed, or a filter failed with an error.
    fn update_filters(
        &mut self,
        cx: &UpdateContext<'_, P>,
        cycle: &mut P::Cycle,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Returns the plugins whose cached verdict on a node is a rejection. For debug builds.
    fn rejectors(&self, _pod: &P::Pod, _cycle: &P::Cycle, _node: NodeIndex) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the cached parts of a feasible node's total, each with its plugins. For debug builds.
    fn parts_of_total(&self, _score: &P::Score, _node: NodeIndex) -> Vec<(&'static [&'static str], i64)> {
        Vec::new()
    }

    /// Returns the nodes of one word of a node mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Resizes the scores to this number of node slots.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Updates score states, and the raw scores of nodes that plugins report. `work.scores` gets these nodes.
    ///
    /// # Errors
    /// A plugin's update failed, or a score failed or is out of range.
    fn update_scores(
        &mut self,
        cx: &UpdateContext<'_, P>,
        cycle: &P::Cycle,
        score: &mut P::Score,
        feasible: &NodeMask,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Finds the plugins that are active for a compiled pod, not idle: for a new answer, for new states of Score, and for
    /// another pod with the signature.
    fn find_active(&mut self, pod: &P::Pod, cycle: &P::Cycle, score: Option<&P::Score>);

    /// Removes all scores.
    fn clear_scores(&mut self);

    /// Removes the scores of nodes that are no longer feasible.
    fn remove_infeasible(&mut self, score: &P::Score, feasible: &NodeMask, feasibility_changed: &NodeSet);

    /// Runs every plugin's Score for the nodes in `work.scores` that changed themselves.
    ///
    /// # Errors
    /// A raw score failed, or is out of range.
    fn score(
        &mut self,
        cx: &UpdateContext<'_, P>,
        score: &P::Score,
        feasible: &NodeMask,
        work: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Normalises changed scores, and sets the totals of all scored nodes. Updates other totals whose normalised scores
    /// changed; `work.scores` gets these nodes.
    ///
    /// # Errors
    /// A normalised score is out of range.
    fn total(
        &mut self,
        score: &P::Score,
        feasible: &NodeMask,
        totals: &mut [i64],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Returns the size in bytes.
    fn bytes(&self) -> usize;
}

/// Results of profiles without cached answers: every pod gets a full evaluation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncached;

impl<P: Profile> PluginResults<P> for Uncached {
    const IS_CACHED: bool = false;

    fn resize_filters(&mut self, _: &P::Pod, _: &P::Cycle, _: usize) {}
    fn update_filters(
        &mut self,
        _: &UpdateContext<'_, P>,
        _: &mut P::Cycle,
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn passing(&self, _: &P::Pod, _: &P::Cycle, _: usize) -> u64 {
        0
    }
    fn resize_scores(&mut self, _: &P::Score, _: usize) {}
    fn update_scores(
        &mut self,
        _: &UpdateContext<'_, P>,
        _: &P::Cycle,
        _: &mut P::Score,
        _: &NodeMask,
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn find_active(&mut self, _: &P::Pod, _: &P::Cycle, _: Option<&P::Score>) {}
    fn clear_scores(&mut self) {}
    fn remove_infeasible(&mut self, _: &P::Score, _: &NodeMask, _: &NodeSet) {}
    fn score(
        &mut self,
        _: &UpdateContext<'_, P>,
        _: &P::Score,
        _: &NodeMask,
        _: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn total(
        &mut self,
        _: &P::Score,
        _: &NodeMask,
        _: &mut [i64],
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn bytes(&self) -> usize {
        0
    }
}
