//! The cluster of a scenario.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::cache::{Base, PodState};
use schedc_core::erased::AnyCluster;
use schedc_core::explain::Explanation;
use schedc_core::intern::Symbol;
use schedc_core::model::{ObjectKey, Pod, Uid};
use schedc_core::originals::RequiredOriginals;
use schedc_objects::original::original;
use schedc_objects::{AnyObject, Kinds, convert_node, convert_object, convert_pod, is_finished};
use serde_json::Value;

use super::budgets::BudgetStatuses;
use super::claims::Claims;
use super::scenario::{ObjectName, Reference};
use super::{Decision, InvalidItem};
use crate::routes::pod_name;

/// The nodes, pods and other objects of a scenario.
pub struct ScenarioCluster<'a> {
    /// The scheduler's state of the cluster.
    pub(super) cluster: &'a mut dyn AnyCluster,
    /// The profile that decides.
    profile: usize,
    /// Objects whose originals are also kept.
    originals: RequiredOriginals,
    /// Pods by `namespace/name`.
    pods: HashMap<String, KnownPod>,
    /// Other objects by kind, namespace and name.
    others: HashMap<(String, String, String), ObjectKey>,
    /// The resource claims.
    claims: Claims,
    /// Computes statuses of budgets. `None` if each budget has a status.
    pub(super) budgets: Option<BudgetStatuses>,
}

/// A pod that has not finished.
struct KnownPod {
    uid: Uid,
    node: Option<Symbol>,
}

impl<'a> ScenarioCluster<'a> {
    /// Creates an empty cluster. `originals` selects the objects whose originals are kept.
    pub fn new(cluster: &'a mut dyn AnyCluster, profile: usize, originals: RequiredOriginals) -> Self {
        cluster.clear();
        ScenarioCluster {
            cluster,
            profile,
            originals,
            pods: HashMap::new(),
            others: HashMap::new(),
            claims: Claims::default(),
            budgets: None,
        }
    }

    /// Returns the scheduler's state of the cluster.
    pub fn cluster(&mut self) -> &mut dyn AnyCluster {
        self.cluster
    }

    /// Sets the profile that decides. From now on, its PreEnqueue plugins also decide which nominations count.
    pub fn use_profile(&mut self, profile: usize) {
        self.profile = profile;
    }

    /// Returns the nodes with their pods, and the interned strings.
    pub fn base(&self) -> &Base {
        self.cluster.base()
    }

    /// Explains a scheduling cycle of a profile for a pod.
    pub fn explain(&mut self, profile: usize, pod: &Arc<Pod>) -> Explanation {
        self.cluster.explain(profile, pod)
    }

    /// Runs a scheduling cycle for a pod.
    pub(super) fn decide(&mut self, pod: &Arc<Pod>) -> Decision {
        if pod.deleting {
            return Decision::skipped(pod, self.cluster.base(), "deleting");
        }
        self.update_budgets();
        let found = self.cluster.explain(self.profile, pod);
        Decision::new(pod, self.cluster.base(), found)
    }

    /// Adds or replaces an object. The nomination of a pending pod has an effect only if PreEnqueue admits the pod to
    /// the queue.
    pub fn apply(&mut self, object: &AnyObject) {
        match object {
            AnyObject::Node(node) => {
                let node = convert_node(node, &mut self.cluster.base_mut().interner);
                if self.originals.nodes {
                    self.cluster.base_mut().originals.set_node(node.name, original(object));
                }
                self.cluster.set_node(node);
            }
            AnyObject::Pod(pod) => self.set_pod(pod),
            other => {
                if let Some(budgets) = &mut self.budgets {
                    budgets.set(other);
                }
                self.set_object(other);
            }
        }
    }

    fn set_object(&mut self, object: &AnyObject) {
        self.claims.set(object);
        if let Some(converted) = convert_object(object, &mut self.cluster.base_mut().interner) {
            let name = (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned());
            self.others.insert(name, converted.key());
            self.cluster.set_object(converted);
        }
    }

    /// Computes the budget statuses that the scenario omits, and updates the budgets in the cluster.
    pub(super) fn update_budgets(&mut self) {
        let changed = self.budgets.as_mut().map(BudgetStatuses::update).unwrap_or_default();
        changed.iter().for_each(|budget| self.set_object(budget));
    }

    /// Updates an object. An object that does not exist is created. Exception: a pod that does not exist is ignored.
    pub fn update(&mut self, object: &AnyObject) {
        match object {
            AnyObject::Pod(pod) if !self.pods.contains_key(&full_name(&pod.metadata)) => {}
            _ => self.apply(object),
        }
    }

    /// Deletes an object if it exists.
    ///
    /// # Errors
    /// Returns an error if scheduling ignores objects of this kind.
    pub fn delete(&mut self, reference: &Reference, kinds: Kinds) -> Result<(), InvalidItem> {
        self.delete_named(&reference.clone().resolve(kinds)?);
        Ok(())
    }

    /// Deletes an object if it exists.
    pub(super) fn delete_named(&mut self, object: &ObjectName) {
        self.forget(object.kind, &object.namespace, &object.name);
    }

    /// Deletes an object that exists.
    pub fn remove(&mut self, object: &AnyObject) {
        self.forget(object.kind(), object.namespace(), object.name());
    }

    fn forget(&mut self, kind: &str, namespace: &str, name: &str) {
        if let Some(budgets) = &mut self.budgets {
            budgets.remove(kind, namespace, name);
        }
        self.claims.remove(kind, namespace, name);
        match kind {
            "Pod" => drop(self.forget_pod(&format!("{namespace}/{name}"))),
            "Node" => {
                let name = self.cluster.base_mut().interner.intern(name);
                self.cluster.base_mut().originals.set_node(name, None);
                self.cluster.remove_node(name);
            }
            _ => {
                if let Some(key) = self.others.remove(&(kind.to_owned(), namespace.to_owned(), name.to_owned())) {
                    self.cluster.remove_object(&key);
                }
            }
        }
    }

    /// Replaces a pod by removing and adding it. A pod with a node keeps it if the new object names no node.
    fn set_pod(&mut self, pod: &ApiPod) {
        let name = full_name(&pod.metadata);
        let before = self.forget_pod(&name);
        if is_finished(pod) {
            if let Some(budgets) = &mut self.budgets {
                budgets.set_pod(pod, pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()));
            }
            return;
        }
        let converted = Arc::new(convert_pod(pod, &mut self.cluster.base_mut().interner));
        let node = converted.spec.node_name.or(before.and_then(|known| known.node));
        self.keep_original(pod, &converted.uid, node);
        if let Some(budgets) = &mut self.budgets {
            budgets.set_pod(pod, node.map(|node| self.cluster.base().interner.resolve(node)));
        }
        match (node, converted.nominated_node) {
            (Some(node), _) => self.cluster.add_pod(converted.clone(), node, PodState::Bound),
            // The nomination of a gated pod reserves no resources.
            (None, Some(node)) if self.cluster.gate_status(self.profile, &converted).is_none() => {
                self.cluster.nominate(converted.clone(), node);
            }
            (None, _) => {}
        }
        self.pods.insert(name, KnownPod { uid: converted.uid.clone(), node });
    }

    fn forget_pod(&mut self, name: &str) -> Option<KnownPod> {
        let known = self.pods.remove(name)?;
        self.cluster.remove_pod(&known.uid);
        self.cluster.withdraw_nomination(&known.uid);
        self.cluster.base_mut().originals.set_pod(&known.uid, None);
        Some(known)
    }

    /// Keeps the original of a pod if it is required.
    fn keep_original(&mut self, pod: &ApiPod, uid: &Uid, node: Option<Symbol>) {
        let base = self.cluster.base_mut();
        if !(if node.is_some() { self.originals.placed_pods } else { self.originals.waiting_pods }) {
            return;
        }
        let mut pod = pod.clone();
        if let Some(node) = node {
            pod.spec.get_or_insert_default().node_name = Some(base.interner.resolve(node).to_owned());
        }
        base.originals.set_pod(uid, original(&pod.into()));
    }

    /// Returns the pod to schedule. If a pod with that name exists, the returned pod has its uid.
    pub fn pending(&mut self, pod: &ApiPod) -> Pod {
        let converted = convert_pod(pod, &mut self.cluster.base_mut().interner);
        let pending = match self.pods.get(&full_name(&pod.metadata)) {
            Some(known) => Pod { uid: known.uid.clone(), ..converted },
            None => converted,
        };
        self.keep_original(pod, &pending.uid, None);
        pending
    }

    /// Places a pod on a node, which need not exist. `written` is the pod's manifest before the placement.
    pub fn place(&mut self, pod: Arc<Pod>, written: &ApiPod, node: &str) {
        let node = self.cluster.base_mut().interner.intern(node);
        let name = pod_name(&pod, &self.cluster.base().interner);
        self.forget_pod(&name);
        self.cluster.base_mut().originals.set_pod(&pod.uid, None);
        self.keep_original(written, &pod.uid, Some(node));
        if let Some(budgets) = &mut self.budgets {
            budgets.set_pod(written, Some(self.cluster.base().interner.resolve(node)));
        }
        self.pods.insert(name, KnownPod { uid: pod.uid.clone(), node: Some(node) });
        self.cluster.add_pod(pod, node, PodState::Bound);
    }
}

impl ScenarioCluster<'_> {
    /// Writes the claims of a placed pod. `entries` are its allocations on its node, from the decision.
    pub(super) fn place_claims(&mut self, pod: &Pod, entries: &Value) {
        for claim in self.claims.placed(pod, entries) {
            self.set_object(&claim);
        }
    }
}

/// Returns the display name of a pod: `namespace/name`.
fn full_name(pod: &ObjectMeta) -> String {
    format!("{}/{}", schedc_objects::namespace(pod), pod.name.as_deref().unwrap_or_default())
}
