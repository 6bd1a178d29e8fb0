//! Filter: finds the nodes that can run the pod.

use crate::plugin_api::plugin::{Plugin, Row};
use crate::plugin_api::status::{Code, Reasons};

/// Rejects nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `filter`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::FilterPlugin`, or `SimpleFilter` with `#[plugin]`"
)]
pub trait FilterPlugin: Plugin {
    /// The state from PreFilter; its default if the profile has no PreFilter of this plugin.
    type Cycle: Send + Sync + 'static;
    /// Reason of a rejection, as a small value. The loop over nodes calls only `is_ok()`, so rustc removes the
    /// construction of the value.
    type Rejection: Copy;

    /// Evaluates the pod on the node.
    ///
    /// # Errors
    /// The reason why the node cannot run the pod.
    fn filter(
        args: &Self::Args,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        node: Row<'_, Self>,
    ) -> Result<(), Self::Rejection>;

    /// Returns the code of a rejection: `Unschedulable`, `UnschedulableAndUnresolvable`, or `Pending`. Any other code
    /// fails the attempt; a plugin that returns only the codes listed here can set
    /// [`Incremental::FILTER_CAN_FAIL`](crate::incremental::Incremental::FILTER_CAN_FAIL) to false.
    fn code(rejection: &Self::Rejection) -> Code;

    /// Writes the reasons of a rejection.
    fn explain(
        args: &Self::Args,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        node: Row<'_, Self>,
        rejection: Self::Rejection,
        out: &mut Reasons<'_>,
    );
}
