//! Reserve: a plugin with state of its own takes note that a pod goes to a node, before it is bound.

use std::sync::Arc;

use crate::model::{NodeIndex, Pod};
use crate::plugin::{Plugin, View};
use crate::status::Status;

/// A decision: this pod goes to this node.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The pod.
    pub pod: Arc<Pod>,
    /// The node. Its index may be given to another node while the pod is being bound; the name stays.
    pub node: NodeIndex,
    /// The node's name.
    pub node_name: Arc<str>,
}

/// Reserves what the pod needs, and gives it back if the pod is not bound.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `reserve`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::ReservePlugin`"
)]
pub trait ReservePlugin: Plugin {
    /// What the pod's attempt owns until it is bound; it moves into the binding task.
    type Reserved: Send + Sync + 'static;

    /// Reserves.
    ///
    /// # Errors
    /// The pod cannot go there after all: everything is unreserved, and the pod is tried again later.
    fn reserve(&self, args: &Self::Args, placement: &Placement, view: View<'_, Self>)
    -> Result<Self::Reserved, Status>;

    /// Takes it back. Must be idempotent and cannot fail; runs in reverse order over all Reserve plugins, also over
    /// those whose Reserve did not run (`reserved` is none).
    fn unreserve(&self, args: &Self::Args, placement: &Placement, reserved: Option<&Self::Reserved>);
}
