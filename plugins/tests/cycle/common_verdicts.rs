//! Pods that differ in their affinity share the verdicts of the other filters, and each gets the decision of a full
//! evaluation.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine, UNTIMED};
use schedc_core::handle::Handle;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;
use schedc_objects::testing;

use crate::cycle::scheduler::preemption::Pipeline;

const NODES: usize = 6;

#[derive(Clone, Debug)]
enum Event {
    /// An attempt for a pod that requests this many cpus and has this affinity.
    Attempt(usize, Affinity),
    /// A pod with this label value and this priority is added to a node.
    Pod(usize, usize, i32),
    /// A pod is deleted.
    Gone(prop::sample::Index),
    /// A node gets this number of cpus, where 0 also makes it unschedulable; `None` deletes the node.
    Node(usize, Option<usize>),
}

/// Affinity or anti-affinity to pods with a label value.
#[derive(Clone, Copy, Debug)]
enum Affinity {
    To(usize),
    Against(usize),
}

fn any_event() -> impl Strategy<Value = Event> {
    let affinity = prop_oneof![(0..6_usize).prop_map(Affinity::To), (0..6_usize).prop_map(Affinity::Against)];
    prop_oneof![
        12 => (1..4_usize, affinity).prop_map(|(cpus, affinity)| Event::Attempt(cpus, affinity)),
        4 => (0..6_usize, 0..NODES, -1..2).prop_map(|(label, node, priority)| Event::Pod(label, node, priority)),
        2 => any::<prop::sample::Index>().prop_map(Event::Gone),
        3 => (0..NODES, prop::option::weighted(0.8, 0..6_usize)).prop_map(|(node, cpus)| Event::Node(node, cpus)),
    ]
}

struct TestCluster {
    cache: Cache<<Pipeline as Profile>::State>,
    cached: Engine<Pipeline>,
    uncached: Engine<Pipeline>,
    running: Vec<Arc<Pod>>,
    pods: usize,
}

impl TestCluster {
    fn new() -> Self {
        let engine = || Engine::new(&Handle::default()).expect("a profile that starts");
        let (cached, mut uncached) = (engine(), engine());
        uncached.cache_answers = false;
        let mut cluster = TestCluster { cache: Cache::default(), cached, uncached, running: Vec::new(), pods: 0 };
        (0..NODES).for_each(|node| cluster.apply(&Event::Node(node, Some(node))));
        cluster
    }

    fn pod(&mut self, label: &str, spec: &str) -> Arc<Pod> {
        self.pods += 1;
        let yaml = format!("{{metadata: {{name: p{}, labels: {{app: {label}}}}}, spec: {{{spec}}}}}", self.pods);
        Arc::new(testing::pod(&yaml, &mut self.cache.base.interner))
    }

    fn waiting_pod(&mut self, cpus: usize, affinity: Affinity) -> Arc<Pod> {
        let (kind, label) = match affinity {
            Affinity::To(label) => ("podAffinity", label),
            Affinity::Against(label) => ("podAntiAffinity", label),
        };
        let mut spec =
            format!("containers: [{{name: c, resources: {{requests: {{cpu: {cpus}}}}}}}], affinity: {{{kind}: ");
        _ = write!(
            spec,
            "{{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: host,
               labelSelector: {{matchLabels: {{app: l{label}}}}}}}]}}}}"
        );
        self.pod("waiting", &spec)
    }

    fn apply(&mut self, event: &Event) {
        match *event {
            Event::Attempt(cpus, affinity) => {
                let pod = self.waiting_pod(cpus, affinity);
                self.decide(&pod);
            }
            Event::Pod(label, node, priority) => {
                let requests = "containers: [{name: c, resources: {requests: {cpu: 1}}}]";
                let pod = self.pod(&format!("l{label}"), &format!("priority: {priority}, {requests}"));
                let node = self.cache.base.interner.intern(&format!("n{node}"));
                self.cache.add_pod(pod.clone(), node, PodState::Bound);
                self.running.push(pod);
            }
            Event::Gone(at) if !self.running.is_empty() => {
                let pod = self.running.swap_remove(at.index(self.running.len()));
                self.cache.remove_pod(&pod.uid);
            }
            Event::Gone(_) => {}
            Event::Node(node, None) => {
                let name = self.cache.base.interner.intern(&format!("n{node}"));
                self.cache.remove_node(name);
            }
            Event::Node(node, Some(cpus)) => {
                let unschedulable = cpus == 0;
                let yaml = format!(
                    "{{metadata: {{name: n{node}, labels: {{host: n{node}}}}}, spec: {{unschedulable: {unschedulable}}},
                       status: {{allocatable: {{cpu: {cpus}, memory: 8Gi, pods: 6}}}}}}"
                );
                let node = testing::node(&yaml, &mut self.cache.base.interner);
                self.cache.set_node(node);
            }
        }
    }

    /// Decides with both engines and compares the decisions.
    fn decide(&mut self, pod: &Arc<Pod>) -> Decision {
        let decision = self.cached.decide(pod, &mut self.cache, UNTIMED, |_| 0);
        let full_decision = self.uncached.decide(pod, &mut self.cache, UNTIMED, |_| 0);
        assert_eq!(decision, full_decision, "{pod:?}");
        decision
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 3_000 }))]

    #[test]
    fn decisions_with_common_verdicts_equal_full_evaluations(
        history in prop::collection::vec(any_event(), 1..100),
    ) {
        let mut cluster = TestCluster::new();
        history.iter().for_each(|event| cluster.apply(event));
    }
}

#[test]
fn a_retry_on_few_nodes_creates_no_cached_answer() {
    let mut cluster = TestCluster::new();
    (0..NODES - 1).for_each(|node| cluster.apply(&Event::Node(node, Some(0))));
    cluster.apply(&Event::Pod(1, NODES - 1, 0));
    let mut is_cached = |label: usize| {
        let pod = cluster.waiting_pod(1, Affinity::Against(label));
        cluster.cached.cached_answer(&pod, &mut cluster.cache).is_some()
    };
    assert!(!is_cached(2), "the signature is new");
    assert!(is_cached(2), "no verdicts are known");
    let rejected = cluster.waiting_pod(1, Affinity::Against(1));
    assert!(matches!(cluster.decide(&rejected), Decision::Unschedulable(_)));
    let mut is_cached = |label: usize| {
        let pod = cluster.waiting_pod(1, Affinity::Against(label));
        cluster.cached.cached_answer(&pod, &mut cluster.cache).is_some()
    };
    assert_eq!([3, 3, 3].map(&mut is_cached), [false, false, true]);
}
