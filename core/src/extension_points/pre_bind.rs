//! PreBind: what has to be done in the cluster before the pod is bound.

use std::future::Future;

use crate::client::Client;
use crate::extension_points::Placement;
use crate::plugin::Plugin;
use crate::status::Status;

/// Whether a PreBind plugin has something to do for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreFlightResult {
    /// Its PreBind runs, and the pod's nomination is written first, since this may take long.
    Run,
    /// The same, and side by side with the plugins before and after it that say so, too: kube-scheduler's
    /// `AllowParallel`.
    RunInParallel,
    /// It is left out.
    Skip,
}

/// Prepares the binding. Authors write `async fn`.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-bind`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PreBindPlugin`"
)]
pub trait PreBindPlugin: Plugin {
    /// What the plugin's Reserve left; `()` for a plugin without Reserve.
    type Reserved: Send + Sync + 'static;

    /// Looks ahead, quickly: is there something to do for this pod?
    ///
    /// # Errors
    /// Fails the attempt. A rejection does so, too: this is not the place for it.
    fn pre_bind_pre_flight(
        &self,
        args: &Self::Args,
        placement: &Placement,
        reserved: &Self::Reserved,
    ) -> Result<PreFlightResult, Status>;

    /// Does it. May be dropped before it is done: if the pod is preempted meanwhile, or if a plugin beside it fails.
    ///
    /// # Errors
    /// The pod is unreserved and tried again later.
    fn pre_bind<C: Client>(
        &self,
        args: &Self::Args,
        client: &C,
        placement: &Placement,
        reserved: &Self::Reserved,
    ) -> impl Future<Output = Result<(), Status>> + Send;
}
