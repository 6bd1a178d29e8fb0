//! Reserve: updates a plugin's own state for a chosen node, before the pod is bound.

use serde_json::Value;

use crate::model::placement::Placement;
use crate::plugin_api::plugin::{Plugin, View};
use crate::plugin_api::status::Status;

/// The resources that a plugin's Reserve would reserve on a node, for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The plugin.
    pub plugin: &'static str,
    /// The resources, as the plugin reports them, or the resources that the node lacks.
    pub resources: Result<Value, Shortage>,
}

/// Resources that a node lacks for a pod, in detail.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortage {
    /// The details for programs.
    pub data: Value,
    /// The details for users.
    pub lines: Vec<String>,
}

/// Reserves resources for the pod, and releases them if the pod is not bound.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `reserve`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::ReservePlugin`"
)]
pub trait ReservePlugin: Plugin {
    /// The plugin's data about the reservation, until the pod is bound; they move into the binding task.
    type Reserved: Send + Sync + 'static;

    /// Reserves resources.
    ///
    /// # Errors
    /// The pod cannot use the node after all: everything is unreserved, and the pod is retried after backoff.
    fn reserve(&self, args: &Self::Args, placement: &Placement, view: View<'_, Self>)
    -> Result<Self::Reserved, Status>;

    /// Returns the resources that Reserve would reserve on a node, or the shortage of a node that the plugin rejects,
    /// for reports. `None`: there is nothing to report for this pod.
    fn preview(
        &self,
        _args: &Self::Args,
        _placement: &Placement,
        _view: View<'_, Self>,
    ) -> Option<Result<Value, Shortage>> {
        None
    }

    /// Releases the resources. Must be idempotent and cannot fail. Called for all Reserve plugins in reverse order,
    /// including those whose Reserve did not run; their `reserved` is `None`.
    fn unreserve(&self, args: &Self::Args, placement: &Placement, reserved: Option<&Self::Reserved>);
}
