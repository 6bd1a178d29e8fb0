//! Defaults of nodes.

use k8s_openapi::api::core::v1::Node;

/// What is not said of `allocatable` is `capacity`.
pub(super) fn complete(node: &mut Node) {
    if let Some(status) = &mut node.status
        && status.allocatable.is_none()
    {
        status.allocatable = status.capacity.clone();
    }
}
