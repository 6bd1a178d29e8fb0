//! The optional trait for incremental evaluation: promises of a plugin about its results.

use super::{FilterUpdate, NeedsFullEvaluation, ScoreUpdate};
use crate::plugin_api::column::IndexSet;
use crate::plugin_api::extension_points::{
    FilterPlugin, NormalizeScore, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreClass, ScoreError, ScorePlugin,
    SkipFrequency, rerun_pre_filter, rerun_pre_score, rerun_prepare,
};
use crate::plugin_api::plugin::{CycleSlot, Plugin, Refs, Row, View};

/// Inputs of a plugin's result for a node, in addition to the compiled pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    /// Nothing: Filter passes on every node, and Score is 0 on every node, even after normalisation.
    Nothing,
    /// The plugin's columns of the node. No cluster change can affect the state of PreFilter or PreScore, so it is not
    /// updated.
    Node,
    /// The plugin's columns of the node, and the current state of PreFilter. The state is updated for every pod; then
    /// [`Incremental::filter_depends_on`] is called again, with the new state.
    NodeUntilUpdate,
    /// The cluster. Always correct.
    Cluster,
}

impl DependsOn {
    /// Returns whether a cluster change can affect the state.
    #[inline(always)]
    pub const fn needs_update(self) -> bool {
        matches!(self, DependsOn::NodeUntilUpdate | DependsOn::Cluster)
    }

    /// Returns whether the result on a node holds for all equal pods until the node or its pods change.
    #[inline(always)]
    pub const fn is_per_node(self) -> bool {
        !matches!(self, DependsOn::Cluster)
    }
}

/// Promises of a plugin about its results, and faster updates of its cached results.
///
/// The trait is optional: every plugin is correct without it, and each default is correct. Generated code finds the
/// implementation; the catalog entry does not mention it.
///
/// `docs/plugins.md`, "Incremental evaluation", lists the members, their effects and the values of [`DependsOn`]. A wrong
/// promise causes wrong decisions.
///
/// A plugin with type parameters writes the types of `update_filter` and other methods as here: `Self::Args`,
/// `Self::Pod`, `<Self as PreFilterPlugin>::Cycle`.
pub trait Incremental: Plugin {
    /// How often PreFilter and PreScore skip. [`DependsOn::Nothing`] counts as a skip for a Score with
    /// [`PrepareScore`], and for a Filter without PreFilter if `SKIPS` is [`SkipFrequency::Usually`].
    const SKIPS: SkipFrequency = SkipFrequency::Sometimes;

    /// Whether Filter can return an error after a successful PreFilter of this plugin, if it has one: see
    /// [`FilterPlugin::code`].
    const FILTER_CAN_FAIL: bool = true;

    /// Whether [`Incremental::update_filter`] also sets or reports the verdicts on changed nodes. Then Filter does not
    /// run for a node only because its pods changed, if the plugin's columns do not depend on pods.
    const REPORTS_ALL_VERDICTS: bool = false;

    /// Whether [`Incremental::update_score`] also reports changed nodes whose score may have changed. Then Score of a
    /// plugin that normalises does not run for a node only because its pods changed, if the plugin's columns do not
    /// depend on pods.
    const REPORTS_ALL_SCORES: bool = false;

    /// Returns a number that grows when results of [`Plugin::compile`] become invalid because of the indexes that it
    /// read or registered with. Return `Some(0)` if `compile` does not read the indexes. `None`: the pod is compiled
    /// for every attempt; this is the default for plugins with indexes.
    fn compile_epoch(_indexes: Refs<'_, Self>) -> Option<u64> {
        <Self::Indexes as IndexSet>::IS_EMPTY.then_some(0)
    }

    /// Returns a number that determines code and reasons of a rejection, for one pod and one state of PreFilter.
    /// `None`: code and reasons also depend on the node.
    #[inline(always)]
    fn reasons_key(_rejection: &Self::Rejection) -> Option<u32>
    where
        Self: FilterPlugin,
    {
        None
    }

    /// Returns the rejection of every node, if Filter rejects all nodes with equal reasons, given a state of PreFilter.
    /// The columns of the nodes must not matter. Nodes that no earlier filter rejects then need no evaluation for a
    /// diagnosis.
    #[inline]
    fn uniform_rejection(_pod: &Self::Pod, _state: &<Self as FilterPlugin>::Cycle) -> Option<Self::Rejection>
    where
        Self: FilterPlugin,
    {
        None
    }

    /// Returns what Filter depends on, given a state of PreFilter. Without PreFilter, only [`DependsOn::Nothing`] has
    /// an effect, and all other values count as [`DependsOn::Node`]. With [`DependsOn::Node`], `add_pod` and
    /// `remove_pod` read only the compiled pod and the added or removed one. The state may come from another pod with
    /// the same signature, whose [`ExcludedFromSignature`](super::ExcludedFromSignature) parts may differ.
    #[inline(always)]
    fn filter_depends_on(_pod: &Self::Pod, _state: &<Self as FilterPlugin>::Cycle) -> DependsOn
    where
        Self: FilterPlugin,
    {
        DependsOn::Cluster
    }

    /// Returns what Score depends on: [`DependsOn::Node`], [`DependsOn::Cluster`], or for a plugin with [`PrepareScore`]
    /// also [`DependsOn::Nothing`].
    #[inline(always)]
    fn score_depends_on(_pod: &Self::Pod) -> DependsOn
    where
        Self: ScorePlugin,
    {
        DependsOn::Cluster
    }

    /// Updates a state of PreFilter to the current cluster, and reports the nodes whose verdict may have changed. Nodes
    /// with changed columns need not be reported, unless the plugin promises [`Incremental::REPORTS_ALL_VERDICTS`]. The
    /// state may come from another pod with the same signature, whose
    /// [`ExcludedFromSignature`](super::ExcludedFromSignature) parts may differ. The function is called only if
    /// PreFilter neither restricted the nodes nor rejected the pod.
    ///
    /// Default: PreFilter runs again; if the state differs, Filter runs on every node.
    ///
    /// # Errors
    /// The state cannot be updated, and a full evaluation follows. Return this if PreFilter would now restrict the
    /// nodes, reject, fail, or change between skip and no skip.
    fn update_filter(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        slot: &mut CycleSlot<<Self as PreFilterPlugin>::Cycle>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        Self: PreFilterPlugin,
    {
        rerun_pre_filter(self, args, pod, slot, view, verdicts)
    }

    /// Updates a state of PreScore to the current cluster, and reports the nodes whose score may have changed. Nodes
    /// with changed columns need not be reported, unless the plugin promises [`Incremental::REPORTS_ALL_SCORES`]; newly
    /// feasible nodes never.
    ///
    /// Default: PreScore runs again; if the state differs, Score runs on every feasible node.
    ///
    /// # Errors
    /// The state cannot be updated, and a full evaluation follows. Return this if PreScore would now fail, or change
    /// between skip and no skip.
    fn update_score(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        slot: &mut CycleSlot<<Self as PreScorePlugin>::Cycle>,
        view: View<'_, Self>,
        scores: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation>
    where
        Self: PreScorePlugin,
    {
        rerun_pre_score(self, args, pod, slot, view, scores)
    }

    /// Updates the data of [`PrepareScore`], as [`Incremental::update_score`] does.
    ///
    /// Default: `prepare` runs again; if the data differ, every feasible node is scored.
    fn update_prepared(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        data: &mut <Self as ScorePlugin>::Cycle,
        view: View<'_, Self>,
        scores: &mut ScoreUpdate<'_>,
    ) where
        Self: PrepareScore,
    {
        rerun_prepare(self, args, pod, data, view, scores);
    }

    /// Returns the class of a node. Nodes of one class have equal raw scores, even after changes: for example the nodes
    /// of a zone, for a plugin that counts pods by zone. If only the scores of classes change, `update_score` calls
    /// [`ScoreUpdate::mark_classes_changed`]. Default: the raw score itself.
    ///
    /// # Errors
    /// As for `score`.
    #[inline(always)]
    fn score_class(
        args: &Self::Args,
        pod: &Self::Pod,
        state: &<Self as ScorePlugin>::Cycle,
        node: Row<'_, Self>,
    ) -> Result<ScoreClass, ScoreError>
    where
        Self: NormalizeScore,
    {
        Self::score(args, pod, state, node).map(|raw| ScoreClass(raw as u64))
    }

    /// Returns the raw score of the nodes of a class. It may be called for a class whose nodes are about to get other
    /// classes.
    #[inline(always)]
    fn score_of_class(
        _args: &Self::Args,
        _pod: &Self::Pod,
        _state: &<Self as ScorePlugin>::Cycle,
        class: ScoreClass,
    ) -> i64
    where
        Self: NormalizeScore,
    {
        class.0 as i64
    }
}
