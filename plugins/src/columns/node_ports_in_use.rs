//! Host ports in use on a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{HostPort, Node, Pod};

/// Host ports in use: kube-scheduler's `NodeInfo.UsedPorts`.
///
/// As in kube-scheduler, a port is either in use or free, without a count. It becomes free when one pod that uses it is
/// removed, even if another pod still uses it. Pods can share a port only if no scheduler placed them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePortsInUse {
    /// The ports in use, sorted, each once.
    ports: Vec<HostPort>,
}

impl NodePortsInUse {
    /// Returns whether the port conflicts with a port in use: equal protocol and number, and an equal address.
    /// `any`, the symbol of `0.0.0.0`, equals every address.
    #[inline(always)]
    pub fn conflicts(&self, wanted: &HostPort, any: Symbol) -> bool {
        self.ports.iter().any(|used| collide(wanted, used, any))
    }
}

/// Returns whether two pods of one node cannot use both ports. `any` is the symbol of `0.0.0.0`.
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
