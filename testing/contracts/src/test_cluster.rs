//! Cluster and scheduler for histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::cache::{Cache, PodState};
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::intern::Symbol;
use schedc_core::minimal_cluster::MinimalCluster;
use schedc_core::model::{Node, Pod, PodSpec, Uid};
use schedc_core::profile::{Bundle, StartError};
use schedc_core::scheduler::{Change, Options, Outcome, TieBreak};
use schedc_objects::{AnyObject, removal_change, upsert_change};

use crate::history::Step;
use crate::test_object::TestObject;

/// Time in nanoseconds that is longer than any backoff.
const MINUTE: i64 = 60_000_000_000;
/// Maximum number of attempts, because pods could be activated again and again.
const MAX_ATTEMPTS: usize = 1000;

/// A cluster whose scheduler serves every pod by one profile.
pub(crate) struct TestCluster<B: Bundle> {
    pub(crate) cluster: MinimalCluster<B>,
    pub(crate) profile: usize,
    now: i64,
}

impl<B: Bundle> TestCluster<B> {
    pub(crate) fn new(profile: usize) -> Result<Self, String> {
        // The flush of unschedulable pods is disabled: only events may wake a pod.
        let options = Options {
            serve_all: Some(profile),
            leftover_after: i64::MAX,
            tie_break: TieBreak::First,
            ..Options::default()
        };
        let cluster = MinimalCluster::with(options).map_err(|errors| describe_errors(&errors))?;
        Ok(TestCluster { cluster, profile, now: 0 })
    }

    /// Returns a copy of the cluster with a new scheduler.
    pub(crate) fn restarted(&mut self) -> Result<Self, String> {
        let mut other = TestCluster::new(self.profile)?;
        let cache = &self.cluster.scheduler.cache;
        *other.cluster.interner() = cache.base.interner.clone();
        other.advance(self.now);
        let cluster = &mut other.cluster;
        cache.objects().for_each(|object| cluster.change(Change::Object(object.clone())));
        nodes(cache).for_each(|node| cluster.node(node.clone()));
        for (pod, node, _) in cache.pods() {
            cluster.pod(on_node(pod, node));
        }
        for pod in self.pending() {
            cluster.pod(Pod::clone(&pod));
        }
        Ok(other)
    }

    /// Applies a step without scheduling.
    pub(crate) fn apply_step(&mut self, step: Step, objects: &[TestObject]) {
        match step {
            Step::Set { object, variant } => self.set(&objects[object].variants[variant]),
            Step::Remove { object } => self.remove(&objects[object].variants[0]),
            Step::Refuse => {}
        }
    }

    fn set(&mut self, object: &AnyObject) {
        match upsert_change(object, self.cluster.interner()) {
            Some(Change::Pod(pod)) => self.set_pod(pod),
            Some(change) => self.cluster.change(change),
            None => {}
        }
    }

    /// Creates or updates a pod. A pod keeps its node; a pod on a missing node is ignored.
    fn set_pod(&mut self, pod: Pod) {
        let cache = &self.cluster.scheduler.cache;
        let current = cache.pod(&pod.uid).map(|(_, node, _)| node);
        let node = current.or(pod.spec.node_name);
        match node {
            Some(node) if cache.base.node(node).is_none() => {}
            Some(node) => self.cluster.pod(on_node(&pod, node)),
            None => self.cluster.pod(pod),
        }
    }

    fn remove(&mut self, object: &AnyObject) {
        match removal_change(object, self.cluster.interner()) {
            Some(Change::NodeDeleted(name)) => {
                let cache = &self.cluster.scheduler.cache;
                let on_node = cache.pods().filter(|(_, node, _)| *node == name);
                let mut on_node: Vec<Uid> = on_node.map(|(pod, ..)| pod.uid.clone()).collect();
                on_node.sort();
                // The pods of a node are deleted before the node.
                on_node.into_iter().for_each(|uid| self.cluster.change(Change::PodDeleted(uid)));
                if self.cluster.scheduler.cache.base.node(name).is_some() {
                    self.cluster.change(Change::NodeDeleted(name));
                }
            }
            Some(change) => self.cluster.change(change),
            None => {}
        }
    }

    /// Lets backoff expire, and schedules until no pod is active.
    pub(crate) fn run(&mut self) -> Vec<Outcome> {
        self.advance(MINUTE);
        self.drain()
    }

    /// Schedules every pod regardless of its queue place, and lets waiting in Permit time out.
    pub(crate) fn try_all(&mut self) -> Vec<Outcome> {
        for pod in self.pending() {
            self.cluster.scheduler.activate(&pod.uid);
        }
        let mut outcomes = self.run();
        for _ in 0..MAX_ATTEMPTS {
            let Some(deadline) = self.cluster.scheduler.next_deadline() else { break };
            self.now = self.now.max(deadline);
            self.cluster.tick(self.now);
            outcomes.extend(self.drain());
        }
        outcomes
    }

    fn drain(&mut self) -> Vec<Outcome> {
        (0..MAX_ATTEMPTS).map_while(|_| self.cluster.step()).collect()
    }

    /// Advances the time.
    pub(crate) fn advance(&mut self, time: i64) {
        self.now += time;
        self.cluster.tick(self.now);
    }

    /// Sets whether all bindings are refused.
    pub(crate) fn refuse(&mut self, refuse: bool) {
        self.cluster.refuse_bindings(refuse.then(|| ApiError::new(ApiReason::Other, "refused by the test")));
    }

    /// Returns the pods without a node, sorted by uid.
    pub(crate) fn pending(&self) -> Vec<Arc<Pod>> {
        let mut pods: Vec<Arc<Pod>> = self.cluster.scheduler.pending_pods().cloned().collect();
        pods.sort_by(|a, b| a.uid.cmp(&b.uid));
        pods
    }
}

/// Builds a new cache from the objects of `cache`: without the pods in `without`, and with the additional pods in
/// `with`.
pub(crate) fn rebuilt<S: schedc_core::cache::State>(
    cache: &Cache<S>,
    pending: &[Arc<Pod>],
    without: &[&Uid],
    with: &[(&Arc<Pod>, Symbol)],
) -> Cache<S> {
    let mut other: Cache<S> = Cache::default();
    other.base.interner = cache.base.interner.clone();
    cache.objects().for_each(|object| other.set_object(object.clone()));
    for node in nodes(cache) {
        other.set_node(node.clone());
    }
    // Sorted by uid instead of by arrival, because the result must not depend on the order.
    let pods: BTreeMap<&Uid, _> = cache.pods().map(|(pod, node, _)| (&pod.uid, (pod, node))).collect();
    let stay = pods.into_values().filter(|(pod, _)| !without.contains(&&pod.uid));
    for (pod, node) in stay.chain(with.iter().copied()) {
        other.add_pod(pod.clone(), node, PodState::Bound);
    }
    for pod in pending {
        other.state.set_pending(None, Some(pod));
    }
    other
}

fn nodes<S: schedc_core::cache::State>(cache: &Cache<S>) -> impl Iterator<Item = &Node> {
    cache.base.infos().iter().filter_map(|info| info.node.as_deref())
}

/// Returns the pod with its node.
fn on_node(pod: &Pod, node: Symbol) -> Pod {
    let spec = PodSpec { node_name: Some(node), ..PodSpec::clone(&pod.spec) };
    Pod { spec: Arc::new(spec), nominated_node: None, ..pod.clone() }
}

pub(crate) fn describe_errors(errors: &[StartError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
