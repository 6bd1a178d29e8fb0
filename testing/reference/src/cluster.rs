//! State of the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::model::{Kind, Node, Object, ObjectKey, Pod, Uid};

/// A pod and the name of its node. The cluster may have no such node.
#[derive(Clone, Debug)]
pub struct PlacedPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Name of the node.
    pub node: Symbol,
    /// Whether this is a nominated pod that was added only to evaluate another pod.
    pub hypothetical: bool,
}

/// All nodes, pods and objects of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Nodes by name.
    pub nodes: BTreeMap<Symbol, Arc<Node>>,
    /// Pods that have a node.
    pub pods: Vec<PlacedPod>,
    /// Pending pods with their nominated nodes.
    pub nominated: Vec<PlacedPod>,
    /// All other objects.
    pub objects: BTreeMap<ObjectKey, Object>,
}

impl Cluster {
    /// Adds or updates a node.
    pub fn set_node(&mut self, node: Arc<Node>) {
        self.nodes.insert(node.name, node);
    }
    /// Removes a node. Its pods stay, but are ignored.
    pub fn remove_node(&mut self, name: Symbol) {
        self.nodes.remove(&name);
    }
    /// Adds a pod to a node, or updates it.
    pub fn place(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.remove_pod(&pod.uid);
        self.pods.push(PlacedPod { pod, node, hypothetical: false });
    }
    /// Nominates a node for a pending pod.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.remove_pod(&pod.uid);
        self.nominated.push(PlacedPod { pod, node, hypothetical: false });
    }
    /// Removes a pod, or its nomination.
    pub fn remove_pod(&mut self, uid: &Uid) {
        self.pods.retain(|placed| placed.pod.uid != *uid);
        self.nominated.retain(|placed| placed.pod.uid != *uid);
    }
    /// Adds or updates an object.
    pub fn set_object(&mut self, object: Object) {
        self.objects.insert(object.key(), object);
    }
    /// Removes an object.
    pub fn remove_object(&mut self, key: &ObjectKey) {
        self.objects.remove(key);
    }

    /// Returns the pods whose nodes exist, with the nodes.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&PlacedPod, &Node)> {
        self.pods.iter().filter_map(|placed| Some((placed, &**self.nodes.get(&placed.node)?)))
    }
    /// Returns the pods of a node.
    pub(crate) fn pods_on(&self, node: &Node) -> impl Iterator<Item = &PlacedPod> {
        self.pods.iter().filter(|placed| placed.node == node.name)
    }
    /// Returns a copy of the cluster with hypothetical pods.
    pub(crate) fn with(&self, pods: impl Iterator<Item = PlacedPod>) -> Cluster {
        let mut cluster = self.clone();
        cluster.pods.extend(pods.map(|placed| PlacedPod { hypothetical: true, ..placed }));
        cluster
    }
    /// Returns an object by its key.
    pub(crate) fn object(&self, kind: Kind, namespace: Symbol, name: Symbol) -> Option<&Object> {
        self.objects.get(&ObjectKey { kind, namespace, name })
    }
}
