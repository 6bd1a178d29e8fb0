//! Answers that are kept and brought up to date: pods of one template ask the same question again, and little has changed
//! since.
//!
//! The parts of an answer are a [`Mask`] of passing nodes for each filter, the raw scores, the totals, and a tree of the
//! best totals. A plugin whose state depends on the cluster brings it up to date and says which nodes are concerned
//! ([`PreFilterPlugin::update`](crate::extension_points::PreFilterPlugin::update),
//! [`PreScorePlugin::update`](crate::extension_points::PreScorePlugin::update)); kernels are asked again about those and
//! about nodes whose columns changed. The outcome equals that of a full evaluation.
//!
//! Pods share an answer if their compiled forms are equal. What is [`Individual`] in those may differ all the same, so
//! plugins and kernels are always given the compiled pod at hand, never an equal one that came before it.

mod individual;

pub use individual::Individual;

use crate::mask::Mask;
use crate::model::NodeIndex;
use crate::touched::Touched;

mod answer;
mod diagnosed;
mod levels;
mod nominations;
mod normalized;
mod parts;
mod passes;
mod scratch;
mod signatures;
mod tally;
mod tree;

pub(crate) use answer::Kept;
pub(crate) use diagnosed::{Diagnosed, Verdicts as VerdictsOfNodes};
pub use nominations::Nominations;
pub use normalized::Normalized;
pub use parts::{NotKept, Parts};
pub use passes::{
    are_few, begin_totals, begin_totals_at_zero, filter, filter_changed, new_after_pre_score, new_to_score, score_each,
    total_each, update_facts, update_filter, update_score, update_state, weighted,
};
pub use scratch::UpdateScratch;
pub(crate) use signatures::{Read, SignatureId, Signatures, compile};
pub use tally::Tally;

/// A kept answer cannot be brought up to date: the pod is evaluated anew, from PreFilter on. Always correct, and slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anew;

/// What has changed on nodes since an answer was given.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    /// Nodes whose columns changed, each once. Kernels are asked about them in any case. Some may be gone.
    pub nodes: &'a [NodeIndex],
    /// Whether a node came, went, or changed itself: its labels, taints and the like. If not, pods came and went, and that
    /// is all.
    pub themselves: bool,
}

/// A filter's verdicts of an earlier answer, to be brought up to date together with its state.
#[derive(Debug)]
pub struct Verdicts<'a> {
    /// What has changed on nodes since.
    pub changed: Changed<'a>,
    mask: &'a mut Mask,
    again: &'a mut Touched,
    flipped: &'a mut Touched,
    alive: &'a Mask,
}

impl<'a> Verdicts<'a> {
    /// `mask` are the nodes that pass; `again` takes those to ask again, `flipped` those whose verdict is another one.
    #[inline(always)]
    pub fn new(
        changed: Changed<'a>,
        mask: &'a mut Mask,
        again: &'a mut Touched,
        flipped: &'a mut Touched,
        alive: &'a Mask,
    ) -> Self {
        Verdicts { changed, mask, again, flipped, alive }
    }

    /// Filter must be asked again about every node.
    pub fn ask_all(&mut self) {
        self.again.insert_all(self.alive);
    }

    /// Filter must be asked again about a node.
    #[inline]
    pub fn ask(&mut self, node: NodeIndex) {
        self.again.insert(node);
    }

    /// Filter must be asked again about the nodes of one word of a mask.
    #[inline]
    pub fn ask_word(&mut self, word: usize, bits: u64) {
        self.again.insert_word(word, bits);
    }

    /// The plugin knows the verdicts on the nodes `bits` of one word of a mask: `passing` of them pass. What is said here of
    /// nodes whose columns changed does not count, Filter is asked about them.
    #[inline]
    pub fn set_word(&mut self, word: usize, bits: u64, passing: u64) {
        let Some(kept) = self.mask.words_mut().get_mut(word) else { return };
        let new = *kept & !bits | passing & bits;
        self.flipped.insert_word(word, *kept ^ new);
        *kept = new;
    }
}

/// A plugin's raw scores of an earlier answer, to be brought up to date together with its state.
#[derive(Debug)]
pub struct Rescore<'a> {
    /// What has changed on nodes since. Score is asked about those that are feasible in any case.
    pub changed: Changed<'a>,
    /// The feasible nodes.
    pub feasible: &'a Mask,
    /// Those that became feasible since, and those that ceased to be. Score is asked about the former in any case.
    pub flipped: &'a Touched,
    /// Takes the nodes about which Score must be asked again. Those that are not feasible do not count.
    pub again: &'a mut Touched,
    moved: &'a mut bool,
}

impl<'a> Rescore<'a> {
    /// `again` takes the nodes to be scored again, `moved` whether classes may have other raw scores.
    #[inline(always)]
    pub fn new(
        changed: Changed<'a>,
        feasible: &'a Mask,
        flipped: &'a Touched,
        again: &'a mut Touched,
        moved: &'a mut bool,
    ) -> Self {
        Rescore { changed, feasible, flipped, again, moved }
    }

    /// Score must be asked again about every feasible node.
    pub fn ask_all(&mut self) {
        self.again.insert_all(self.feasible);
        self.classes_moved();
    }

    /// Classes may have other raw scores
    /// ([`NormalizeScore::score_of_class`](crate::extension_points::NormalizeScore::score_of_class)). All are asked about
    /// again; no node for that reason.
    #[inline]
    pub fn classes_moved(&mut self) {
        *self.moved = true;
    }
}
