//! Results of the plugins of a profile in a cached answer, kept by generated code.

mod normalized_scores;
mod score_levels;
mod scratch;
mod updates;

pub use normalized_scores::NormalizedScores;
pub use scratch::UpdateScratch;
pub use updates::{
    evaluate_changed_nodes, evaluate_nodes, init_totals, is_sparse, nodes_to_score, nodes_to_score_after_pre_score,
    reset_totals, score_each, total_each, update_pre_filter_state, update_pre_score_state, update_prepared_state,
    update_verdicts, weighted,
};

use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::profile::Profile;

/// Verdicts and raw scores, plugin by plugin. Generated.
pub trait PluginResults<P: Profile>: Default + Send {
    /// Whether answers are cached at all.
    const IS_CACHED: bool = true;

    /// Resizes the verdicts to this number of node slots.
    fn resize_filters(&mut self, pod: &P::Pod, cycle: &P::Cycle, slots: usize);

    /// Runs every filter for nodes. `dirty` receives those whose verdict changed.
    ///
    /// # Errors
    /// A filter failed with an error.
    fn filter(
        &mut self,
        pod: &P::Pod,
        cycle: &P::Cycle,
        columns: P::Columns<'_>,
        nodes: &NodeSet,
        dirty: &mut NodeSet,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Updates filter states and verdicts. `work.dirty` receives the nodes whose verdict may have changed.
    ///
    /// # Errors
    /// A plugin's update failed, or a filter failed with an error.
    fn update_filters(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &mut P::Cycle,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Returns the nodes of one word of a node mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Resizes the scores to this number of node slots.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Updates score states, and the raw scores of nodes that plugins return. `work.rescored` receives these.
    ///
    /// # Errors
    /// A plugin's update failed, or a score failed or is out of range.
    #[expect(clippy::too_many_arguments, reason = "inputs and outputs of plugins")]
    fn update_scores(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        score: &mut P::Score,
        cache: &Cache<P::State>,
        feasible: &NodeMask,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Removes all scores.
    fn clear_scores(&mut self);

    /// Removes the scores of nodes that are no longer feasible.
    fn remove_infeasible(&mut self, score: &P::Score, feasible: &NodeMask, feasibility_changed: &NodeSet);

    /// Runs every plugin's Score for the new feasible nodes and normalises changed scores. Sets the totals of new and
    /// rescored nodes. Updates other totals whose normalised scores changed; `work.reevaluate` receives these nodes.
    ///
    /// # Errors
    /// A score failed, or is out of range, raw or normalised.
    fn score(
        &mut self,
        pod: &P::Pod,
        score: &P::Score,
        cache: &Cache<P::State>,
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
    fn filter(
        &mut self,
        _: &P::Pod,
        _: &P::Cycle,
        _: P::Columns<'_>,
        _: &NodeSet,
        _: &mut NodeSet,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn update_filters(
        &mut self,
        _: &P,
        _: &P::Pod,
        _: &mut P::Cycle,
        _: &Cache<P::State>,
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
        _: &P,
        _: &P::Pod,
        _: &P::Cycle,
        _: &mut P::Score,
        _: &Cache<P::State>,
        _: &NodeMask,
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn clear_scores(&mut self) {}
    fn remove_infeasible(&mut self, _: &P::Score, _: &NodeMask, _: &NodeSet) {}
    fn score(
        &mut self,
        _: &P::Pod,
        _: &P::Score,
        _: &Cache<P::State>,
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
