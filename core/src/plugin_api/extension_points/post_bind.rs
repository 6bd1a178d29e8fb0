//! PostBind: cleans up after a pod was bound.

use crate::model::placement::Placement;
use crate::plugin_api::plugin::Plugin;

/// Is notified of bound pods.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-bind`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PostBindPlugin`"
)]
pub trait PostBindPlugin: Plugin {
    /// Handles a bound pod.
    fn post_bind(&self, args: &Self::Args, placement: &Placement);
}
