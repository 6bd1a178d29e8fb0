//! One kind of remedy per module: its candidates, its change of objects, and its text.

pub(super) mod affinity_term;
mod amount;
pub(super) mod capacity;
pub(super) mod cordon;
pub(super) mod device_claims;
pub(super) mod eviction;
pub(super) mod features;
pub(super) mod gates;
pub(super) mod host_port;
pub(super) mod new_node;
pub(super) mod node_affinity;
pub(super) mod node_labels;
pub(super) mod node_selector;
pub(super) mod priority;
pub(super) mod request;
pub(super) mod spread;
pub(super) mod taints;
pub(super) mod tolerations;
pub(super) mod volumes;
