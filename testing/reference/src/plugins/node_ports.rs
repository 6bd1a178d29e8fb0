//! NodePorts: rejects nodes on which a host port of the pod is in use.

use schedc_core::model::{HostPort, Node};

use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct NodePorts;

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        "NodePorts"
    }
    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        if cx.pod.spec.host_ports.is_empty() { PreFilter::Skip } else { PreFilter::Ready }
    }
    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        for used in cx.pods_on(node).flat_map(|placed| &placed.pod.spec.host_ports) {
            if cx.pod.spec.host_ports.iter().any(|wanted| conflicts(cx, used, wanted)) {
                return Err(Rejection::unschedulable("node(s) didn't have free ports for the requested pod ports"));
            }
        }
        Ok(())
    }
}

fn conflicts(cx: &Cycle<'_>, one: &HostPort, other: &HostPort) -> bool {
    let any = |port: &HostPort| cx.text(port.ip) == "0.0.0.0";
    one.port == other.port && one.protocol == other.protocol && (one.ip == other.ip || any(one) || any(other))
}
