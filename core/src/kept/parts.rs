//! The parts of a kept answer, which generated code keeps for the plugins of a profile.

use super::{Anew, Changed};
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

    /// Brings filter states and verdicts up to date. `work` says which nodes changed, and takes those whose verdicts may be
    /// other ones.
    ///
    /// # Errors
    /// A plugin cannot, or a filter failed with an error.
    fn update_filters(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &mut P::Cycle,
        cache: &Cache<P::State>,
        work: &mut FilterWork<'_>,
    ) -> Result<(), Anew>;

    /// The nodes of one word of a mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Makes room for the scores of so many slots of nodes.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Asks every plugin's Score about nodes, which are feasible.
    ///
    /// # Errors
    /// A score failed or is out of range.
    fn score(&mut self, pod: &P::Pod, score: &P::Score, cache: &Cache<P::State>, fresh: Fresh<'_>) -> Result<(), Anew>;

    /// Brings score states up to date, and the raw scores of nodes that plugins name. `work.scored` takes these.
    ///
    /// # Errors
    /// A plugin cannot, or a score failed or is out of range.
    fn update_scores(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        score: &mut P::Score,
        cache: &Cache<P::State>,
        work: &mut ScoreWork<'_>,
    ) -> Result<(), Anew>;

    /// Forgets all scores.
    fn clear_scores(&mut self);

    /// Forgets the scores of those of the flipped nodes that are not feasible any more.
    fn retire(&mut self, score: &P::Score, feasible: &Mask, flipped: &Touched);

    /// Normalises again what has to be, once nodes have their raw scores. Totals follow, apart from those of nodes that were
    /// just scored; `retotalled` takes the nodes.
    ///
    /// # Errors
    /// A normalised score is out of range.
    fn settle(
        &mut self,
        score: &P::Score,
        feasible: &Mask,
        totals: &mut [i64],
        retotalled: &mut Touched,
    ) -> Result<(), Anew>;

    /// Sets the totals of nodes: words of a mask, and which of their nodes.
    fn total(&self, score: &P::Score, nodes: impl Iterator<Item = (usize, u64)>, totals: &mut [i64]);

    /// What it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// What bringing verdicts up to date works with.
#[derive(Debug)]
pub struct FilterWork<'a> {
    /// What changed.
    pub changed: Changed<'a>,
    /// Those of these nodes that are there.
    pub touched: &'a Touched,
    /// Those of them that came or changed themselves: on the others, pods came and went.
    pub themselves: &'a Touched,
    /// Takes the nodes whose verdict may be another one.
    pub dirty: &'a mut Touched,
    /// Empty between plugins: takes the nodes that one of them asks for.
    pub again: &'a mut Touched,
    /// The slots that hold a node.
    pub alive: &'a Mask,
}

/// Nodes that Score is asked about, whatever plugins say.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<'a> {
    /// Those whose columns changed, and those that became feasible.
    pub nodes: &'a Touched,
    /// The same without those where pods came and went, and that is all.
    pub themselves: &'a Touched,
}

/// What bringing scores up to date works with.
#[derive(Debug)]
pub struct ScoreWork<'a> {
    /// What changed.
    pub changed: Changed<'a>,
    /// The feasible nodes.
    pub feasible: &'a Mask,
    /// The nodes that became feasible, and those that ceased to be.
    pub flipped: &'a Touched,
    /// Feasible nodes that every plugin's Score is asked about.
    pub fresh: &'a Touched,
    /// Takes other nodes that get other raw scores.
    pub scored: &'a mut Touched,
    /// Empty between plugins: takes the nodes that one of them asks for.
    pub again: &'a mut Touched,
    /// Takes those that the plugins ask for that do not normalise, together.
    pub base: &'a mut Touched,
    /// Whether the classes of one plugin may have other raw scores.
    pub moved: bool,
}

impl ScoreWork<'_> {
    /// Leaves in `again` what has to be scored: feasible nodes that are not fresh.
    pub(super) fn narrow(&mut self) {
        self.again
            .retain(|word, bits| bits & self.feasible.words().get(word).copied().unwrap_or(0) & !self.fresh.word(word));
        self.scored.extend(self.again);
    }
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
        _: &mut FilterWork<'_>,
    ) -> Result<(), Anew> {
        Err(Anew)
    }
    fn passing(&self, _: &P::Pod, _: &P::Cycle, _: usize) -> u64 {
        0
    }
    fn resize_scores(&mut self, _: &P::Score, _: usize) {}
    fn score(&mut self, _: &P::Pod, _: &P::Score, _: &Cache<P::State>, _: Fresh<'_>) -> Result<(), Anew> {
        Err(Anew)
    }
    fn update_scores(
        &mut self,
        _: &P,
        _: &P::Pod,
        _: &P::Cycle,
        _: &mut P::Score,
        _: &Cache<P::State>,
        _: &mut ScoreWork<'_>,
    ) -> Result<(), Anew> {
        Err(Anew)
    }
    fn clear_scores(&mut self) {}
    fn retire(&mut self, _: &P::Score, _: &Mask, _: &Touched) {}
    fn settle(&mut self, _: &P::Score, _: &Mask, _: &mut [i64], _: &mut Touched) -> Result<(), Anew> {
        Err(Anew)
    }
    fn total(&self, _: &P::Score, _: impl Iterator<Item = (usize, u64)>, _: &mut [i64]) {}
    fn bytes(&self) -> usize {
        0
    }
}
