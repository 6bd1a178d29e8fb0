//! What updates of answers work with.

use crate::model::NodeIndex;
use crate::node_mask::NodeMask;
use crate::node_set::NodeSet;

/// What an update of an answer works with: mostly sets of nodes. One serves all updates, one after the other.
#[derive(Debug, Default)]
pub struct UpdateScratch {
    /// How many slots of nodes there is room for.
    slots: usize,
    /// The nodes that changed, each once, those that are gone included.
    pub changed: Vec<NodeIndex>,
    /// Whether a node came, went, or changed itself.
    pub node_objects_changed: bool,
    /// The changed nodes that exist.
    pub changed_existing: NodeSet,
    /// Those of them that came or changed themselves; on the others, pods came and went.
    pub changed_node_objects: NodeSet,
    /// The nodes whose verdict may be another one, because plugins report it, or because they are new or gone.
    pub dirty: NodeSet,
    /// The nodes that the current plugin asks for. Empty between plugins.
    pub reevaluate: NodeSet,
    /// The nodes that became feasible, and those that ceased to be.
    pub feasibility_changed: NodeSet,
    /// The feasible nodes that every Score is asked about.
    pub to_score: NodeSet,
    /// Those of them that are new to a Score that reads nothing of pods.
    pub to_score_ignoring_pods: NodeSet,
    /// Other nodes that get other raw scores.
    pub rescored: NodeSet,
    /// The nodes that plugins ask for that do not normalise, together.
    pub rescored_unnormalized: NodeSet,
    /// Whether the classes of the current plugin may have other raw scores.
    pub classes_changed: bool,
}

impl UpdateScratch {
    /// Empties everything, and makes room for so many slots of nodes.
    #[inline(never)]
    pub(super) fn begin(&mut self, slots: usize) {
        self.changed.clear();
        self.node_objects_changed = false;
        self.changed_existing.clear();
        self.to_score.clear();
        // The others are mostly empty.
        let UpdateScratch {
            changed_node_objects,
            dirty,
            reevaluate,
            feasibility_changed,
            to_score_ignoring_pods,
            rescored,
            rescored_unnormalized,
            ..
        } = &*self;
        let others = [
            changed_node_objects,
            dirty,
            reevaluate,
            feasibility_changed,
            to_score_ignoring_pods,
            rescored,
            rescored_unnormalized,
        ];
        if self.slots < slots || others.iter().any(|set| !set.is_empty()) {
            self.reset(slots);
        }
    }

    #[inline(never)]
    fn reset(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        let UpdateScratch {
            changed_existing,
            changed_node_objects,
            dirty,
            reevaluate,
            feasibility_changed,
            to_score,
            to_score_ignoring_pods,
            rescored,
            rescored_unnormalized,
            ..
        } = self;
        let sets = [
            changed_existing,
            changed_node_objects,
            dirty,
            reevaluate,
            feasibility_changed,
            to_score,
            to_score_ignoring_pods,
            rescored,
            rescored_unnormalized,
        ];
        sets.into_iter().for_each(|set| set.reset(slots));
    }

    /// Pods came to a node, or left it.
    #[inline]
    pub(super) fn add_changed_pods(&mut self, node: NodeIndex) {
        if !self.changed_existing.contains(node) {
            self.changed_existing.insert(node);
            self.changed.push(node);
        }
    }

    /// A node came, changed itself, or is gone.
    #[cold]
    pub(super) fn add_changed_node(&mut self, node: NodeIndex, alive: &NodeMask) {
        let is_new = !self.dirty.contains(node) && !self.changed_existing.contains(node);
        if is_new {
            self.changed.push(node);
        }
        self.dirty.insert(node);
        if alive.contains(node) {
            self.changed_existing.insert(node);
            self.changed_node_objects.insert(node);
        }
    }

    /// Leaves in `reevaluate` what has to be scored: feasible nodes that are not fresh.
    pub(super) fn retain_to_rescore(&mut self, feasible: &NodeMask) {
        self.reevaluate
            .retain(|word, bits| bits & feasible.words().get(word).copied().unwrap_or(0) & !self.to_score.word(word));
        self.rescored.extend(&self.reevaluate);
    }
}
