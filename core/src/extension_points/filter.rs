//! Filter: which nodes can run the pod.

use crate::plugin::{Plugin, Row};
use crate::status::{Code, Reasons};

/// Rejects nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::FilterPlugin`"
)]
pub trait FilterPlugin: Plugin {
    /// The state that PreFilter left; its default if the profile has no PreFilter of this plugin.
    type Cycle: Send + Sync + 'static;
    /// Why not, as a small value. The hot loop asks `is_ok()` only, and making the value folds away.
    type Rejection: Copy;

    /// Whether there are pods for which every node passes: then the loop over nodes asks once, by `is_idle`.
    const CAN_BE_IDLE: bool = false;

    /// Whether every node passes, whatever it is like. Only asked if `CAN_BE_IDLE`.
    fn is_idle(_pod: &Self::Pod) -> bool {
        false
    }

    /// Whether Filter can fail with an error although its PreFilter ran, if it has one: see [`FilterPlugin::code`].
    const CAN_FAIL: bool = true;

    /// Whether the node can run the pod.
    ///
    /// # Errors
    /// Why it cannot.
    fn filter(
        args: &Self::Args,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        node: Row<'_, Self>,
    ) -> Result<(), Self::Rejection>;

    /// `Unschedulable`, `UnschedulableAndUnresolvable`, or `Pending`. Anything else fails the attempt.
    fn code(rejection: &Self::Rejection) -> Code;

    /// The rejection in words.
    fn explain(
        args: &Self::Args,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        node: Row<'_, Self>,
        rejection: Self::Rejection,
        out: &mut Reasons<'_>,
    );
}
