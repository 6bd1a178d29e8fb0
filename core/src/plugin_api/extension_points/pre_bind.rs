//! PreBind: prepares the cluster before the pod is bound.

use std::future::Future;

use crate::model::placement::Placement;
use crate::plugin_api::client::Client;
use crate::plugin_api::plugin::Plugin;
use crate::plugin_api::status::Status;

/// Whether a PreBind plugin has work for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreFlightResult {
    /// PreBind runs. The pod's nomination is written first, because PreBind may take long.
    Run,
    /// PreBind runs concurrently with adjacent plugins that also return this: kube-scheduler's `AllowParallel`.
    RunInParallel,
    /// PreBind is skipped.
    Skip,
}

/// Prepares the binding. Plugin authors implement `pre_bind` as an `async fn`.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-bind`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::PreBindPlugin`"
)]
pub trait PreBindPlugin: Plugin {
    /// State from the plugin's Reserve; `()` for a plugin without Reserve.
    type Reserved: Send + Sync + 'static;

    /// Returns whether PreBind has work for this pod. The scheduling cycle waits for the result.
    ///
    /// # Errors
    /// Any error fails the attempt, and so does a rejection, which belongs in an earlier extension point.
    fn pre_bind_pre_flight(
        &self,
        args: &Self::Args,
        placement: &Placement,
        reserved: &Self::Reserved,
    ) -> Result<PreFlightResult, Status>;

    /// Prepares the binding. The future may be dropped before it completes: if the pod is preempted meanwhile, or if a
    /// concurrent plugin fails.
    ///
    /// # Errors
    /// The pod is unreserved and retried after backoff.
    fn pre_bind<C: Client>(
        &self,
        args: &Self::Args,
        client: &C,
        placement: &Placement,
        reserved: &Self::Reserved,
    ) -> impl Future<Output = Result<(), Status>> + Send;
}
