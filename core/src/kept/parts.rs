//! The parts of a kept answer, which generated code keeps for the plugins of a profile.

use super::{Anew, UpdateScratch};
use crate::cache::Cache;
use crate::mask::Mask;
use crate::profile::Profile;
use crate::touched::Touched;

/// Verdicts and raw scores, plugin by plugin. Generated.
pub trait Parts<P: Profile>: Default + Send {
    /// Whether answers are kept at all.
    const KEEPS: bool = true;

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
        nodes: &Touched,
        dirty: &mut Touched,
    ) -> Result<(), Anew>;

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
    ) -> Result<(), Anew>;

    /// The nodes of one word of a mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Makes room for the scores of so many slots of nodes.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Updates score states, and the raw scores of nodes that plugins name. `work.scored` takes these.
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
        feasible: &Mask,
        work: &mut UpdateScratch,
    ) -> Result<(), Anew>;

    /// Forgets all scores.
    fn clear_scores(&mut self);

    /// Forgets the scores of those of the flipped nodes that are not feasible any more.
    fn retire(&mut self, score: &P::Score, feasible: &Mask, flipped: &Touched);

    /// Asks every plugin's Score about the fresh nodes, normalises again what has to be, and sets the totals of fresh and
    /// scored nodes. Other totals follow where a normalised score is another one; `work.again` takes these nodes.
    ///
    /// # Errors
    /// A score failed, or is out of range, raw or normalised.
    fn score(
        &mut self,
        pod: &P::Pod,
        score: &P::Score,
        cache: &Cache<P::State>,
        feasible: &Mask,
        totals: &mut [i64],
        work: &mut UpdateScratch,
    ) -> Result<(), Anew>;

    /// What it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// For profiles whose answers are not kept: every pod is evaluated anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotKept;

impl<P: Profile> Parts<P> for NotKept {
    const KEEPS: bool = false;

    fn resize_filters(&mut self, _: &P::Pod, _: &P::Cycle, _: usize) {}
    fn filter(
        &mut self,
        _: &P::Pod,
        _: &P::Cycle,
        _: P::Columns<'_>,
        _: &Touched,
        _: &mut Touched,
    ) -> Result<(), Anew> {
        Err(Anew)
    }
    fn update_filters(
        &mut self,
        _: &P,
        _: &P::Pod,
        _: &mut P::Cycle,
        _: &Cache<P::State>,
        _: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        Err(Anew)
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
        _: &Mask,
        _: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        Err(Anew)
    }
    fn clear_scores(&mut self) {}
    fn retire(&mut self, _: &P::Score, _: &Mask, _: &Touched) {}
    fn score(
        &mut self,
        _: &P::Pod,
        _: &P::Score,
        _: &Cache<P::State>,
        _: &Mask,
        _: &mut [i64],
        _: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        Err(Anew)
    }
    fn bytes(&self) -> usize {
        0
    }
}
