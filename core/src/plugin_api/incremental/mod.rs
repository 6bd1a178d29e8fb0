//! Updates of one plugin's part of a cached answer, by the plugin.

mod excluded_from_signature;
mod promises;

pub use excluded_from_signature::ExcludedFromSignature;
pub use promises::{DependsOn, Incremental};

use crate::model::NodeIndex;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;

/// Error of an update: a full evaluation from PreFilter on is necessary. Returning this error is always correct, but
/// slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsFullEvaluation;

/// Changes on nodes since the last update.
#[derive(Clone, Copy, Debug)]
pub struct NodeChanges<'a> {
    /// Nodes whose columns changed, each once. Kernels always run for them, unless the plugin promises to report them
    /// ([`Incremental::REPORTS_ALL_VERDICTS`], [`Incremental::REPORTS_ALL_SCORES`]). Some may no longer exist.
    pub nodes: &'a [NodeIndex],
    /// Whether a node was added, removed or changed, for example its labels or taints. If not, only pods were added or
    /// removed.
    pub node_objects: bool,
}

/// A filter's cached verdicts, updated together with its state.
#[derive(Debug)]
pub struct FilterUpdate<'a> {
    /// Changes on nodes since the last update.
    pub changed: NodeChanges<'a>,
    mask: &'a mut NodeMask,
    reevaluate: &'a mut NodeSet,
    feasibility_changed: &'a mut NodeSet,
    alive: &'a NodeMask,
}

impl<'a> FilterUpdate<'a> {
    /// Makes an update. `mask` has the nodes that pass. `reevaluate` receives the nodes to evaluate again,
    /// `feasibility_changed` those whose verdict changed. `alive` has the nodes that exist.
    #[inline(always)]
    pub fn new(
        changed: NodeChanges<'a>,
        mask: &'a mut NodeMask,
        reevaluate: &'a mut NodeSet,
        feasibility_changed: &'a mut NodeSet,
        alive: &'a NodeMask,
    ) -> Self {
        FilterUpdate { changed, mask, reevaluate, feasibility_changed, alive }
    }

    /// Requires that Filter runs again for every node.
    pub fn reevaluate_all(&mut self) {
        self.reevaluate.insert_all(self.alive);
    }

    /// Requires that Filter runs again for a node.
    #[inline]
    pub fn reevaluate(&mut self, node: NodeIndex) {
        self.reevaluate.insert(node);
    }

    /// Requires that Filter runs again for the nodes of one word of a node mask.
    #[inline]
    pub fn reevaluate_word(&mut self, word: usize, bits: u64) {
        self.reevaluate.insert_word(word, bits);
    }

    /// Sets the verdicts on the nodes in `bits`, which are nodes of one word of the node mask: those in `passing` pass.
    /// Verdicts on nodes with changed columns have no effect if Filter runs for these nodes.
    #[inline]
    pub fn set_word(&mut self, word: usize, bits: u64, passing: u64) {
        let Some(cached) = self.mask.words_mut().get_mut(word) else { return };
        let new = *cached & !bits | passing & bits;
        self.feasibility_changed.insert_word(word, *cached ^ new);
        *cached = new;
    }
}

/// A plugin's cached raw scores, updated together with its state.
#[derive(Debug)]
pub struct ScoreUpdate<'a> {
    /// Changes on nodes since the last update. Score always runs for changed nodes that are feasible, unless the plugin
    /// promises to report them ([`Incremental::REPORTS_ALL_SCORES`]).
    pub changed: NodeChanges<'a>,
    /// The feasible nodes.
    pub feasible: &'a NodeMask,
    /// Nodes whose feasibility changed. Score always runs for those that became feasible.
    pub feasibility_changed: &'a NodeSet,
    /// Receives the nodes for which Score must run again. Infeasible nodes have no effect.
    pub reevaluate: &'a mut NodeSet,
    classes_changed: &'a mut bool,
    is_unchanged: bool,
}

impl<'a> ScoreUpdate<'a> {
    /// Makes an update. `reevaluate` receives the nodes to score again, `classes_changed` whether raw scores of classes
    /// may have changed.
    #[inline(always)]
    pub fn new(
        changed: NodeChanges<'a>,
        feasible: &'a NodeMask,
        feasibility_changed: &'a NodeSet,
        reevaluate: &'a mut NodeSet,
        classes_changed: &'a mut bool,
    ) -> Self {
        ScoreUpdate { changed, feasible, feasibility_changed, reevaluate, classes_changed, is_unchanged: false }
    }

    /// Requires that Score runs again for every feasible node.
    pub fn reevaluate_all(&mut self) {
        self.reevaluate.insert_all(self.feasible);
        self.mark_classes_changed();
    }

    /// Marks the raw scores of classes as changed ([`Incremental::score_of_class`]). The raw score of each class is
    /// computed again; no node is evaluated.
    #[inline]
    pub fn mark_classes_changed(&mut self) {
        *self.classes_changed = true;
    }

    /// Promises that only the scores of nodes with changed columns may have changed. The framework can then reuse the
    /// earlier score of an infeasible node when the node becomes feasible. Without this promise, it computes the score
    /// again.
    #[inline]
    pub fn mark_unchanged(&mut self) {
        self.is_unchanged = true;
    }

    /// Returns whether [`ScoreUpdate::mark_unchanged`] was called.
    #[inline]
    pub fn is_unchanged(&self) -> bool {
        self.is_unchanged
    }
}
