//! Scratch memory for updates of cached answers.

use crate::model::NodeIndex;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;

/// Scratch memory for an update of a cached answer, mostly sets of nodes. One value serves all updates, one after the
/// other.
#[derive(Debug, Default)]
pub struct UpdateScratch {
    /// Number of node slots.
    slots: usize,
    /// The changed nodes, each once, including removed ones.
    pub changed: Vec<NodeIndex>,
    /// Whether a node was added, removed or changed itself.
    pub node_objects_changed: bool,
    /// The changed nodes that exist.
    pub changed_existing: NodeSet,
    /// Those of them that were added or changed themselves; on the others, pods were added or removed.
    pub changed_node_objects: NodeSet,
    /// The nodes whose verdict may have changed, because plugins report it, or because they were added or removed.
    pub dirty: NodeSet,
    /// The nodes that the current plugin re-evaluates. Empty between plugins.
    pub reevaluate: NodeSet,
    /// The nodes whose feasibility changed.
    pub feasibility_changed: NodeSet,
    /// The feasible nodes for which every Score runs.
    pub to_score: NodeSet,
    /// Those of them for which a Score that does not read pods runs.
    pub to_score_ignoring_pods: NodeSet,
    /// Other nodes whose raw scores change.
    pub rescored: NodeSet,
    /// The nodes that plugins without normalisation return, together.
    pub rescored_unnormalized: NodeSet,
    /// Whether the raw scores of classes of the current plugin may have changed.
    pub classes_changed: bool,
}

impl UpdateScratch {
    /// Clears everything, and resizes to this number of node slots.
    #[inline(never)]
    pub(crate) fn begin(&mut self, slots: usize) {
        self.changed.clear();
        self.node_objects_changed = false;
        self.changed_existing.clear();
        self.to_score.clear();
        // The other sets are mostly empty.
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

    /// Adds a node on which pods were added or removed.
    #[inline]
    pub(crate) fn add_changed_pods(&mut self, node: NodeIndex) {
        if !self.changed_existing.contains(node) {
            self.changed_existing.insert(node);
            self.changed.push(node);
        }
    }

    /// Adds a node that was added, changed or removed.
    #[cold]
    pub(crate) fn add_changed_node(&mut self, node: NodeIndex, alive: &NodeMask) {
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

    /// Keeps in `reevaluate` the nodes to score again: feasible nodes that are not in `to_score`.
    pub(super) fn retain_to_rescore(&mut self, feasible: &NodeMask) {
        self.reevaluate
            .retain(|word, bits| bits & feasible.words().get(word).copied().unwrap_or(0) & !self.to_score.word(word));
        self.rescored.extend(&self.reevaluate);
    }
}
