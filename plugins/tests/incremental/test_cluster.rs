//! The cluster of a history: one copy for the scheduler, one for the reference implementation.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::cache::{Cache, PodState, State};
use schedc_core::intern::Symbol;
use schedc_core::model::{FieldRequirement, NodeSelector, NodeSelectorTerm, ObjectKey, Pod, PodSpec, Uid};
use schedc_core::scheduler::Templates;
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod, is_finished};
use schedc_reference::Cluster;
use serde_json::Value;

/// Both copies, and the pods by name.
pub(crate) struct TestCluster<S> {
    /// The copy of the scheduler.
    pub(crate) cache: Cache<S>,
    /// The copy of the reference implementation.
    pub(crate) cluster: Cluster,
    /// Uid and node of each pod, by `namespace/name`.
    pods: HashMap<String, (Uid, Option<Symbol>)>,
    others: HashMap<(String, String, String), ObjectKey>,
    templates: Templates,
}

/// State of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectState {
    /// Does not exist.
    Absent,
    /// A nominated pod.
    Nominated,
    /// An object that exists. The node of a pod must exist, too.
    Placed,
}

impl<S: State> Default for TestCluster<S> {
    fn default() -> Self {
        TestCluster {
            cache: Cache::default(),
            cluster: Cluster::default(),
            pods: HashMap::new(),
            others: HashMap::new(),
            templates: Templates::default(),
        }
    }
}

/// Decodes the object of a manifest.
pub(crate) fn object(manifest: &Value) -> AnyObject {
    let text = |field: &str| manifest[field].as_str().unwrap_or_default();
    match AnyObject::from_json(text("apiVersion"), text("kind"), manifest.clone()) {
        Ok(Some(object)) => object,
        refused => panic!("{manifest} is not an object: {refused:?}"),
    }
}

fn full_name(pod: &ApiPod) -> String {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    format!("{namespace}/{}", pod.metadata.name.as_deref().unwrap_or_default())
}

impl<S: State> TestCluster<S> {
    /// Adds or updates an object.
    pub(crate) fn set(&mut self, manifest: &Value) {
        match object(manifest) {
            AnyObject::Node(node) => {
                let node = convert_node(&node, &mut self.cache.base.interner);
                self.cluster.set_node(Arc::new(node.clone()));
                self.cache.set_node(node);
            }
            AnyObject::Pod(pod) => self.set_pod(&pod),
            other => {
                if let Some(object) = convert_object(&other, &mut self.cache.base.interner) {
                    let name = (other.kind().to_owned(), other.namespace().to_owned(), other.name().to_owned());
                    self.others.insert(name, object.key());
                    self.cluster.set_object(object.clone());
                    self.cache.set_object(object);
                }
            }
        }
    }

    /// Adds or changes a pod. A pod with a node keeps it.
    fn set_pod(&mut self, pod: &ApiPod) {
        let name = full_name(pod);
        let before = self.forget_pod(&name);
        if is_finished(pod) {
            return;
        }
        let pod = Arc::new(convert_pod(pod, &mut self.cache.base.interner));
        let node = before.and_then(|(_, node)| node).or(pod.spec.node_name);
        match (node, pod.nominated_node) {
            (Some(node), _) => self.put(pod.clone(), node),
            (None, Some(node)) => {
                self.cluster.nominate(pod.clone(), node);
                self.cache.nominate(pod.clone(), node);
            }
            (None, None) => {}
        }
        self.pods.insert(name, (pod.uid.clone(), node));
    }

    /// Adds a pod to a node, unless it shares a port with another pod of the node. If two pods shared a port, removing
    /// one of them would free the port, as in kube-scheduler. The ports in use would then depend on the history.
    fn put(&mut self, pod: Arc<Pod>, node: Symbol) {
        let on_node = self.cluster.pods.iter().filter(|other| other.node == node && other.pod.uid != pod.uid);
        let mut taken = on_node.flat_map(|other| &other.pod.spec.host_ports);
        if taken.any(|port| pod.spec.host_ports.contains(port)) {
            return;
        }
        self.cluster.place(pod.clone(), node);
        self.cache.add_pod(pod, node, PodState::Bound);
    }

    fn forget_pod(&mut self, name: &str) -> Option<(Uid, Option<Symbol>)> {
        let known = self.pods.remove(name)?;
        self.cluster.remove_pod(&known.0);
        self.cache.remove_pod(&known.0);
        self.cache.withdraw_nomination(&known.0);
        Some(known)
    }

    /// Deletes an object, if it exists.
    pub(crate) fn delete(&mut self, reference: &Value) {
        let [kind, namespace, name] =
            ["kind", "namespace", "name"].map(|field| reference[field].as_str().unwrap_or_default());
        match kind {
            "Pod" => drop(self.forget_pod(&format!("{namespace}/{name}"))),
            "Node" => {
                let name = self.cache.base.interner.intern(name);
                self.cluster.remove_node(name);
                self.cache.remove_node(name);
            }
            _ => {
                let name = (kind.to_owned(), namespace.to_owned(), name.to_owned());
                if let Some(key) = self.others.remove(&name) {
                    self.cluster.remove_object(&key);
                    self.cache.remove_object(&key);
                }
            }
        }
    }

    /// Returns the state of an object, by its kind and metadata.
    pub(crate) fn object_state(&self, kind: &Value, metadata: &Value) -> ObjectState {
        let [kind, namespace, name] =
            [kind, &metadata["namespace"], &metadata["name"]].map(|text| text.as_str().unwrap_or_default());
        let names = &self.cache.base.interner;
        let is_same_pod = |pod: &Pod| &*pod.name == name && names.resolve(pod.spec.namespace) == namespace;
        let exists = match kind {
            "Node" => names.get(name).is_some_and(|name| self.cluster.nodes.contains_key(&name)),
            "Pod" if self.cluster.nominated.iter().any(|other| is_same_pod(&other.pod)) => {
                return ObjectState::Nominated;
            }
            "Pod" => {
                let mut pods = self.cluster.pods.iter().filter(|other| self.cluster.nodes.contains_key(&other.node));
                pods.any(|other| is_same_pod(&other.pod))
            }
            _ => self.others.contains_key(&(kind.to_owned(), namespace.to_owned(), name.to_owned())),
        };
        if exists { ObjectState::Placed } else { ObjectState::Absent }
    }

    /// Returns the pod to be scheduled. If a pod with this name exists, the returned pod has its uid.
    pub(crate) fn pending(&mut self, manifest: &Value) -> Arc<Pod> {
        let AnyObject::Pod(pod) = object(manifest) else { panic!("{manifest} is not a pod") };
        let converted = convert_pod(&pod, &mut self.cache.base.interner);
        Arc::new(match self.pods.get(&full_name(&pod)) {
            Some((uid, _)) => Pod { uid: uid.clone(), ..converted },
            None => converted,
        })
    }

    /// Returns a copy of a pod that names one of the nodes, or a node that does not exist, as the pods of a DaemonSet do.
    pub(crate) fn pinned(&mut self, pod: &Pod, draw: usize) -> Arc<Pod> {
        let nodes: Vec<Symbol> = self.cluster.nodes.keys().copied().collect();
        let missing = self.cache.base.interner.intern("missing");
        let name = nodes.get(draw % (nodes.len() + 1)).copied().unwrap_or(missing);
        let field = FieldRequirement { negated: false, name };
        let term = NodeSelectorTerm { match_expressions: Box::default(), match_fields: [field].into() };
        let required_node_affinity = Some(NodeSelector { terms: [term].into() }).into();
        let spec = Arc::new(PodSpec { required_node_affinity, ..PodSpec::clone(&pod.spec) });
        let mut pinned = Pod { spec, ..pod.clone() };
        self.templates.share(&mut pinned);
        Arc::new(pinned)
    }

    /// Places a pod on the selected node.
    pub(crate) fn place(&mut self, pod: Arc<Pod>, node: &str) {
        let node = self.cache.base.interner.intern(node);
        let name = format!("{}/{}", self.cache.base.interner.resolve(pod.spec.namespace), pod.name);
        self.forget_pod(&name);
        self.pods.insert(name, (pod.uid.clone(), Some(node)));
        self.put(pod, node);
    }

    /// Returns the cluster as a new scheduler receives it, with other objects before or after the nodes and pods.
    pub(crate) fn rebuilt(&self, objects_first: bool) -> Cache<S> {
        let mut cache = Cache::default();
        cache.base.interner = self.cache.base.interner.clone();
        let cluster = &self.cluster;
        let set_objects = |cache: &mut Cache<S>| cluster.objects.values().for_each(|o| cache.set_object(o.clone()));
        if objects_first {
            set_objects(&mut cache);
        }
        for node in cluster.nodes.values() {
            cache.set_node((**node).clone());
        }
        for placed in &cluster.pods {
            cache.add_pod(placed.pod.clone(), placed.node, PodState::Bound);
        }
        for nominated in &cluster.nominated {
            cache.nominate(nominated.pod.clone(), nominated.node);
        }
        if !objects_first {
            set_objects(&mut cache);
        }
        cache
    }
}
