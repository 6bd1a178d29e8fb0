//! PreScore: reads the feasible nodes once before they are scored.

use super::ScorePlugin;
use crate::model::node_mask::NodeMask;
use crate::plugin_api::incremental::{NeedsFullEvaluation, ScoreUpdate};
use crate::plugin_api::plugin::{CycleSlot, Plugin, View};
use crate::plugin_api::status::Status;

/// Prepares Score.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-score`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PreScorePlugin`"
)]
pub trait PreScorePlugin: Plugin {
    /// State for Score: [`ScorePlugin::Cycle`] of a plugin that also scores.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;

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

    /// Takes a discarded state of `pre_score`, to reuse its memory.
    fn recycle(&self, _cycle: Self::Cycle) {}
}

/// Runs the default of [`Incremental::update_score`], for plugins whose own update handles only some changes.
///
/// # Errors
/// As for [`Incremental::update_score`].
///
/// [`Incremental::update_score`]: crate::incremental::Incremental::update_score
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
    } else {
        rescore.mark_unchanged();
    }
    plugin.recycle(std::mem::replace(slot, new).state);
    Ok(())
}

/// Reads cluster data for a score kernel, once for all nodes. In kube-scheduler, plugins read such data within Score,
/// so this is a part of Score, not a separate extension point.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `PrepareScore`",
    note = "its catalog entry has `prepares-score = true`"
)]
pub trait PrepareScore: ScorePlugin<Cycle: PartialEq> {
    /// Reads the data.
    fn prepare(&self, args: &Self::Args, pod: &Self::Pod, view: View<'_, Self>) -> <Self as ScorePlugin>::Cycle;

    /// Takes a discarded state of `prepare`, to reuse its memory.
    fn recycle(&self, _cycle: <Self as ScorePlugin>::Cycle) {}
}

/// Runs the default of [`Incremental::update_prepared`](crate::incremental::Incremental::update_prepared), for plugins
/// whose own update handles only some changes.
pub fn rerun_prepare<P: PrepareScore>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    data: &mut <P as ScorePlugin>::Cycle,
    view: View<'_, P>,
    rescore: &mut ScoreUpdate<'_>,
) {
    let new = plugin.prepare(args, pod, view);
    if new != *data {
        rescore.reevaluate_all();
    } else {
        rescore.mark_unchanged();
    }
    plugin.recycle(std::mem::replace(data, new));
}
