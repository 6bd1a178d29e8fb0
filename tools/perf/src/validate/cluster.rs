//! The cluster as the scheduler received it.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{DeviceClass, HostPort, Labels, Node, Pod, Resources, Uid};

/// The state of the cluster.
#[derive(Default)]
pub(super) struct Cluster {
    pub(super) nodes: Map<Symbol, NodePods>,
    /// Pods on nodes, with the node.
    pub(super) pods: Map<Uid, (Pod, Symbol)>,
    pub(super) namespaces: Map<Symbol, Labels>,
    pub(super) device_classes: Map<Symbol, Arc<DeviceClass>>,
}

impl Cluster {
    /// Returns whether devices can serve an extended resource.
    pub(super) fn is_backed(&self, resource: Symbol) -> bool {
        let mut classes = self.device_classes.values();
        classes.any(|class| class.implicit_resource == resource || class.extended_resource == Some(resource))
    }

    /// Returns the labels of a namespace; an empty list if the namespace is unknown.
    pub(super) fn namespace(&self, name: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&name).map_or(&[], |labels| labels)
    }

    /// Returns the labels of a node; an empty list if the node is unknown.
    pub(super) fn labels(&self, node: Symbol) -> &[(Symbol, Symbol)] {
        self.nodes.get(&node).and_then(|placed| placed.node.as_ref()).map_or(&[], |node| &node.labels)
    }
}

/// A node, and the resources that its pods use.
#[derive(Default)]
pub(super) struct NodePods {
    /// The node; `None` if it does not exist.
    pub(super) node: Option<Node>,
    pub(super) used: Resources,
    pub(super) pods: i64,
    pub(super) ports: Vec<HostPort>,
}

impl NodePods {
    /// Adds a pod to the node.
    pub(super) fn add(&mut self, pod: &Pod) {
        self.used.add(&pod.usage.requests);
        self.pods += 1;
        self.ports.extend_from_slice(&pod.spec.host_ports);
    }

    pub(super) fn remove(&mut self, pod: &Pod) {
        self.used.subtract(&pod.usage.requests);
        self.pods -= 1;
        for port in &pod.spec.host_ports {
            if let Some(at) = self.ports.iter().position(|taken| taken == port) {
                self.ports.swap_remove(at);
            }
        }
    }
}

/// A pod that was bound to a node.
#[derive(Clone, Copy)]
pub(super) struct Placement<'a> {
    pub(super) pod: &'a Pod,
    pub(super) node: Symbol,
    pub(super) cluster: &'a Cluster,
    pub(super) names: &'a Interner,
}

impl<'a> Placement<'a> {
    /// Returns the placement of another pod in the same cluster.
    pub(super) fn of(self, pod: &'a Pod, node: Symbol) -> Self {
        Placement { pod, node, ..self }
    }
}
