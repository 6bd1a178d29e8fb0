//! PreEnqueue: whether a pod may enter the queue at all.

use crate::model::Pod;
use crate::plugin::{IndexView, Plugin};
use crate::status::Status;

/// Holds pods back before they enter the queue.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-enqueue`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PreEnqueuePlugin`"
)]
pub trait PreEnqueuePlugin: Plugin {
    /// Lets the pod pass or holds it.
    ///
    /// # Errors
    /// Why the pod is held, usually `UnschedulableAndUnresolvable`. No attempt is made and no condition written.
    fn pre_enqueue(&self, args: &Self::Args, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status>;
}
