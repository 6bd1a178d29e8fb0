//! A scheduler with short functions for nodes and pods.

use std::borrow::Cow;
use std::sync::Arc;

use schedc_core::client::{ApiError, ApiReason};
use schedc_core::explain::Explanation;
use schedc_core::minimal_cluster::MinimalCluster;
use schedc_core::model::{NodeIndex, Pod, PodSpec, Uid};
use schedc_core::profile::{Bundle, StartErrors};
use schedc_core::scheduler::{Change, Failure, Outcome};
use schedc_objects::testing;

use crate::framework::plugins::stage::{self, Answer};

/// A cluster and its scheduler.
pub struct TestCluster<B: Bundle> {
    pub cluster: MinimalCluster<B>,
}

impl<B: Bundle> TestCluster<B> {
    /// Makes an empty cluster.
    pub fn new() -> Self {
        Self::seeded(7)
    }

    /// Makes an empty cluster; `seed` determines the choice among equally good nodes.
    pub fn seeded(seed: u64) -> Self {
        stage::clear();
        TestCluster { cluster: MinimalCluster::new(seed).unwrap() }
    }

    /// Makes an empty cluster with answers that are set before its plugins are created.
    pub fn with_answers(answers: &[(&str, Answer)]) -> Result<Self, StartErrors> {
        stage::clear();
        answers.iter().for_each(|(call, answer)| stage::set_answer(call, *answer));
        Ok(TestCluster { cluster: MinimalCluster::new(7)? })
    }

    /// Adds a node with room for ten pods.
    pub fn node(&mut self, name: &str, labels: &str) -> NodeIndex {
        self.node_for(10, name, labels)
    }

    /// Adds a node with room for this number of pods.
    pub fn node_for(&mut self, pods: usize, name: &str, labels: &str) -> NodeIndex {
        let yaml = format!(
            "metadata: {{ name: '{name}', labels: {{ {labels} }} }}\nstatus: {{ allocatable: {{ pods: '{pods}' }} }}"
        );
        let node = testing::node(&yaml, self.cluster.interner());
        let name = node.name;
        self.cluster.node(node);
        self.cluster.scheduler.cache.base.node(name).unwrap()
    }

    /// Makes a pod, without adding it. Its uid is its name.
    pub fn pod(&mut self, name: &str, labels: &str) -> Arc<Pod> {
        self.important_pod(name, labels, 0)
    }

    /// Makes a pod with a priority.
    pub fn important_pod(&mut self, name: &str, labels: &str, priority: i32) -> Arc<Pod> {
        self.pod_from(&format!(
            "metadata: {{ name: '{name}', uid: '{name}', labels: {{ {labels} }} }}\nspec: {{ priority: {priority} }}"
        ))
    }

    /// Makes a pod from its manifest.
    pub fn pod_from(&mut self, yaml: &str) -> Arc<Pod> {
        Arc::new(testing::pod(yaml, self.cluster.interner()))
    }

    /// Adds a running pod.
    pub fn running(&mut self, name: &str, labels: &str, node: &str) -> Arc<Pod> {
        let pod = self.pod(name, labels);
        let node_name = Some(self.cluster.interner().intern(node));
        let spec = Arc::new(PodSpec { node_name, ..PodSpec::clone(&pod.spec) });
        let pod = Pod { spec, ..Pod::clone(&pod) };
        self.cluster.pod(pod.clone());
        Arc::new(pod)
    }

    /// Adds a pending pod for the first profile. No PreEnqueue plugin may hold it.
    pub fn pending(&mut self, name: &str, labels: &str) {
        let pod = self.pod(name, labels);
        assert_eq!(self.enqueue(0, pod), None);
    }

    /// Adds a pending pod with a priority.
    pub fn important(&mut self, name: &str, labels: &str, priority: i32) {
        let pod = self.important_pod(name, labels, priority);
        assert_eq!(self.enqueue(0, pod), None);
    }

    /// Adds a pending pod for a profile. Returns the message of the PreEnqueue plugin that holds it, if there is one.
    pub fn enqueue(&mut self, profile: usize, pod: Arc<Pod>) -> Option<String> {
        let scheduler_name = self.cluster.interner().intern(B::PROFILES[profile].scheduler_name);
        let spec = Arc::new(PodSpec { scheduler_name, ..PodSpec::clone(&pod.spec) });
        self.cluster.pod(Pod { spec, ..Pod::clone(&pod) });
        self.cluster.scheduler.gate_status(&pod.uid).map(|status| status.message())
    }

    /// Removes a pod.
    pub fn delete(&mut self, name: &str) {
        self.cluster.change(Change::PodDeleted(uid(name)));
    }

    /// Sets the time in nanoseconds.
    pub fn tick(&mut self, now: i64) {
        self.cluster.tick(now);
    }

    /// Returns the outcome of the next pod, which may wait in Permit; `None` if there is no work.
    pub fn step(&mut self) -> Option<String> {
        loop {
            let outcome = self.cluster.step().map(|outcome| describe(&outcome));
            if outcome.is_some() || !self.cluster.wait() {
                return outcome;
            }
        }
    }

    /// Returns the outcomes of all pods.
    pub fn run(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.step()).collect()
    }

    /// Returns the outcomes of all pods in a cluster that refuses bindings.
    pub fn run_refused(&mut self) -> Vec<String> {
        self.cluster.refuse_bindings(Some(ApiError::new(ApiReason::Conflict, "n has another owner")));
        let outcomes = self.run();
        self.cluster.refuse_bindings(None);
        outcomes
    }

    /// Explains the result of a scheduling cycle of the first profile for a pod.
    pub fn explain(&mut self, name: &str, labels: &str, all_filters: bool) -> Explanation {
        let pod = self.pod(name, labels);
        self.cluster.scheduler.explain(0, &pod, all_filters)
    }

    /// Returns the pods on a node.
    pub fn pods_on(&self, node: &str) -> Vec<String> {
        let base = &self.cluster.scheduler.cache.base;
        let index = base.interner.get(node).and_then(|name| base.node(name)).unwrap();
        base.infos()[index.get()].pods.iter().map(|pod| pod.name.to_string()).collect()
    }

    /// Returns the nodes with nominated pods, and these pods.
    pub fn nominations(&mut self) -> Vec<String> {
        let stranger = self.important_pod("stranger", "", i32::MIN);
        let cache = &self.cluster.scheduler.cache;
        let of_node = |(node, pods): (NodeIndex, Cow<'_, [Arc<Pod>]>)| {
            let pods: Vec<&str> = pods.iter().map(|pod| &*pod.name).collect();
            format!("{} for {}", cache.base.name(node), pods.join(" "))
        };
        let mut nominations: Vec<String> = cache.nominated_before(&stranger).map(of_node).collect();
        nominations.sort();
        nominations
    }
}

/// Describes an outcome in words.
pub fn describe(outcome: &Outcome) -> String {
    let pod = &outcome.pod.name;
    match &outcome.result {
        Ok(placed) => format!("{pod} on {}", placed.node),
        Err(Failure::Unschedulable(unschedulable)) => format!("{pod} waits: {}", unschedulable.message),
        Err(Failure::Error(message)) => format!("{pod} failed: {message}"),
    }
}

/// Makes a uid.
pub fn uid(name: &str) -> Uid {
    Uid(name.into())
}
