//! PreScore: looks at the feasible nodes once before they are scored.

use super::{ScorePlugin, SkipFrequency};
use crate::incremental::{NeedsFullEvaluation, ScoreUpdate};
use crate::node_mask::NodeMask;
use crate::plugin::{CycleSlot, Plugin, View};
use crate::status::Status;

/// Prepares Score.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-score`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PreScorePlugin`"
)]
pub trait PreScorePlugin: Plugin {
    /// What Score gets. A plugin that also scores has the same type there.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;

    /// How often `pre_score` skips.
    const SKIPS: SkipFrequency = SkipFrequency::Sometimes;

    /// Whether `pre_score` reads the pod alone: then a state that it made holds as long as there are equal pods.
    const READS_ONLY_POD: bool = false;

    /// Looks at the pod, the cluster and the feasible nodes.
    ///
    /// # Errors
    /// Anything fails the attempt.
    fn pre_score(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        view: View<'_, Self>,
        feasible: &NodeMask,
    ) -> Result<CycleSlot<Self::Cycle>, Status>;

    /// Whether nothing that happens to the cluster can change a state that `pre_score` made for such a pod, or one of Score's
    /// answers, but those about nodes whose columns changed: `update` is not called then. Unless a plugin says otherwise, that
    /// is so if it reads the pod alone.
    #[inline(always)]
    fn needs_no_update(_pod: &Self::Pod) -> bool {
        Self::READS_ONLY_POD
    }

    /// Brings the state that `pre_score` made for an equal pod up to date, to what `pre_score` would make now, and says on
    /// which nodes the score may be another one, besides those whose columns changed and those that became feasible.
    ///
    /// Unless a plugin says otherwise, `pre_score` runs again, and Score on every feasible node if the state differs;
    /// nothing is done if it reads the pod alone.
    ///
    /// # Errors
    /// It cannot: the pod is evaluated anew. So it must be if PreScore would fail, or skip where it did not skip, or the
    /// other way round.
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

    /// Nobody needs a state any more that `pre_score` made. A plugin may keep what it has of memory for the next one.
    fn recycle(&self, _cycle: Self::Cycle) {}
}

/// What [`PreScorePlugin::update`] does unless a plugin says otherwise, for plugins that say otherwise of some changes only.
///
/// # Errors
/// As there.
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

/// Facts about the cluster that a score kernel needs and that kube-scheduler's plugin looks up inside Score. Not an
/// extension point: it comes with Score.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `PrepareScore`",
    note = "its catalog entry says `prepares-score = true`"
)]
pub trait PrepareScore: ScorePlugin<Cycle: PartialEq> {
    /// Looks the facts up.
    fn prepare(&self, args: &Self::Args, pod: &Self::Pod, view: View<'_, Self>) -> <Self as ScorePlugin>::Cycle;

    /// Brings facts up to date that were looked up for an equal pod, and says on which nodes the score may be another one,
    /// besides those whose columns changed and those that became feasible.
    ///
    /// Unless a plugin says otherwise, they are looked up again, and every feasible node is scored if they differ.
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

    /// Nobody needs a state any more that `prepare` made. A plugin may keep what it has of memory for the next one.
    fn recycle(&self, _cycle: <Self as ScorePlugin>::Cycle) {}
}

/// What [`PrepareScore::update`] does unless a plugin says otherwise, for plugins that say otherwise of some changes only.
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
