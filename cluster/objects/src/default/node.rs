//! Defaults of nodes.

use k8s_openapi::api::core::v1::Node;

/// Copies `capacity` to a missing `allocatable`.
pub(super) fn complete(node: &mut Node) {
    if let Some(status) = &mut node.status
        && status.allocatable.is_none()
    {
        status.allocatable = status.capacity.clone();
    }
}
