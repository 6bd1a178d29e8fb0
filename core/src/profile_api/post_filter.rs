//! PostFilter: handles pods without a feasible node.

use super::profile::{PostFilterContext, Profile};
use crate::plugin_api::extension_points::PostFilterResult;
use crate::plugin_api::plugin::{Plugin, View};

/// Tries to make a pod without a feasible node schedulable, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PostFilterPlugin`"
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
