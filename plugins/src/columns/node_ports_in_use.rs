//! The host ports that pods take on a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{HostPort, Node, Pod};

/// Host ports in use: kube-scheduler's `NodeInfo.UsedPorts`.
///
/// As there, a port is in use or not, and free once a pod that has it goes. Pods that were placed by a scheduler do not
/// share ports; where others do, what is in use depends on which of them went since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePortsInUse {
    /// Sorted, each once.
    ports: Vec<HostPort>,
}

impl NodePortsInUse {
    /// Whether a port collides with one in use: same protocol and number, and the same address, unless one of the two
    /// is `any`, the symbol of `0.0.0.0`.
    #[inline(always)]
    pub fn conflicts(&self, wanted: &HostPort, any: Symbol) -> bool {
        self.ports.iter().any(|used| collide(wanted, used, any))
    }
}

/// Whether two ports cannot be given to two pods of one node.
#[inline(always)]
pub(crate) fn collide(a: &HostPort, b: &HostPort, any: Symbol) -> bool {
    a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == any || b.ip == any)
}

impl NodePortsInUse {
    fn add_ports(&mut self, pod: &Pod) {
        for port in &pod.spec.host_ports {
            if let Err(at) = self.ports.binary_search(port) {
                self.ports.insert(at, *port);
            }
        }
    }

    fn remove_ports(&mut self, pod: &Pod) {
        for port in &pod.spec.host_ports {
            if let Ok(at) = self.ports.binary_search(port) {
                self.ports.remove(at);
            }
        }
    }
}

impl Column for NodePortsInUse {
    fn build(_: &Node, _: &Interner) -> Self {
        NodePortsInUse::default()
    }

    #[inline]
    fn add_pod(&mut self, pod: &Pod) {
        if !pod.spec.host_ports.is_empty() {
            self.add_ports(pod);
        }
    }

    #[inline]
    fn remove_pod(&mut self, pod: &Pod) {
        if !pod.spec.host_ports.is_empty() {
            self.remove_ports(pod);
        }
    }
}
