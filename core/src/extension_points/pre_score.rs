//! PreScore: looks at the feasible nodes once before they are scored.

use super::{ScorePlugin, Skips};
use crate::mask::Mask;
use crate::plugin::{Plugin, Slot, View};
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
    const SKIPS: Skips = Skips::Sometimes;

    /// Looks at the pod, the cluster and the feasible nodes.
    ///
    /// # Errors
    /// Anything fails the attempt.
    fn pre_score(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        view: View<'_, Self>,
        feasible: &Mask,
    ) -> Result<Slot<Self::Cycle>, Status>;

    /// Nobody needs a state any more that `pre_score` made. A plugin may keep what it has of memory for the next one.
    fn recycle(&self, _cycle: Self::Cycle) {}
}

/// Facts about the cluster that a score kernel needs and that kube-scheduler's plugin looks up inside Score. Not an
/// extension point: it comes with Score.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `PrepareScore`",
    note = "its catalog entry says `prepares-score = true`"
)]
pub trait PrepareScore: ScorePlugin {
    /// Looks the facts up.
    fn prepare(&self, args: &Self::Args, pod: &Self::Pod, view: View<'_, Self>) -> <Self as ScorePlugin>::Cycle;

    /// Nobody needs a state any more that `prepare` made. A plugin may keep what it has of memory for the next one.
    fn recycle(&self, _cycle: <Self as ScorePlugin>::Cycle) {}
}
