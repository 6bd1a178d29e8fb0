//! Scheduling decisions.

use std::sync::Arc;

use super::{NodeIndex, Pod};

/// A scheduling decision: a pod and its node.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The pod.
    pub pod: Arc<Pod>,
    /// The node. Its index may be reused for another node while the pod is being bound; the name stays.
    pub node: NodeIndex,
    /// The node's name.
    pub node_name: Arc<str>,
}
