//! Permit: approves, delays or rejects the binding of a pod after a node was chosen.

use std::time::Duration;

use crate::model::placement::Placement;
use crate::plugin_api::handle::WaitingPods;
use crate::plugin_api::plugin::Plugin;
use crate::plugin_api::status::Status;

/// Result of a Permit plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermitResult {
    /// The plugin allows the binding. The pod is bound if all plugins allow it.
    Allow,
    /// The pod waits until the plugin allows or rejects it. It is rejected after this time, or after 15 minutes if the
    /// time is longer.
    Wait(Duration),
    /// The pod is not bound.
    Reject(Status),
}

/// Approves bindings.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `permit`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PermitPlugin`"
)]
pub trait PermitPlugin: Plugin {
    /// Decides about the pod; may also allow or reject waiting pods.
    fn permit(&self, args: &Self::Args, placement: &Placement, waiting: &mut WaitingPods<'_>) -> PermitResult;
}
