//! PreScore: reads the feasible nodes once before they are scored.

use super::{ScorePlugin, SkipFrequency};
use crate::model::node_mask::NodeMask;
use crate::plugin_api::incremental::{NeedsFullEvaluation, ScoreUpdate};
use crate::plugin_api::plugin::{CycleSlot, Plugin, View};
use crate::plugin_api::status::Status;

/// Prepares Score.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-score`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PreScorePlugin`"
)]
pub trait PreScorePlugin: Plugin {
    /// State for Score: [`ScorePlugin::Cycle`] of a plugin that also scores.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;

    /// How often `pre_score` skips.
    const SKIPS: SkipFrequency = SkipFrequency::Sometimes;

    /// Whether `pre_score` reads only the pod. Its state then holds for all equal pods at all times.
    const READS_ONLY_POD: bool = false;

    /// Reads the pod, the cluster and the feasible nodes.
    ///
    /// # Errors
    /// Any error fails the attempt.
    fn pre_score(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        view: View<'_, Self>,
        feasible: &NodeMask,
    ) -> Result<CycleSlot<Self::Cycle>, Status>;

    /// Returns whether no cluster change can affect a state of `pre_score` for such a pod, or the score of a node
    /// without changed columns. `update` is then not called. Default: [`Self::READS_ONLY_POD`].
    #[inline(always)]
    fn needs_no_update(_pod: &Self::Pod) -> bool {
        Self::READS_ONLY_POD
    }

    /// Updates a state of `pre_score` for an equal pod to the current cluster, and returns the nodes whose score may
    /// have changed. Nodes with changed columns and newly feasible nodes need not be returned.
    ///
    /// Default: `pre_score` runs again; if the state differs, Score runs on every feasible node. Nothing runs if the
    /// plugin reads only the pod.
    ///
    /// # Errors
    /// The state cannot be updated, and a full evaluation follows. Return this if PreScore would now fail, or change
    /// between skip and no skip.
    fn update(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        slot: &mut CycleSlot<Self::Cycle>,
        view: View<'_, Self>,
        rescore: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if Self::READS_ONLY_POD { Ok(()) } else { rerun_pre_score(self, args, pod, slot, view, rescore) }
    }

    /// Takes a discarded state of `pre_score`, to reuse its memory.
    fn recycle(&self, _cycle: Self::Cycle) {}
}

/// Runs the default of [`PreScorePlugin::update`], for plugins whose own `update` handles only some changes.
///
/// # Errors
/// As for [`PreScorePlugin::update`].
pub fn rerun_pre_score<P: PreScorePlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut CycleSlot<P::Cycle>,
    view: View<'_, P>,
    rescore: &mut ScoreUpdate<'_>,
) -> Result<(), NeedsFullEvaluation> {
    let Ok(new) = plugin.pre_score(args, pod, view, rescore.feasible) else { return Err(NeedsFullEvaluation) };
    if new.skip != slot.skip {
        return Err(NeedsFullEvaluation);
    }
    if new.state != slot.state {
        rescore.reevaluate_all();
    }
    plugin.recycle(std::mem::replace(slot, new).state);
    Ok(())
}

/// Reads the cluster data of a score kernel that kube-scheduler's plugin reads within Score. Part of Score, not a separate
/// extension point.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `PrepareScore`",
    note = "its catalog entry has `prepares-score = true`"
)]
pub trait PrepareScore: ScorePlugin<Cycle: PartialEq> {
    /// Reads the data.
    fn prepare(&self, args: &Self::Args, pod: &Self::Pod, view: View<'_, Self>) -> <Self as ScorePlugin>::Cycle;

    /// Updates the data of an equal pod to the current cluster, and returns the nodes whose score may have changed.
    /// Nodes with changed columns and newly feasible nodes need not be returned.
    ///
    /// Default: `prepare` runs again; if the data differ, every feasible node is scored.
    fn update(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        facts: &mut <Self as ScorePlugin>::Cycle,
        view: View<'_, Self>,
        rescore: &mut ScoreUpdate<'_>,
    ) {
        rerun_prepare(self, args, pod, facts, view, rescore);
    }

    /// Takes a discarded state of `prepare`, to reuse its memory.
    fn recycle(&self, _cycle: <Self as ScorePlugin>::Cycle) {}
}

/// Runs the default of [`PrepareScore::update`], for plugins whose own `update` handles only some changes.
pub fn rerun_prepare<P: PrepareScore>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    facts: &mut <P as ScorePlugin>::Cycle,
    view: View<'_, P>,
    rescore: &mut ScoreUpdate<'_>,
) {
    let new = plugin.prepare(args, pod, view);
    if new != *facts {
        rescore.reevaluate_all();
    }
    plugin.recycle(std::mem::replace(facts, new));
}
