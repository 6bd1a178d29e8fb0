//! What there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::model::{Kind, Node, Object, ObjectKey, Pod, Uid};

/// A pod and its node, which need not exist.
#[derive(Clone, Debug)]
pub struct PlacedPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// The node's name.
    pub node: Symbol,
    /// It is there in thought only: a nominated pod, while it is asked whether another one fits beside it.
    pub hypothetical: bool,
}

/// All that there is.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Nodes by name.
    pub nodes: BTreeMap<Symbol, Arc<Node>>,
    /// Pods that have a node.
    pub pods: Vec<PlacedPod>,
    /// Pods that wait, and the node on which room was made for them.
    pub nominated: Vec<PlacedPod>,
    /// Everything else.
    pub objects: BTreeMap<ObjectKey, Object>,
}

impl Cluster {
    /// A node comes or changes.
    pub fn set_node(&mut self, node: Arc<Node>) {
        self.nodes.insert(node.name, node);
    }
    /// A node goes. Its pods stay, and count for nothing.
    pub fn remove_node(&mut self, name: Symbol) {
        self.nodes.remove(&name);
    }
    /// A pod comes to a node, or changes there.
    pub fn place(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.remove_pod(&pod.uid);
        self.pods.push(PlacedPod { pod, node, hypothetical: false });
    }
    /// A pod that waits gets a node nominated.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.remove_pod(&pod.uid);
        self.nominated.push(PlacedPod { pod, node, hypothetical: false });
    }
    /// A pod goes, whether it has a node or a nomination.
    pub fn remove_pod(&mut self, uid: &Uid) {
        self.pods.retain(|placed| placed.pod.uid != *uid);
        self.nominated.retain(|placed| placed.pod.uid != *uid);
    }
    /// An object comes or changes.
    pub fn set_object(&mut self, object: Object) {
        self.objects.insert(object.key(), object);
    }
    /// An object goes.
    pub fn remove_object(&mut self, key: &ObjectKey) {
        self.objects.remove(key);
    }

    /// Pods whose nodes exist, with these.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&PlacedPod, &Node)> {
        self.pods.iter().filter_map(|placed| Some((placed, &**self.nodes.get(&placed.node)?)))
    }
    /// The pods of a node.
    pub(crate) fn pods_on(&self, node: &Node) -> impl Iterator<Item = &PlacedPod> {
        self.pods.iter().filter(|placed| placed.node == node.name)
    }
    /// The same cluster with further pods on their nodes, in thought.
    pub(crate) fn with(&self, pods: impl Iterator<Item = PlacedPod>) -> Cluster {
        let mut cluster = self.clone();
        cluster.pods.extend(pods.map(|placed| PlacedPod { hypothetical: true, ..placed }));
        cluster
    }
    /// An object by what it is called.
    pub(crate) fn object(&self, kind: Kind, namespace: Symbol, name: Symbol) -> Option<&Object> {
        self.objects.get(&ObjectKey { kind, namespace, name })
    }
}
