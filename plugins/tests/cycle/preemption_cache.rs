//! The cache of preemption trials does not change decisions.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::model::{Object, Pod};
use schedc_core::profile::Profile;
use schedc_objects::testing;

use crate::cycle::scheduler::{one_candidate, preempting_volumes};
use crate::cycle::test_cluster::TestCluster;

const NODES: usize = 6;
const PODS: usize = 16;
const BUDGETS: usize = 3;
const START: i64 = 1_767_225_600_000_000_000;

/// One step of a history. Numbers are taken modulo the number of objects.
#[derive(Clone, Copy, Debug)]
enum Step {
    Node { node: usize, cpu: usize, cordoned: bool },
    DeleteNode { node: usize },
    Pod { pod: usize, node: usize, kind: usize },
    DeletePod { pod: usize },
    Claim { pod: usize, variant: usize },
    Limit { node: usize, limit: Option<usize> },
    Budget { budget: usize, app: usize, allowed: Option<usize> },
    Nominate { pod: usize, node: usize },
    Withdraw { pod: usize },
    Decide { pod: usize, seed: usize, timed: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let n = || 0..64_usize;
    prop_oneof![
        1 => (n(), 2..5_usize, prop::bool::weighted(0.2))
            .prop_map(|(node, cpu, cordoned)| Step::Node { node, cpu, cordoned }),
        1 => n().prop_map(|node| Step::DeleteNode { node }),
        6 => (n(), n(), n()).prop_map(|(pod, node, kind)| Step::Pod { pod, node, kind }),
        3 => n().prop_map(|pod| Step::DeletePod { pod }),
        3 => (n(), n()).prop_map(|(pod, variant)| Step::Claim { pod, variant }),
        1 => (n(), prop::option::of(0..3_usize)).prop_map(|(node, limit)| Step::Limit { node, limit }),
        2 => (n(), n(), prop::option::of(0..3_usize))
            .prop_map(|(budget, app, allowed)| Step::Budget { budget, app, allowed }),
        2 => (n(), n()).prop_map(|(pod, node)| Step::Nominate { pod, node }),
        1 => n().prop_map(|pod| Step::Withdraw { pod }),
        10 => (n(), n(), prop::bool::weighted(0.2)).prop_map(|(pod, seed, timed)| Step::Decide { pod, seed, timed }),
    ]
}

/// Returns the manifest of a preempting pod. The pods have two priorities, and most of them are equivalent. Some depend
/// on pods of other nodes, some have volumes.
fn preemptor(pod: usize) -> String {
    let (priority, cpu) = ([3, 6][pod % 2], [2, 2, 4][pod % 3]);
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
       [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a1}}}]}}";
    let volume = volume(pod);
    let (rule, port) = match pod % 8 {
        4 | 5 => (&*volume, ""),
        6 => (apart, ""),
        7 => ("", ", ports: [{hostPort: 80}]"),
        _ => ("", ""),
    };
    format!(
        "metadata: {{name: new-{pod}}}
spec:
  priority: {priority}
  containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}{port}}}]
  {rule}"
    )
}

/// Returns a volume with the pod's own claim.
fn volume(pod: usize) -> String {
    format!("volumes: [{{name: v, persistentVolumeClaim: {{claimName: c{pod}}}}}]")
}

fn running(pod: usize, kind: usize) -> String {
    let (app, priority, cpu) = (kind % 3, [1, 1, 2, 4, 9][kind % 5], 1 + kind % 2);
    let port = if kind.is_multiple_of(7) { ", ports: [{hostPort: 80}]" } else { "" };
    let namespace = ["default", "other"][kind % 2];
    // Some pods have volumes. In the namespace `default`, the claim is also that of the preempting pod with this
    // number.
    let volumes = if kind.is_multiple_of(5) { format!(", {}", volume(pod)) } else { String::new() };
    let started = match kind % 4 {
        0 => String::new(),
        minute => format!("startTime: '2026-01-01T00:0{minute}:00Z'"),
    };
    format!(
        "metadata: {{name: pod-{pod}, uid: pod-{pod}, namespace: {namespace}, labels: {{app: a{app}}}}}
spec: {{priority: {priority}, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}{port}}}]{volumes}}}
status: {{{started}}}"
    )
}

struct History<P: Profile> {
    cluster: TestCluster<P>,
    preemptors: Vec<Arc<Pod>>,
    decisions: usize,
    candidates: usize,
}

impl<P: Profile> History<P> {
    fn new() -> Self {
        let mut cluster = TestCluster::new();
        let preemptors = (0..PODS).map(|pod| cluster.pod(&preemptor(pod))).collect();
        History { cluster, preemptors, decisions: 0, candidates: 0 }
    }

    fn node_name(&mut self, node: usize) -> schedc_core::intern::Symbol {
        self.cluster.cache.base.interner.intern(&format!("n{}", node % NODES))
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Node { node, cpu, cordoned } => {
                let name = node % NODES;
                self.cluster.node(&format!(
                    "{{metadata: {{name: n{name}, labels: {{kubernetes.io/hostname: n{name},
                       topology.kubernetes.io/zone: z{}}}}},
                       spec: {{unschedulable: {cordoned}}}, status: {{allocatable: {{cpu: {cpu}, pods: 9}}}}}}",
                    name % 2
                ));
            }
            Step::DeleteNode { node } => {
                let name = self.node_name(node);
                self.cluster.cache.remove_node(name);
            }
            Step::Pod { pod, node, kind } => {
                let (pod, node) = (pod % PODS, node % NODES);
                let manifest = running(pod, kind).replace("spec: {", &format!("spec: {{nodeName: n{node}, "));
                self.cluster.add_running(&manifest);
            }
            Step::DeletePod { pod } => {
                let uid = self.cluster.pod(&running(pod % PODS, 0)).uid.clone();
                self.cluster.cache.remove_pod(&uid);
            }
            Step::Claim { pod, variant } => self.claim(pod % PODS, variant % 6),
            Step::Limit { node, limit } => {
                let driver = |limit| format!("{{name: d, nodeID: id, allocatable: {{count: {limit}}}}}");
                let drivers = limit.map(driver).unwrap_or_default();
                let name = node % NODES;
                self.cluster
                    .object(&format!("{{kind: CSINode, metadata: {{name: n{name}}}, spec: {{drivers: [{drivers}]}}}}"));
            }
            Step::Budget { budget, app, allowed } => self.budget(budget % BUDGETS, app % 3, allowed),
            Step::Nominate { pod, node } => {
                let pod = self.preemptors[pod % PODS].clone();
                let name = self.node_name(node);
                self.cluster.cache.nominate(pod, name);
            }
            Step::Withdraw { pod } => {
                let uid = self.preemptors[pod % PODS].uid.clone();
                self.cluster.cache.withdraw_nomination(&uid);
            }
            Step::Decide { pod, seed, timed } => return self.decide(pod % PODS, seed, timed),
        }
        Ok(())
    }

    /// Binds the claim of a pod to a volume (in a zone, on two nodes, or on any node; shared or exclusive), or
    /// deletes the claim.
    fn claim(&mut self, pod: usize, variant: usize) {
        let labels = if variant == 3 { ", labels: {topology.kubernetes.io/zone: z1}" } else { "" };
        let terms =
            "nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1, n2]}]}]";
        let affinity = if variant == 4 { format!("nodeAffinity: {{required: {{{terms}}}}},") } else { String::new() };
        self.cluster.object(&format!(
            "{{kind: PersistentVolume, metadata: {{name: v{pod}{labels}}}, spec: {{capacity: {{storage: 1Gi}},
               accessModes: [ReadWriteMany], claimRef: {{namespace: default, name: c{pod}}}, {affinity}
               csi: {{driver: d, volumeHandle: h{pod}}}}}, status: {{phase: Bound}}}}"
        ));
        let mode = if variant == 2 { "ReadWriteOncePod" } else { "ReadWriteMany" };
        let manifest = format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: c{pod}, namespace: default,
               annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}}}, spec: {{volumeName: v{pod},
               accessModes: [{mode}], resources: {{requests: {{storage: 1Gi}}}}}}}}"
        );
        if variant != 5 {
            return self.cluster.object(&manifest);
        }
        let object: Object = testing::object(&manifest, &mut self.cluster.cache.base.interner);
        self.cluster.cache.remove_object(&object.key());
    }

    fn budget(&mut self, budget: usize, app: usize, allowed: Option<usize>) {
        let namespace = ["default", "other"][budget % 2];
        let manifest = format!(
            "{{kind: PodDisruptionBudget, metadata: {{name: b{budget}, namespace: {namespace}}},
               spec: {{selector: {{matchLabels: {{app: a{app}}}}}}}, status: {{disruptionsAllowed: {}}}}}",
            allowed.unwrap_or(0)
        );
        if allowed.is_some() {
            return self.cluster.object(&manifest);
        }
        let object: Object = testing::object(&manifest, &mut self.cluster.cache.base.interner);
        self.cluster.cache.remove_object(&object.key());
    }

    fn decide(&mut self, pod: usize, seed: usize, timed: bool) -> Result<(), TestCaseError> {
        let nominated_node = self.cluster.cache.nominator.node(&self.preemptors[pod].uid);
        let pod = Arc::new(Pod { nominated_node, ..Pod::clone(&self.preemptors[pod]) });
        // The time is sometimes between the start times of pods.
        let now = if timed { START + 150_000_000_000 } else { i64::MAX };
        let seed = seed * (usize::MAX / 64);
        let decision = self.cluster.cached_decision(&pod, now, seed);
        let expected = self.cluster.full_decision(&pod, now, seed);
        prop_assert_eq!(&decision, &expected, "{}", pod.name);
        self.decisions += 1;
        if let schedc_core::engine::Decision::Unschedulable(unschedulable) = decision {
            self.candidates += unschedulable.candidates().len();
        }
        Ok(())
    }
}

fn play<P: Profile>(history: &[Step]) -> Result<(), TestCaseError> {
    let mut cluster = History::<P>::new();
    for node in 0..NODES {
        cluster.step(Step::Node { node, cpu: 4, cordoned: false })?;
    }
    for pod in 0..PODS {
        cluster.step(Step::Claim { pod, variant: 0 })?;
        cluster.step(Step::Pod { pod, node: pod, kind: pod })?;
    }
    history.iter().try_for_each(|&step| cluster.step(step))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cached_trials_equal_full_evaluation(history in prop::collection::vec(step(), 1..120)) {
        play::<preempting_volumes::Pipeline>(&history)?;
    }

    #[test]
    fn cached_trials_equal_full_evaluation_with_one_candidate(history in prop::collection::vec(step(), 1..120)) {
        play::<one_candidate::Pipeline>(&history)?;
    }
}

/// The histories are useful: on average, a decision has at least one candidate for preemption.
#[test]
fn histories_contain_preemptions() {
    let mut cluster = History::<preempting_volumes::Pipeline>::new();
    for node in 0..NODES {
        cluster.step(Step::Node { node, cpu: 4, cordoned: false }).unwrap();
    }
    for pod in 0..PODS {
        cluster.step(Step::Claim { pod, variant: 0 }).unwrap();
        cluster.step(Step::Pod { pod, node: pod, kind: pod }).unwrap();
    }
    for pod in 0..PODS {
        cluster.step(Step::Decide { pod, seed: pod, timed: false }).unwrap();
    }
    assert_eq!(cluster.decisions, PODS);
    assert!(cluster.candidates >= PODS, "{}", cluster.candidates);
}
