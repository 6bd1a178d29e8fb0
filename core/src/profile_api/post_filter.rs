//! PostFilter: handles pods without a feasible node.

use super::profile::{PostFilterContext, Profile};
use crate::plugin_api::extension_points::PostFilterResult;
use crate::plugin_api::plugin::{Plugin, View};

/// Tries to make a pod without a feasible node schedulable, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "a profile uses the plugin there, or the plugin's catalog entry lists the extension point; the plugin must implement `schedc_core::extension_points::PostFilterPlugin`"
)]
pub trait PostFilterPlugin: Plugin {
    /// Runs the plugin.
    fn post_filter<P: Profile>(
        &self,
        args: &Self::Args,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult;
}
