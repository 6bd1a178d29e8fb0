//! PostBind: clean-up after a pod was bound.

use crate::extension_points::Placement;
use crate::plugin::Plugin;

/// Is told of bindings.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-bind`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PostBindPlugin`"
)]
pub trait PostBindPlugin: Plugin {
    /// The pod is bound.
    fn post_bind(&self, args: &Self::Args, placement: &Placement);
}
