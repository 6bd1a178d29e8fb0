//! DefaultBinder
//!
//! **What it does.** Binds a pod to its node through the API server.
//!
//! **Extension points.** Bind.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/defaultbinder` (kube-scheduler 1.36.2).
//!
//! **Differences.** None: the binding carries the pod's uid, as there.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{BindPlugin, Binding, Placement};
use schedc_core::handle::{Client, Handle};
use schedc_core::model::PodSpec;
use schedc_core::plugin::{Compile, Plugin};
use schedc_core::status::Status;

/// Binds pods with the client that it is given.
#[derive(Debug)]
pub struct DefaultBinder;

impl Plugin for DefaultBinder {
    const NAME: &'static str = "DefaultBinder";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(DefaultBinder)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: Compile<'_, Self>) {}
}

impl BindPlugin for DefaultBinder {
    async fn bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement) -> Result<Binding, Status> {
        client.bind(placement).await.map(|()| Binding::Done).map_err(Status::error)
    }
}
