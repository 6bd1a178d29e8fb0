//! PreEnqueue: decides whether a pod may enter the active queue.

use crate::model::Pod;
use crate::plugin_api::plugin::{IndexView, Plugin};
use crate::plugin_api::status::Status;

/// Holds pods back before they enter the active queue.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-enqueue`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PreEnqueuePlugin`"
)]
pub trait PreEnqueuePlugin: Plugin {
    /// Admits or holds the pod.
    ///
    /// # Errors
    /// The reason why the pod is held, usually `UnschedulableAndUnresolvable`. The pod is not attempted and no
    /// condition is written.
    fn pre_enqueue(&self, args: &Self::Args, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status>;
}
