//! NodePorts
//!
//! **What it does.** Rejects nodes where a host port of the pod is in use.
//!
//! **Extension points.** PreFilter (skips for pods without host ports), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodeports` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, FilterPlugin, HintContext, HintError, PreFilterPlugin, PreFilterResult, QueueingHint,
    Registration,
};
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::Symbol;
use schedc_core::model::{HostPort, PodSpec};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

use crate::columns::{NodePortsInUse, collide};

/// The address that includes all addresses of a node.
const ANY_ADDRESS: &str = "0.0.0.0";

/// Compares host ports.
#[derive(Debug, Default)]
pub struct NodePorts;

/// The host ports of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodePortsPod {
    ports: Box<[HostPort]>,
    any_address: Symbol,
}

#[plugin]
impl Plugin for NodePorts {
    type Columns = NodePortsInUse;
    type Pod = NodePortsPod;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> NodePortsPod {
        let ports = pod.host_ports.clone();
        let any_address = if ports.is_empty() { Symbol::EMPTY } else { cx.interner.intern(ANY_ADDRESS) };
        NodePortsPod { ports, any_address }
    }
}

impl PreFilterPlugin for NodePorts {
    type Cycle = ();

    #[inline]
    fn pre_filter(&self, _: &NoArgs, pod: &NodePortsPod, _: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        Ok(if pod.ports.is_empty() { PreFilterResult::skip(()) } else { PreFilterResult::ready(()) })
    }
}

impl FilterPlugin for NodePorts {
    type Cycle = ();
    type Rejection = ();

    #[inline(always)]
    fn filter(_: &NoArgs, pod: &NodePortsPod, _: &(), node: &NodePortsInUse) -> Result<(), ()> {
        if pod.ports.iter().any(|port| node.conflicts(port, pod.any_address)) { Err(()) } else { Ok(()) }
    }

    fn code(_: &()) -> Code {
        Code::Unschedulable
    }

    fn explain(_: &NoArgs, _: &NodePortsPod, _: &(), _: &NodePortsInUse, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) didn't have free ports for the requested pod ports");
    }
}

impl Incremental for NodePorts {
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(_: &()) -> Option<u32> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(_: &NodePortsPod, _: &()) -> DependsOn {
        DependsOn::Node
    }
}

impl EnqueueExtensions for NodePorts {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Pod, Action::DELETE),
        Registration::always(EventResource::Node, Action::ADD),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        let EventObject::Pod(Some(deleted), _) = object else { return Ok(QueueingHint::Queue) };
        // If the address was never interned, no port has it.
        let any = view.interner().get(ANY_ADDRESS).unwrap_or(Symbol::EMPTY);
        let freed = |wanted| deleted.spec.host_ports.iter().any(|used| collide(wanted, used, any));
        Ok(QueueingHint::queue_if(deleted.occupies_node() && rejected.spec.host_ports.iter().any(freed)))
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::intern::Interner;
    use schedc_objects::testing::pod;

    use super::*;
    use crate::testing::{Cluster, hint};

    fn with_port(port: &str) -> String {
        format!("spec: {{nodeName: n1, containers: [{{ports: [{port}]}}]}}")
    }

    /// Pairs of ports, and whether they conflict.
    const PAIRS: [(&str, &str, bool); 10] = [
        ("hostPort: 80", "hostPort: 80", true),
        ("hostPort: 80", "hostPort: 81", false),
        ("hostPort: 80", "{hostPort: 80, protocol: UDP}", false),
        ("hostPort: 80", "{hostPort: 80, protocol: TCP, hostIP: 0.0.0.0}", true),
        ("hostPort: 80", "{hostPort: 80, hostIP: 10.0.0.1}", true),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "hostPort: 80", true),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.1}", true),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.2}", false),
        ("{hostPort: 80, hostIP: '::'}", "{hostPort: 80, hostIP: 10.0.0.2}", false),
        ("hostPort: 80", "containerPort: 80", false),
    ];

    #[test]
    fn conflicting_host_ports_are_rejected() {
        for (used, wanted, collides) in PAIRS {
            let cluster = Cluster::new(&["metadata: {name: n1}"]).with_pods(&[&with_port(used)]);
            let verdict = { cluster }.filter::<NodePorts>(&NoArgs, &with_port(wanted));
            let rejected = "n1: Unschedulable: node(s) didn't have free ports for the requested pod ports\n";
            assert_eq!(verdict, if collides { rejected } else { "n1\n" }, "{used} {wanted}");
        }
    }

    #[test]
    fn pods_without_host_ports_skip() {
        for (port, skip) in [("hostPort: 80", false), ("containerPort: 80", true)] {
            let mut cluster = Cluster::new(&[]);
            let pod = cluster.compile::<NodePorts>(&NoArgs, &with_port(port));
            let answer = cluster.plugin::<NodePorts>(&NoArgs).pre_filter(&NoArgs, &pod, cluster.view()).unwrap();
            assert_eq!(answer.slot.skip, skip, "{port}");
        }
    }

    #[test]
    fn a_deleted_pod_wakes_pods_that_want_its_port() {
        for (used, wanted, collides) in PAIRS {
            let mut interner = Interner::default();
            let deleted = pod(&with_port(used), &mut interner);
            let waiting = pod(&with_port(wanted), &mut interner);
            let expected = if collides { QueueingHint::Queue } else { QueueingHint::Skip };
            let object = EventObject::pods(Some(&deleted), None);
            assert_eq!(hint::<NodePorts>(&NoArgs, &waiting, object, &interner), expected, "{used} {wanted}");
        }
    }
}
