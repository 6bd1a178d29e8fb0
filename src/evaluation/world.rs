//! A cluster as scenarios tell of it.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::cache::{Cache, PodState, State};
use schedc_core::intern::Symbol;
use schedc_core::model::{ObjectKey, Pod, Uid};
use schedc_core::originals::OriginalsOf;
use schedc_objects::original::original;
use schedc_objects::{AnyObject, KindInfo, Kinds, convert_node, convert_object, convert_pod, is_finished};

use super::Broken;
use super::budgets::BudgetStatuses;
use super::scenario::Reference;
use crate::cluster::pod_name;

/// Nodes, pods and other objects, in the order in which they came.
pub struct World<S> {
    /// What a scheduler knows of them.
    pub cache: Cache<S>,
    /// Which objects are kept whole, too.
    originals: OriginalsOf,
    /// By `namespace/name`.
    pods: HashMap<String, Known>,
    /// By kind, namespace and name.
    others: HashMap<(String, String, String), ObjectKey>,
    /// Computes statuses of budgets. `None`: each budget has one.
    pub(super) budgets: Option<BudgetStatuses>,
}

/// A pod that is not finished.
struct Known {
    uid: Uid,
    node: Option<Symbol>,
}

impl<S: State> World<S> {
    /// Nothing is there. Of some objects the originals will be kept.
    pub fn new(originals: OriginalsOf) -> Self {
        World { cache: Cache::default(), originals, pods: HashMap::new(), others: HashMap::new(), budgets: None }
    }

    /// An object comes or changes. `queues` tells whether PreEnqueue lets a pending pod into the queue.
    pub fn apply(&mut self, object: AnyObject, queues: impl FnOnce(&Pod, &Cache<S>) -> bool) {
        match object {
            AnyObject::Node(of) => {
                let node = convert_node(&of, &mut self.cache.base.interner);
                if self.originals.nodes {
                    self.cache.base.originals.set_node(node.name, original(&AnyObject::Node(of)));
                }
                self.cache.set_node(node);
            }
            AnyObject::Pod(pod) => self.set_pod(&pod, queues),
            other => {
                if let Some(budgets) = &mut self.budgets {
                    budgets.set(&other);
                }
                self.set_object(&other);
            }
        }
    }

    fn set_object(&mut self, object: &AnyObject) {
        if let Some(converted) = convert_object(object, &mut self.cache.base.interner) {
            let name = (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned());
            self.others.insert(name, converted.key());
            self.cache.set_object(converted);
        }
    }

    /// Computes statuses of budgets that the scenario does not give.
    pub(super) fn update_budgets(&mut self) {
        let changed = self.budgets.as_mut().map(BudgetStatuses::update).unwrap_or_default();
        changed.iter().for_each(|budget| self.set_object(budget));
    }

    /// An object changes. A pod that is not there does not come by that.
    pub fn update(&mut self, object: AnyObject, queues: impl FnOnce(&Pod, &Cache<S>) -> bool) {
        match &object {
            AnyObject::Pod(pod) if !self.pods.contains_key(&full_name(&pod.metadata)) => {}
            _ => self.apply(object, queues),
        }
    }

    /// An object goes, if it is there.
    ///
    /// # Errors
    /// Scheduling does not look at such objects.
    pub fn delete(&mut self, reference: &Reference, kinds: Kinds) -> Result<(), Broken> {
        let Reference { kind, namespace, name } = reference;
        let unknown = || Broken::Kind { api_version: None, kind: kind.clone() };
        let KindInfo { kind, is_namespaced, .. } = kinds.named(kind).ok_or_else(unknown)?;
        let namespace = match namespace.as_str() {
            _ if !is_namespaced => "",
            "" => "default",
            _ => namespace,
        };
        self.forget(kind, namespace, name);
        Ok(())
    }

    /// An object that is known goes.
    pub fn remove(&mut self, object: &AnyObject) {
        self.forget(object.kind(), object.namespace(), object.name());
    }

    fn forget(&mut self, kind: &str, namespace: &str, name: &str) {
        if let Some(budgets) = &mut self.budgets {
            budgets.remove(kind, namespace, name);
        }
        match kind {
            "Pod" => drop(self.forget_pod(&format!("{namespace}/{name}"))),
            "Node" => {
                let name = self.cache.base.interner.intern(name);
                self.cache.base.originals.set_node(name, None);
                self.cache.remove_node(name);
            }
            _ => {
                if let Some(key) = self.others.remove(&(kind.to_owned(), namespace.to_owned(), name.to_owned())) {
                    self.cache.remove_object(&key);
                }
            }
        }
    }

    /// A change counts as removal and arrival. A pod that has a node keeps it.
    fn set_pod(&mut self, pod: &ApiPod, queues: impl FnOnce(&Pod, &Cache<S>) -> bool) {
        let name = full_name(&pod.metadata);
        let before = self.forget_pod(&name);
        if is_finished(pod) {
            if let Some(budgets) = &mut self.budgets {
                budgets.set_pod(pod, pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()));
            }
            return;
        }
        let converted = Arc::new(convert_pod(pod, &mut self.cache.base.interner));
        let node = converted.spec.node_name.or(before.and_then(|known| known.node));
        self.keep(pod, &converted.uid, node);
        if let Some(budgets) = &mut self.budgets {
            budgets.set_pod(pod, node.map(|node| self.cache.base.interner.resolve(node)));
        }
        match (node, converted.nominated_node) {
            (Some(node), _) => self.cache.add_pod(converted.clone(), node, PodState::Bound),
            // Room is kept for pods that wait for it in the queue.
            (None, Some(node)) if queues(&converted, &self.cache) => {
                self.cache.nominate(converted.clone(), node);
            }
            (None, _) => {}
        }
        self.pods.insert(name, Known { uid: converted.uid.clone(), node });
    }

    fn forget_pod(&mut self, name: &str) -> Option<Known> {
        let known = self.pods.remove(name)?;
        self.cache.remove_pod(&known.uid);
        self.cache.withdraw_nomination(&known.uid);
        self.cache.base.originals.set_pod(&known.uid, None);
        Some(known)
    }

    /// Keeps the original of a pod, if it is wanted.
    fn keep(&mut self, pod: &ApiPod, uid: &Uid, node: Option<Symbol>) {
        let base = &mut self.cache.base;
        if !(if node.is_some() { self.originals.placed_pods } else { self.originals.waiting_pods }) {
            return;
        }
        let mut pod = pod.clone();
        if let Some(node) = node {
            pod.spec.get_or_insert_default().node_name = Some(base.interner.resolve(node).to_owned());
        }
        base.originals.set_pod(uid, original(&pod.into()));
    }

    /// The pod that is to be scheduled: the one of that name, if it is known already.
    pub fn pending(&mut self, pod: &ApiPod) -> Pod {
        let converted = convert_pod(pod, &mut self.cache.base.interner);
        let pending = match self.pods.get(&full_name(&pod.metadata)) {
            Some(known) => Pod { uid: known.uid.clone(), ..converted },
            None => converted,
        };
        self.keep(pod, &pending.uid, None);
        pending
    }

    /// A pod goes to a node, be it there or not. `written` is how it was before.
    pub fn place(&mut self, pod: Arc<Pod>, written: &ApiPod, node: &str) {
        let node = self.cache.base.interner.intern(node);
        let name = pod_name(&pod, &self.cache.base.interner);
        self.forget_pod(&name);
        self.cache.base.originals.set_pod(&pod.uid, None);
        self.keep(written, &pod.uid, Some(node));
        if let Some(budgets) = &mut self.budgets {
            budgets.set_pod(written, Some(self.cache.base.interner.resolve(node)));
        }
        self.pods.insert(name, Known { uid: pod.uid.clone(), node: Some(node) });
        self.cache.add_pod(pod, node, PodState::Bound);
    }
}

/// A pod as people name it: `namespace/name`.
fn full_name(pod: &ObjectMeta) -> String {
    format!("{}/{}", schedc_objects::namespace(pod), pod.name.as_deref().unwrap_or_default())
}
