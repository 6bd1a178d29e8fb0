//! A hypothetical copy of the cluster: changes of objects, decisions about the pod, and exact reverts.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node as ApiNode, Pod as ApiPod};
use schedc_core::cache::Base;
use schedc_core::engine::Decision;
use schedc_core::erased::AnyCluster;
use schedc_core::explain::Explanation;
use schedc_core::extension_points::PostFilterResult;
use schedc_core::model::{NodeIndex, Pod, PodSpec, PreemptionPolicy};
use schedc_core::originals::RequiredOriginals;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;

use crate::budgets::Budgets;
use crate::evaluation::ScenarioCluster;

/// A changed object.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The object.
    pub key: Key,
    /// The object before; `None`: it did not exist.
    pub before: Option<Arc<AnyObject>>,
    /// The object after; `None`: it is deleted.
    pub after: Option<Arc<AnyObject>>,
}

/// A copy of the cluster in which changes are tried.
pub(super) struct Fork<'a> {
    scenario: ScenarioCluster<'a>,
    profile: usize,
    objects: BTreeMap<Key, Arc<AnyObject>>,
    subject: Key,
    /// The changes since the copy, the oldest first.
    edits: Vec<Edit>,
    /// Number of decisions, searches for victims and explanations so far.
    trials: usize,
    /// Work so far, where a decision without preemption is 1.
    work: usize,
    /// One node of each shape; `None` until it is needed.
    shapes: Option<Vec<String>>,
}

/// Work of an explanation.
const EXPLANATION_WORK: usize = 4;
/// Work of a search for victims.
const PREEMPTION_WORK: usize = 10;

impl<'a> Fork<'a> {
    /// Copies objects to an empty cluster. `subject` is the pod to place.
    pub(super) fn new<'o>(
        cluster: &'a mut dyn AnyCluster,
        profile: usize,
        originals: RequiredOriginals,
        objects: impl Iterator<Item = &'o Arc<AnyObject>>,
        subject: Key,
    ) -> Self {
        let objects: BTreeMap<Key, Arc<AnyObject>> = objects.map(|object| (Key::of(object), object.clone())).collect();
        let mut scenario = ScenarioCluster::new(cluster, profile, originals);
        // As in a scheduler, nodes come before pods.
        let is_pod = |key: &Key| key.kind == "Pod";
        for with_pods in [false, true] {
            for (_, object) in objects.iter().filter(|(key, _)| is_pod(key) == with_pods) {
                scenario.apply(object);
            }
        }
        Fork { scenario, profile, objects, subject, edits: Vec::new(), trials: 0, work: 0, shapes: None }
    }

    /// Returns the number of decisions, searches for victims and explanations so far.
    pub(super) fn trials(&self) -> usize {
        self.trials
    }

    /// Returns the work so far, where a decision is 1.
    pub(super) fn work(&self) -> usize {
        self.work
    }

    /// Returns one node of each shape. `compute` is called once in a search.
    pub(super) fn shapes(&mut self, compute: impl FnOnce(&Self) -> Vec<String>) -> Vec<String> {
        let shapes = self.shapes.take().unwrap_or_else(|| compute(self));
        self.shapes.insert(shapes).clone()
    }

    /// Returns the changes since the copy, the oldest first.
    pub(super) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Returns the pod to place.
    pub(super) fn subject(&self) -> ApiPod {
        match self.objects.get(&self.subject).map(|object| &**object) {
            Some(AnyObject::Pod(pod)) => ApiPod::clone(pod),
            _ => ApiPod::default(),
        }
    }

    /// Returns an object.
    pub(super) fn get(&self, key: &Key) -> Option<&AnyObject> {
        self.objects.get(key).map(|object| &**object)
    }

    /// Returns the objects of a kind, by namespace and name.
    pub(super) fn list(&self, kind: &'static str) -> impl Iterator<Item = &AnyObject> {
        let from = Key::new(kind, "", "");
        self.objects.range(from..).take_while(move |(key, _)| key.kind == kind).map(|(_, object)| &**object)
    }

    /// Returns the nodes, by name.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &ApiNode> {
        self.list("Node").filter_map(|object| match object {
            AnyObject::Node(node) => Some(&**node),
            _ => None,
        })
    }

    /// Returns a node.
    pub(super) fn node(&self, name: &str) -> Option<&ApiNode> {
        match self.get(&Key::cluster("Node", name)) {
            Some(AnyObject::Node(node)) => Some(node),
            _ => None,
        }
    }

    /// Returns the state of the cluster as the scheduler reads it.
    pub(super) fn base(&mut self) -> &Base {
        self.scenario.cluster().base()
    }

    /// Returns the disruption budgets.
    pub(super) fn budgets(&mut self) -> Budgets {
        let mut budgets = Budgets::default();
        let interner = &mut self.scenario.cluster().base_mut().interner;
        // Keys are sorted by kind.
        let from = Key::new("PodDisruptionBudget", "", "");
        for (_, object) in self.objects.range(from..).take_while(|(key, _)| key.kind == "PodDisruptionBudget") {
            budgets.set(object, interner);
        }
        budgets
    }

    /// Adds or replaces an object.
    pub(super) fn set(&mut self, object: impl Into<AnyObject>) {
        let object = object.into();
        self.put(Key::of(&object), Some(Arc::new(object)));
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, key: Key) {
        self.put(key, None);
    }

    fn put(&mut self, key: Key, after: Option<Arc<AnyObject>>) {
        let before = self.replace(&key, after.clone());
        self.edits.push(Edit { key, before, after });
    }

    fn replace(&mut self, key: &Key, object: Option<Arc<AnyObject>>) -> Option<Arc<AnyObject>> {
        match object {
            Some(object) => {
                self.scenario.apply(&object);
                self.objects.insert(key.clone(), object)
            }
            None => {
                let old = self.objects.remove(key);
                old.iter().for_each(|old| self.scenario.remove(old));
                old
            }
        }
    }

    /// Reverts all changes except the first `kept` ones.
    pub(super) fn revert_to(&mut self, kept: usize) {
        while self.edits.len() > kept {
            let Some(Edit { key, before, .. }) = self.edits.pop() else { break };
            self.replace(&key, before);
        }
    }

    /// Deletes a pod, and releases its resource claims as the resource claim controller does.
    pub(super) fn evict(&mut self, namespace: &str, name: &str) {
        let key = Key::pod(namespace, name);
        let Some(uid) = self.get(&key).and_then(|pod| pod.metadata().uid.clone()) else { return self.remove(key) };
        let claims: Vec<AnyObject> =
            self.list("ResourceClaim").filter(|claim| claim.namespace() == namespace).cloned().collect();
        for claim in claims {
            let AnyObject::ResourceClaim(mut claim) = claim else { continue };
            let owners = claim.metadata.owner_references.iter().flatten();
            if owners.into_iter().any(|owner| owner.uid == uid) {
                self.remove(Key::of(&AnyObject::ResourceClaim(claim)));
                continue;
            }
            let Some(status) = &mut claim.status else { continue };
            let Some(consumers) = &mut status.reserved_for else { continue };
            let before = consumers.len();
            consumers.retain(|consumer| consumer.uid != uid);
            if consumers.len() == before {
                continue;
            }
            if consumers.is_empty() {
                status.allocation = None;
            }
            self.set(*claim);
        }
        self.remove(key);
    }

    /// Returns the pod to place as the scheduler reads it.
    pub(super) fn pod(&mut self) -> Arc<Pod> {
        let subject = self.subject();
        Arc::new(self.scenario.pending(&subject))
    }

    /// Returns the node on which the scheduler places the pod. `None`: it does not place the pod.
    pub(super) fn place(&mut self) -> Option<String> {
        let pod = self.pod();
        // The first decision is about a copy of the pod that never preempts, because a failure then needs no search for
        // victims. The second decision is about the unchanged pod.
        let spec = PodSpec { preemption_policy: PreemptionPolicy::Never, ..PodSpec::clone(&pod.spec) };
        let without_preemption = Arc::new(Pod { spec: Arc::new(spec), ..Pod::clone(&pod) });
        self.decide(&without_preemption)?;
        let node = self.decide(&pod)?;
        Some(self.base().name(node).to_owned())
    }

    fn count(&mut self, work: usize) {
        self.trials += 1;
        self.work += work;
    }

    /// Returns the node for a pod. `None`: the pod is gated, or no node is feasible.
    fn decide(&mut self, pod: &Arc<Pod>) -> Option<NodeIndex> {
        self.count(1);
        let profile = self.profile;
        let cluster = self.scenario.cluster();
        if cluster.gate_status(profile, pod).is_some() {
            return None;
        }
        match cluster.decide(profile, pod) {
            Decision::Node(node) => Some(node),
            Decision::Unschedulable(_) | Decision::Error(_) => None,
        }
    }

    /// Returns the preemption for a pod: the candidate nodes with their victims. `None`: no node is nominated.
    pub(super) fn preempt(&mut self, pod: &Arc<Pod>) -> Option<PostFilterResult> {
        self.count(PREEMPTION_WORK);
        let profile = self.profile;
        match self.scenario.cluster().decide(profile, pod) {
            Decision::Unschedulable(unschedulable) => {
                unschedulable.post_filter.filter(|result| result.nominated().is_some())
            }
            Decision::Node(_) | Decision::Error(_) => None,
        }
    }

    /// Explains the decision about the pod, with all plugins that reject a node.
    pub(super) fn explain(&mut self) -> Explanation {
        self.count(EXPLANATION_WORK);
        let (pod, profile) = (self.pod(), self.profile);
        self.scenario.cluster().explain_all_filters(profile, &pod)
    }
}
