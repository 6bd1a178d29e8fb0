//! Bind: writes the binding to the cluster.

use std::future::Future;

use crate::model::placement::Placement;
use crate::plugin_api::client::Client;
use crate::plugin_api::plugin::Plugin;
use crate::plugin_api::status::Status;

/// Result of a Bind plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindResult {
    /// The pod is bound.
    Done,
    /// The plugin did nothing: the next Bind plugin runs.
    Skip,
}

/// Binds pods. The first plugin that does not skip binds the pod. Plugin authors implement the method as an `async fn`.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `bind`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::BindPlugin`"
)]
pub trait BindPlugin: Plugin {
    /// Binds the pod, or leaves it to the next plugin.
    ///
    /// # Errors
    /// The pod is unreserved and retried after backoff.
    fn bind<C: Client>(
        &self,
        args: &Self::Args,
        client: &C,
        placement: &Placement,
    ) -> impl Future<Output = Result<BindResult, Status>> + Send;
}
