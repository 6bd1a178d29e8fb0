//! Answers that are kept and brought up to date: pods of one template ask the same question again, and little has changed
//! since.
//!
//! The parts of an answer are a [`NodeMask`] of passing nodes for each filter, the raw scores, the totals, and a tree of the
//! best totals. A plugin whose state depends on the cluster brings it up to date and says which nodes are concerned
//! ([`PreFilterPlugin::update`](crate::extension_points::PreFilterPlugin::update),
//! [`PreScorePlugin::update`](crate::extension_points::PreScorePlugin::update)); kernels are asked again about those and
//! about nodes whose columns changed. The outcome equals that of a full evaluation.
//!
//! Pods share an answer if their compiled forms are equal. What is [`ExcludedFromSignature`] in those may differ all the same, so
//! plugins and kernels are always given the compiled pod at hand, never an equal one that came before it.

mod excluded_from_signature;

pub use excluded_from_signature::ExcludedFromSignature;

use crate::model::NodeIndex;
use crate::node_mask::NodeMask;
use crate::node_set::NodeSet;

mod best_tree;
mod cached_answer;
mod cached_diagnosis;
mod nominated_nodes;
mod normalized_scores;
mod plugin_results;
mod plugin_updates;
mod score_levels;
mod scratch;
mod signatures;
mod verdict_counts;

pub(crate) use cached_answer::CachedAnswer;
pub(crate) use cached_diagnosis::{CachedDiagnosis, NodeVerdicts};
pub use nominated_nodes::NominatedNodes;
pub use normalized_scores::NormalizedScores;
pub use plugin_results::{PluginResults, Uncached};
pub use plugin_updates::{
    evaluate_changed_nodes, evaluate_nodes, init_totals, is_sparse, nodes_to_score, nodes_to_score_after_pre_score,
    reset_totals, score_each, total_each, update_pre_filter_state, update_pre_score_state, update_prepared_state,
    update_verdicts, weighted,
};
pub use scratch::UpdateScratch;
pub(crate) use signatures::{CompiledPod, SignatureId, Signatures, compile};
pub use verdict_counts::VerdictCounts;

/// A kept answer cannot be brought up to date: the pod is evaluated anew, from PreFilter on. Always correct, and slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsFullEvaluation;

/// What has changed on nodes since an answer was given.
#[derive(Clone, Copy, Debug)]
pub struct NodeChanges<'a> {
    /// Nodes whose columns changed, each once. Kernels are asked about them in any case. Some may be gone.
    pub nodes: &'a [NodeIndex],
    /// Whether a node came, went, or changed itself: its labels, taints and the like. If not, pods came and went, and that
    /// is all.
    pub node_objects: bool,
}

/// A filter's verdicts of an earlier answer, to be brought up to date together with its state.
#[derive(Debug)]
pub struct FilterUpdate<'a> {
    /// What has changed on nodes since.
    pub changed: NodeChanges<'a>,
    mask: &'a mut NodeMask,
    reevaluate: &'a mut NodeSet,
    feasibility_changed: &'a mut NodeSet,
    alive: &'a NodeMask,
}

impl<'a> FilterUpdate<'a> {
    /// `mask` are the nodes that pass; `reevaluate` takes those to ask again, `feasibility_changed` those whose verdict is another one.
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

    /// Filter must be asked again about every node.
    pub fn reevaluate_all(&mut self) {
        self.reevaluate.insert_all(self.alive);
    }

    /// Filter must be asked again about a node.
    #[inline]
    pub fn reevaluate(&mut self, node: NodeIndex) {
        self.reevaluate.insert(node);
    }

    /// Filter must be asked again about the nodes of one word of a mask.
    #[inline]
    pub fn reevaluate_word(&mut self, word: usize, bits: u64) {
        self.reevaluate.insert_word(word, bits);
    }

    /// The plugin knows the verdicts on the nodes `bits` of one word of a mask: `passing` of them pass. What is said here of
    /// nodes whose columns changed does not count, Filter is asked about them.
    #[inline]
    pub fn set_word(&mut self, word: usize, bits: u64, passing: u64) {
        let Some(cached) = self.mask.words_mut().get_mut(word) else { return };
        let new = *cached & !bits | passing & bits;
        self.feasibility_changed.insert_word(word, *cached ^ new);
        *cached = new;
    }
}

/// A plugin's raw scores of an earlier answer, to be brought up to date together with its state.
#[derive(Debug)]
pub struct ScoreUpdate<'a> {
    /// What has changed on nodes since. Score is asked about those that are feasible in any case.
    pub changed: NodeChanges<'a>,
    /// The feasible nodes.
    pub feasible: &'a NodeMask,
    /// Those that became feasible since, and those that ceased to be. Score is asked about the former in any case.
    pub feasibility_changed: &'a NodeSet,
    /// Takes the nodes about which Score must be asked again. Those that are not feasible do not count.
    pub reevaluate: &'a mut NodeSet,
    classes_changed: &'a mut bool,
}

impl<'a> ScoreUpdate<'a> {
    /// `reevaluate` takes the nodes to be scored again, `classes_changed` whether classes may have other raw scores.
    #[inline(always)]
    pub fn new(
        changed: NodeChanges<'a>,
        feasible: &'a NodeMask,
        feasibility_changed: &'a NodeSet,
        reevaluate: &'a mut NodeSet,
        classes_changed: &'a mut bool,
    ) -> Self {
        ScoreUpdate { changed, feasible, feasibility_changed, reevaluate, classes_changed }
    }

    /// Score must be asked again about every feasible node.
    pub fn reevaluate_all(&mut self) {
        self.reevaluate.insert_all(self.feasible);
        self.mark_classes_changed();
    }

    /// Classes may have other raw scores
    /// ([`NormalizeScore::score_of_class`](crate::extension_points::NormalizeScore::score_of_class)). All are asked about
    /// again; no node for that reason.
    #[inline]
    pub fn mark_classes_changed(&mut self) {
        *self.classes_changed = true;
    }
}
