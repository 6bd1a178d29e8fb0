//! The host ports that pods take on a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{HostPort, Node, Pod};

/// Host ports in use: kube-scheduler's `NodeInfo.UsedPorts`.
///
/// It counts how many pods have a port. kube-scheduler does not: there, a port that two pods have, which its own filter
/// rules out, is free once one of them goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePortsInUse {
    /// Sorted, each once, with the number of pods.
    ports: Vec<(HostPort, u32)>,
}

impl NodePortsInUse {
    /// Whether a port collides with one in use: same protocol and number, and the same address, unless one of the two
    /// is `any`, the symbol of `0.0.0.0`.
    #[inline(always)]
    pub fn conflicts(&self, wanted: &HostPort, any: Symbol) -> bool {
        self.ports.iter().any(|(used, _)| collide(wanted, used, any))
    }
}

/// Whether two ports cannot be given to two pods of one node.
#[inline(always)]
pub(crate) fn collide(a: &HostPort, b: &HostPort, any: Symbol) -> bool {
    a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == any || b.ip == any)
}

impl Column for NodePortsInUse {
    fn build(_: &Node, _: &Interner) -> Self {
        NodePortsInUse::default()
    }

    fn add_pod(&mut self, pod: &Pod) {
        for port in &pod.spec.host_ports {
            match self.ports.binary_search_by_key(port, |used| used.0) {
                Ok(at) => self.ports[at].1 += 1,
                Err(at) => self.ports.insert(at, (*port, 1)),
            }
        }
    }

    fn remove_pod(&mut self, pod: &Pod) {
        for port in &pod.spec.host_ports {
            if let Ok(at) = self.ports.binary_search_by_key(port, |used| used.0) {
                self.ports[at].1 -= 1;
                if self.ports[at].1 == 0 {
                    self.ports.remove(at);
                }
            }
        }
    }
}
