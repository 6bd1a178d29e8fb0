//! Permit: approve, delay or reject the binding of a pod that has its node.

use std::time::Duration;

use crate::extension_points::Placement;
use crate::handle::WaitingPods;
use crate::plugin::Plugin;
use crate::status::Status;

/// A Permit plugin's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermitResult {
    /// Bind.
    Allow,
    /// Wait until the plugin allows or rejects it, for at most this long (15 minutes at most): then it is rejected.
    Wait(Duration),
    /// Do not bind.
    Reject(Status),
}

/// Approves bindings.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `permit`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PermitPlugin`"
)]
pub trait PermitPlugin: Plugin {
    /// Decides about the pod; may also allow or reject pods that wait.
    fn permit(&self, args: &Self::Args, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult;
}
