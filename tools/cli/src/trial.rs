//! A cluster in memory in which changes are tried. The scheduler, its queue and the controllers react to each change.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::cache::Base;
use schedc_core::erased::AnyBundle;
use schedc_core::explain::Explanation;
use schedc_core::model::Uid;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::{Key, uid_of};
use schedc_in_memory::{Input, Simulator, TimedInput};
use schedc_objects::{AnyObject, convert_pod};

use crate::attempts::AttemptRecorder;
pub(crate) use crate::attempts::{Victim, WaitReason};
pub(crate) use crate::cluster::Options;
use crate::cluster::{Cluster, Routes};

/// A cluster in which the pending pods of the input have been attempted.
pub(crate) struct Trial {
    simulator: Simulator<AttemptRecorder>,
    routes: Routes,
    /// Pending pods of the input.
    pending: Vec<Uid>,
}

/// State of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrialState {
    /// The pod runs on this node.
    Running(String),
    /// The pod waits.
    Waiting(WaitReason),
    /// The pod no longer exists.
    Gone,
}

impl Trial {
    /// Creates a cluster, and attempts its pending pods.
    ///
    /// # Errors
    /// Returns an error if a plugin cannot start.
    pub(crate) fn new(bundle: &AnyBundle, objects: Vec<AnyObject>, options: &Options) -> Result<Trial, StartErrors> {
        let Cluster { mut simulator, pending, .. } =
            Cluster::new(bundle, objects, options, AttemptRecorder::default())?;
        simulator.run();
        simulator.hooks.preempted.clear();
        simulator.hooks.preempting = None;
        Ok(Trial { simulator, routes: options.routes, pending })
    }

    /// Returns the number of pods of the input that are still pending.
    pub(crate) fn still_pending(&self) -> usize {
        self.pending.iter().filter(|uid| self.simulator.scheduler.pending(uid).is_some()).count()
    }

    /// Adds or updates objects without an attempt. Returns the key of each.
    pub(crate) fn add(&mut self, objects: impl IntoIterator<Item = AnyObject>) -> Vec<Key> {
        // Only an object without a name cannot be added, and the reader has reported that as an error.
        objects
            .into_iter()
            .filter_map(|object| self.simulator.add(object).ok())
            .map(|object| Key::of(&object))
            .collect()
    }

    /// Runs the scheduler and the controllers at the current time: no backoff ends.
    pub(crate) fn settle(&mut self) {
        self.simulator.settle();
    }

    /// Lets time pass until nothing more happens.
    pub(crate) fn run(&mut self) {
        self.simulator.run();
    }

    /// Returns a pod.
    pub(crate) fn pod(&self, key: &Key) -> Option<&ApiPod> {
        match &**self.simulator.server.get(key)? {
            AnyObject::Pod(pod) => Some(pod),
            _ => None,
        }
    }

    /// Returns the node of a pod; `None` if it has none.
    pub(crate) fn node_of(&self, key: &Key) -> Option<&str> {
        self.pod(key)?.spec.as_ref()?.node_name.as_deref().filter(|node| !node.is_empty())
    }

    /// Returns the state of a pod.
    pub(crate) fn state(&mut self, key: &Key) -> TrialState {
        if let Some(node) = self.node_of(key) {
            return TrialState::Running(node.to_owned());
        }
        let Some(object) = self.simulator.server.get(key) else { return TrialState::Gone };
        let uid = uid_of(object);
        TrialState::Waiting(match self.simulator.hooks.rejections.get(&uid) {
            Some(rejection) => rejection.clone(),
            None => {
                // A pod without an attempt is usually gated.
                let status = self.simulator.scheduler.gate_status(&uid);
                let message = status.map_or_else(|| "has not been attempted".to_owned(), |status| status.message());
                WaitReason { message, reasons: Vec::new() }
            }
        })
    }

    /// Returns whether a pod waits neither for a node nor at a gate: it waits for other pods in Permit, for example.
    pub(crate) fn is_in_progress(&mut self, key: &Key) -> bool {
        let Some(uid) = self.simulator.server.get(key).map(|object| uid_of(object)) else { return false };
        self.node_of(key).is_none()
            && !self.simulator.hooks.rejections.contains_key(&uid)
            && self.simulator.scheduler.gate_status(&uid).is_none()
    }

    /// Returns the last rejection that led to a preemption.
    pub(crate) fn preempting(&self) -> Option<&WaitReason> {
        self.simulator.hooks.preempting.as_ref()
    }

    /// Deletes a pod, as an eviction does.
    pub(crate) fn delete(&mut self, pod: &Key) {
        let at = self.simulator.now();
        self.simulator.schedule(TimedInput { at, input: Input::Delete(pod.clone()) });
        self.simulator.deliver_changes();
    }

    /// Returns an object.
    pub(crate) fn object(&self, key: &Key) -> Option<&AnyObject> {
        self.simulator.server.get(key).map(|object| &**object)
    }

    /// Returns all objects, to create the same cluster again.
    pub(crate) fn objects(&self) -> Vec<AnyObject> {
        self.simulator.server.objects().map(|object| AnyObject::clone(object)).collect()
    }

    /// Returns the version of the cluster, which each change increases.
    pub(crate) fn version(&self) -> u64 {
        self.simulator.server.store().version()
    }

    /// Returns the disruption budgets of a namespace.
    pub(crate) fn budgets(&self, namespace: &str) -> impl Iterator<Item = &Arc<AnyObject>> {
        self.simulator.server.list_in("PodDisruptionBudget", namespace)
    }

    /// Returns the pods on a node.
    pub(crate) fn pods_on(&self, node: &str) -> Vec<Key> {
        self.pods_where(|pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node))
    }

    /// Returns the pods on each node.
    pub(crate) fn pods_by_node(&self) -> HashMap<String, Vec<Key>> {
        let mut by_node: HashMap<String, Vec<Key>> = HashMap::new();
        for object in self.simulator.server.list("Pod") {
            if let AnyObject::Pod(pod) = &**object
                && let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref())
            {
                by_node.entry(node.clone()).or_default().push(Key::of(object));
            }
        }
        by_node
    }

    /// Returns the pods, by namespace and name.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &ApiPod> {
        self.simulator.server.list("Pod").filter_map(|object| match &**object {
            AnyObject::Pod(pod) => Some(&**pod),
            _ => None,
        })
    }

    /// Returns the names of the nodes, sorted.
    pub(crate) fn node_names(&self) -> Vec<String> {
        self.simulator.server.list("Node").map(|node| node.name().to_owned()).collect()
    }

    /// Returns the nodes and pods as the scheduler reads them.
    pub(crate) fn base(&mut self) -> &Base {
        self.simulator.scheduler.base_mut()
    }

    /// Explains the scheduling cycle of a pod, which need not be in the cluster. Returns `None` if no profile serves
    /// the pod.
    pub(crate) fn explain(&mut self, pod: &ApiPod) -> Option<Explanation> {
        let profile = self.routes.profile_of(pod)?;
        let scheduler = &mut self.simulator.scheduler;
        let pod = Arc::new(convert_pod(pod, &mut scheduler.base_mut().interner));
        Some(scheduler.explain(profile, &pod, false))
    }

    fn pods_where(&self, matches: impl Fn(&ApiPod) -> bool) -> Vec<Key> {
        let pods = self.simulator.server.list("Pod");
        let matching = pods.filter(|object| matches!(&***object, AnyObject::Pod(pod) if matches(pod)));
        matching.map(|object| Key::of(object)).collect()
    }

    /// Returns the pods that were preempted after the creation of the trial.
    pub(crate) fn preempted(&self) -> &[Victim] {
        &self.simulator.hooks.preempted
    }
}
