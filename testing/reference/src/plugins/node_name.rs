//! NodeName: requires the node in the pod's `nodeName`.

use schedc_core::model::Node;

use crate::plugin::{Cycle, Plugin, Rejection};

pub(super) struct NodeName;

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        "NodeName"
    }
    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        match cx.pod.spec.node_name {
            Some(name) if name != node.name => {
                Err(Rejection::unresolvable("node(s) didn't match the requested node name"))
            }
            _ => Ok(()),
        }
    }
}
