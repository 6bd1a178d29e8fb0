//! Results of the plugins of a profile in a cached answer, kept by generated code.

mod normalized_scores;
mod promises;
mod score_levels;
pub(crate) mod scratch;
mod updates;

pub use normalized_scores::{ClassKernel, NormalizedScores, SeparateLevels};
pub use promises::{DefaultPromises, Promises};
pub use scratch::{Changes, ScoreChanges, UpdateScratch, VerdictChanges};
pub use updates::{FilterKernel, is_sparse, score_each, weighted};

use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::profile::Profile;
pub use crate::profile_api::profile::{PluginResults, UpdateContext};

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
        _: (&P::Cycle, &mut P::Score),
        _: &NodeMask,
        _: &mut [i32],
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn find_active(&mut self, _: &P::Pod, _: &P::Cycle, _: Option<&P::Score>) {}
    fn clear_scores(&mut self) {}
    fn remove_infeasible(&mut self, _: &P::Score, _: &NodeMask, _: &NodeSet, _: &mut [i32]) {}
    fn score(
        &mut self,
        _: &UpdateContext<'_, P>,
        _: &P::Score,
        _: &NodeMask,
        _: &mut [i32],
        _: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn total(
        &mut self,
        _: &UpdateContext<'_, P>,
        _: &P::Score,
        _: &NodeMask,
        _: &mut [i32],
        _: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        Err(NeedsFullEvaluation)
    }
    fn bytes(&self) -> usize {
        0
    }
}
