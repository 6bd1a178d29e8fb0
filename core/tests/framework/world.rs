//! A scheduler with nodes and pods from a few words.

use std::sync::Arc;

use schedc_core::client::{ApiError, ApiReason, Client};
use schedc_core::embedded::Embedded;
use schedc_core::explain::Explanation;
use schedc_core::extension_points::Placement;
use schedc_core::model::{NodeIndex, Pod, Uid};
use schedc_core::profile::{Bundle, StartError};
use schedc_core::scheduler::{Failure, Outcome, Scheduler};
use schedc_objects::testing;

use crate::plugins::stage::{self, Answer};

/// A cluster and its scheduler.
pub struct World<B: Bundle> {
    pub scheduler: Scheduler<B>,
}

impl<B: Bundle> World<B> {
    /// An empty cluster.
    pub fn new() -> Self {
        Self::seeded(7)
    }

    /// An empty cluster; equally good nodes are drawn among by `seed`.
    pub fn seeded(seed: u64) -> Self {
        stage::clear();
        World { scheduler: Scheduler::new(seed).unwrap() }
    }

    /// An empty cluster whose plugins are told something before they are made.
    pub fn told(answers: &[(&str, Answer)]) -> Result<Self, Vec<StartError>> {
        stage::clear();
        answers.iter().for_each(|(call, answer)| stage::tell(call, *answer));
        Ok(World { scheduler: Scheduler::new(7)? })
    }

    /// A node with room for ten pods.
    pub fn node(&mut self, name: &str, labels: &str) -> NodeIndex {
        self.node_for(10, name, labels)
    }

    /// A node with room for so many pods.
    pub fn node_for(&mut self, pods: usize, name: &str, labels: &str) -> NodeIndex {
        let yaml = format!(
            "metadata: {{ name: '{name}', labels: {{ {labels} }} }}\nstatus: {{ allocatable: {{ pods: '{pods}' }} }}"
        );
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.cache.set_node(node)
    }

    /// A pod, known to nobody yet. Its uid is its name.
    pub fn pod(&mut self, name: &str, labels: &str) -> Arc<Pod> {
        self.important_pod(name, labels, 0)
    }

    /// A pod of a priority.
    pub fn important_pod(&mut self, name: &str, labels: &str, priority: i32) -> Arc<Pod> {
        self.pod_from(&format!(
            "metadata: {{ name: '{name}', uid: '{name}', labels: {{ {labels} }} }}\nspec: {{ priority: {priority} }}"
        ))
    }

    /// A pod from its manifest.
    pub fn pod_from(&mut self, yaml: &str) -> Arc<Pod> {
        Arc::new(testing::pod(yaml, &mut self.scheduler.cache.base.interner))
    }

    /// A pod that runs.
    pub fn running(&mut self, name: &str, labels: &str, node: &str) -> Arc<Pod> {
        let pod = self.pod(name, labels);
        let node = self.scheduler.cache.base.interner.intern(node);
        self.scheduler.cache.add_pod(pod.clone(), node, schedc_core::cache::PodState::Bound);
        pod
    }

    /// A pod for the first profile, which is not held.
    pub fn pending(&mut self, name: &str, labels: &str) {
        let pod = self.pod(name, labels);
        assert_eq!(self.scheduler.enqueue(0, pod), None);
    }

    /// The same, of a priority.
    pub fn important(&mut self, name: &str, labels: &str, priority: i32) {
        let pod = self.important_pod(name, labels, priority);
        assert_eq!(self.scheduler.enqueue(0, pod), None);
    }

    /// What becomes of the next pod; none if there is nothing to do.
    pub fn step(&mut self) -> Option<String> {
        self.scheduler.step(&Embedded, &Embedded).map(|outcome| in_words(&outcome))
    }

    /// What becomes of all pods.
    pub fn run(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.step()).collect()
    }

    /// What becomes of all pods in a cluster that refuses bindings.
    pub fn run_refused(&mut self) -> Vec<String> {
        let next = || self.scheduler.step(&Refusing, &Embedded).map(|outcome| in_words(&outcome));
        std::iter::from_fn(next).collect()
    }

    /// What a cycle of the first profile would find for a pod.
    pub fn explain(&mut self, name: &str, labels: &str, all_filters: bool) -> Explanation {
        let pod = self.pod(name, labels);
        self.scheduler.explain(0, &pod, all_filters)
    }

    /// The pods on a node.
    pub fn pods_on(&self, node: &str) -> Vec<String> {
        let base = &self.scheduler.cache.base;
        let index = base.interner.get(node).and_then(|name| base.node(name)).unwrap();
        base.infos()[index.get()].pods.iter().map(|pod| pod.name.to_string()).collect()
    }

    /// The nodes that room was made on, with the pods that it was made for.
    pub fn nominations(&mut self) -> Vec<String> {
        let stranger = self.important_pod("stranger", "", i32::MIN);
        let cache = &self.scheduler.cache;
        let of_node = |(node, pods): (NodeIndex, Vec<Arc<Pod>>)| {
            let pods: Vec<&str> = pods.iter().map(|pod| &*pod.name).collect();
            format!("{} for {}", cache.base.name(node), pods.join(" "))
        };
        let mut nominations: Vec<String> = cache.nominated_before(&stranger).map(of_node).collect();
        nominations.sort();
        nominations
    }
}

/// An outcome in words.
pub fn in_words(outcome: &Outcome) -> String {
    let pod = &outcome.pod.name;
    match &outcome.result {
        Ok(placed) => format!("{pod} on {}", placed.node),
        Err(Failure::Held(status)) => format!("{pod} is held: {status}"),
        Err(Failure::Unschedulable(unschedulable)) => format!("{pod} waits: {}", unschedulable.message),
        Err(Failure::Error(message)) => format!("{pod} failed: {message}"),
    }
}

/// A uid.
pub fn uid(name: &str) -> Uid {
    Uid(name.into())
}

/// A cluster that refuses bindings.
#[derive(Clone, Copy, Debug)]
pub struct Refusing;

impl Client for Refusing {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        Err(ApiError::new(ApiReason::Conflict, format!("{} has another owner", placement.node_name)))
    }
    async fn sleep(&self, _: std::time::Duration) {}
}
