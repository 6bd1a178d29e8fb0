//! The cluster as the scheduler received it.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{DeviceClass, Labels, Pod, Uid};

use super::node::NodePods;

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

    /// Returns the labels of a namespace; none if it is unknown.
    pub(super) fn namespace(&self, name: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&name).map_or(&[], |labels| labels)
    }

    /// Returns the labels of a node; none if it is unknown.
    pub(super) fn labels(&self, node: Symbol) -> &[(Symbol, Symbol)] {
        self.nodes.get(&node).and_then(|placed| placed.node.as_ref()).map_or(&[], |node| &node.labels)
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
