//! The changes that an update of a cached answer finds, phase by phase.

use crate::model::NodeIndex;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{FilterPlugin, ScorePlugin};
use crate::plugin_api::incremental::{DependsOn, NodeChanges};

/// The changes that an update finds in each phase. One value serves all updates, one after the other.
#[derive(Debug, Default)]
pub struct UpdateScratch {
    /// Number of node slots.
    slots: usize,
    /// First phase: changes of the cluster.
    pub changes: Changes,
    /// Second phase: changes of verdicts.
    pub verdicts: VerdictChanges,
    /// Third phase: the nodes whose feasibility changed.
    pub feasibility_changed: NodeSet,
    /// Fourth and fifth phase: changes of scores and totals.
    pub scores: ScoreChanges,
}

/// Extent of the changes in the cluster since the last update. Each value includes the previous ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChangeExtent {
    /// Only pods were added or removed.
    #[default]
    Pods,
    /// A node was added, removed or changed itself.
    Nodes,
    /// The answer is new: every node counts as changed, and all states are current.
    New,
}

/// The nodes that changed since the last update.
#[derive(Debug, Default)]
pub struct Changes {
    pub(super) extent: ChangeExtent,
    /// The changed nodes, each once, including removed ones. Empty if the answer is new.
    pub(crate) nodes: Vec<NodeIndex>,
    /// The changed nodes that exist.
    pub(crate) existing: NodeSet,
    /// The existing nodes that were added or changed themselves; on the other ones, pods were added or removed.
    pub(crate) node_objects: NodeSet,
}

/// The nodes whose verdicts changed.
#[derive(Debug, Default)]
pub struct VerdictChanges {
    /// The nodes whose verdict changed or may have changed: Filter returned another verdict, a plugin reported the
    /// node, or the node itself was added, changed or removed.
    pub(crate) dirty: NodeSet,
    /// The nodes that the current plugin re-evaluates. Empty between plugins.
    pub reevaluate: NodeSet,
}

/// The nodes whose scores or totals changed.
#[derive(Debug, Default)]
pub struct ScoreChanges {
    /// The feasible nodes for which every Score runs.
    pub to_score: NodeSet,
    /// The nodes of `to_score` for which a Score runs that does not read pods, or whose update reports all other nodes.
    pub(crate) to_score_ignoring_pods: NodeSet,
    /// Feasible nodes that plugins reported for another Score. Some may also be in `to_score`.
    pub rescored: NodeSet,
    /// The nodes of `rescored` that plugins without normalisation report.
    pub rescored_unnormalized: NodeSet,
    /// Whether plugins without normalisation may give other scores to unchanged nodes.
    pub(crate) unnormalized_changed: bool,
    /// The nodes of `to_score` whose sum of scores without normalisation is not current; only if `is_base_limited`.
    to_score_base: NodeSet,
    is_base_limited: bool,
    /// The nodes that the current plugin scores again. Empty between plugins.
    pub reevaluate: NodeSet,
    /// Whether the raw scores of classes of the current plugin may have changed.
    pub(super) classes_changed: bool,
    /// All nodes outside of `to_score` and `rescored` whose totals changed, and possibly more.
    pub retotalled: NodeSet,
}

impl UpdateScratch {
    /// Clears everything, and resizes to this number of node slots.
    #[inline(never)]
    pub(crate) fn begin(&mut self, slots: usize) {
        self.changes.nodes.clear();
        self.changes.extent = ChangeExtent::Pods;
        self.changes.existing.clear();
        self.scores.to_score.clear();
        (self.scores.unnormalized_changed, self.scores.is_base_limited) = (false, false);
        // Usually, the other sets are empty. Sets that are not checked here have nodes only if one of the checked sets
        // has nodes.
        let UpdateScratch { changes, verdicts, scores, .. } = &*self;
        let are_others_empty = changes.node_objects.is_empty()
            && verdicts.dirty.is_empty()
            && verdicts.reevaluate.is_empty()
            && scores.rescored.is_empty()
            && scores.reevaluate.is_empty()
            && scores.retotalled.is_empty();
        if self.slots < slots || !are_others_empty {
            self.reset(slots);
        }
    }

    #[inline(never)]
    fn reset(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        let UpdateScratch { changes, verdicts, feasibility_changed, scores, .. } = self;
        let sets = [
            &mut changes.existing,
            &mut changes.node_objects,
            &mut verdicts.dirty,
            &mut verdicts.reevaluate,
            feasibility_changed,
            &mut scores.to_score,
            &mut scores.to_score_ignoring_pods,
            &mut scores.rescored,
            &mut scores.rescored_unnormalized,
            &mut scores.reevaluate,
            &mut scores.retotalled,
        ];
        sets.into_iter().for_each(|set| set.reset(slots));
    }

    /// Adds all nodes, for a new answer.
    pub(crate) fn add_all(&mut self, alive: &NodeMask) {
        self.changes.extent = ChangeExtent::New;
        for set in [&mut self.changes.existing, &mut self.changes.node_objects, &mut self.verdicts.dirty] {
            set.insert_all(alive);
        }
    }

    /// Adds a node on which pods were added or removed.
    #[inline]
    pub(crate) fn add_changed_pods(&mut self, node: NodeIndex) {
        if self.changes.existing.insert_new(node) {
            self.changes.nodes.push(node);
        }
    }

    /// Adds a node that was itself added, changed or removed (`is_node_change`), or a removed node on which pods
    /// changed.
    #[cold]
    pub(crate) fn add_changed_node(&mut self, node: NodeIndex, alive: &NodeMask, is_node_change: bool) {
        let UpdateScratch { changes, verdicts, .. } = self;
        if is_node_change {
            changes.extent = ChangeExtent::Nodes;
        }
        let is_new = !verdicts.dirty.contains(node) && !changes.existing.contains(node);
        if is_new {
            changes.nodes.push(node);
        }
        verdicts.dirty.insert(node);
        if alive.contains(node) {
            changes.existing.insert(node);
            changes.node_objects.insert(node);
        }
    }
}

impl UpdateScratch {
    /// Finds the feasible nodes for which every Score runs.
    #[inline(always)]
    pub(crate) fn find_nodes_to_score(&mut self, feasible: &NodeMask) {
        let UpdateScratch { changes, feasibility_changed, scores, .. } = self;
        let feasible = feasible.words();
        for (word, bits) in changes.existing.words() {
            scores.to_score.insert_word(word, bits & feasible[word]);
        }
        // Usually, only pods changed.
        if changes.node_objects.is_empty() && feasibility_changed.is_empty() {
            return;
        }
        for set in [&changes.node_objects, feasibility_changed] {
            for (word, bits) in set.words() {
                scores.to_score.insert_word(word, bits & feasible[word]);
                scores.to_score_ignoring_pods.insert_word(word, bits & feasible[word]);
            }
        }
    }
}

impl Changes {
    /// Returns the changed nodes, for plugins.
    #[inline(always)]
    pub(super) fn of_nodes(&self) -> NodeChanges<'_> {
        NodeChanges { nodes: &self.nodes, node_objects: self.extent >= ChangeExtent::Nodes }
    }

    /// Returns whether there are changed nodes for which a filter runs.
    #[inline(always)]
    pub fn affect_filter<P: FilterPlugin>(&self, depends: DependsOn) -> bool {
        !self.affecting::<P::Columns>(depends, false).is_empty()
    }

    /// Returns the existing nodes for which a plugin may return another result. If only pods were added to a node or
    /// removed from it, the results of a plugin that reads only nodes stay, unless its state changes their results.
    /// `reports_all`: the plugin promises to report these nodes.
    #[inline(always)]
    pub(super) fn affecting<C: ColumnSet>(&self, depends: DependsOn, reports_all: bool) -> &NodeSet {
        if C::READS_ONLY_NODE && (reports_all || !depends.needs_update()) { &self.node_objects } else { &self.existing }
    }
}

impl ScoreChanges {
    /// Requests that every Score runs for all feasible nodes.
    pub(crate) fn score_all(&mut self, feasible: &NodeMask) {
        for set in [&mut self.to_score, &mut self.to_score_ignoring_pods] {
            set.clear();
            set.insert_all(feasible);
        }
    }

    /// Returns the nodes to score for which a plugin may return another result, as `Changes::affecting` does.
    /// `reports_all`: the plugin promises `Incremental::REPORTS_ALL_SCORES`.
    #[inline(always)]
    pub fn nodes_to_score<P: ScorePlugin>(&self, depends: DependsOn, reports_all: bool) -> &NodeSet {
        if P::Columns::READS_ONLY_NODE && (reports_all || !depends.needs_update()) {
            &self.to_score_ignoring_pods
        } else {
            &self.to_score
        }
    }

    /// Excludes the nodes `skipped` from Score of plugins without normalisation.
    pub(crate) fn skip_base(&mut self, slots: usize, skipped: &[u64]) {
        self.to_score_base.reset(slots);
        for (word, bits) in self.to_score.words() {
            self.to_score_base.insert_word(word, bits & !skipped[word]);
        }
        self.is_base_limited = true;
    }

    /// Returns the nodes for which Score of plugins without normalisation runs.
    #[inline(always)]
    pub fn nodes_to_score_base(&self) -> &NodeSet {
        if self.is_base_limited { &self.to_score_base } else { &self.to_score }
    }

    /// Returns the nodes for which the result of a plugin may differ from the result of their last Score.
    #[inline(always)]
    pub fn nodes_with_new_class(&self, depends: DependsOn) -> &NodeSet {
        if depends.needs_update() { &self.to_score } else { self.nodes_to_score_base() }
    }

    /// Adds the nodes that the update of a plugin without normalisation reported. `is_unchanged`: no score changed.
    #[inline(always)]
    pub fn rescore_unnormalized(&mut self, feasible: &NodeMask, is_unchanged: bool) {
        self.unnormalized_changed |= !is_unchanged;
        if self.have_changed(feasible, false) {
            self.rescored_unnormalized.extend(&self.reevaluate);
            self.reevaluate.clear();
        }
    }

    /// Returns whether the update of a plugin's state may have changed scores of nodes or of classes. Leaves only nodes
    /// in `reevaluate` that are feasible and that are not scored anyway. `reports_all`: as for `nodes_to_score`.
    #[inline(always)]
    pub fn have_changed(&mut self, feasible: &NodeMask, reports_all: bool) -> bool {
        if self.reevaluate.is_empty() {
            return self.classes_changed;
        }
        self.retain_feasible(feasible, reports_all);
        true
    }

    fn retain_feasible(&mut self, feasible: &NodeMask, reports_all: bool) {
        let to_score = if reports_all { &self.to_score_ignoring_pods } else { &self.to_score };
        self.reevaluate
            .retain(|word, bits| bits & feasible.words().get(word).copied().unwrap_or(0) & !to_score.word(word));
        self.rescored.extend(&self.reevaluate);
    }
}
