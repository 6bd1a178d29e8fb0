//! The parts of a kept answer, which generated code keeps for the plugins of a profile.

use super::{NeedsFullEvaluation, UpdateScratch};
use crate::cache::Cache;
use crate::node_mask::NodeMask;
use crate::node_set::NodeSet;
use crate::profile::Profile;

/// Verdicts and raw scores, plugin by plugin. Generated.
pub trait PluginResults<P: Profile>: Default + Send {
    /// Whether answers are kept at all.
    const IS_CACHED: bool = true;

    /// Makes room for the verdicts on so many slots of nodes.
    fn resize_filters(&mut self, pod: &P::Pod, cycle: &P::Cycle, slots: usize);

    /// Asks every filter about nodes. `dirty` takes those whose verdict is another one.
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

    /// Updates filter states and verdicts. `work.dirty` takes the nodes whose verdict may be another one.
    ///
    /// # Errors
    /// A plugin cannot, or a filter failed with an error.
    fn update_filters(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &mut P::Cycle,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// The nodes of one word of a mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Makes room for the scores of so many slots of nodes.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Updates score states, and the raw scores of nodes that plugins name. `work.rescored` takes these.
    ///
    /// # Errors
    /// A plugin cannot, or a score failed or is out of range.
    #[expect(clippy::too_many_arguments, reason = "what plugins read, and what they update")]
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

    /// Forgets all scores.
    fn clear_scores(&mut self);

    /// Forgets the scores of those of the flipped nodes that are not feasible any more.
    fn remove_infeasible(&mut self, score: &P::Score, feasible: &NodeMask, feasibility_changed: &NodeSet);

    /// Asks every plugin's Score about the fresh nodes, normalises again what has to be, and sets the totals of fresh and
    /// scored nodes. Other totals follow where a normalised score is another one; `work.reevaluate` takes these nodes.
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

    /// What it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// For profiles whose answers are not kept: every pod is evaluated anew.
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
