//! Number of allocations in a scheduling cycle, after the cluster was full once, while pods are added, placed, bound
//! and deleted. A cycle lasts from popping a pod to the request that binds it; the request itself is not counted.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;

use default_profile::Profiles;
use schedc_core::incremental::without_samples;
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{Pod, PodSpec, Uid};
use schedc_core::scheduler::{Change, Completed, Options, Placed, Scheduler, Tasks};
use schedc_objects::testing::{node, object, pod};

const NODES: usize = 100;
/// Number of nodes that the kind `nodes by name` names.
const NAMED: usize = 4;
/// Maximum number of pods on a node.
const PODS_OF_A_NODE: usize = 8;
/// Number of running pods in the steady state.
const RUNNING: usize = 330;
/// Number of counted cycles for each kind of pod.
const TURNS: usize = 300;
/// Maximum number of entries in a change log of an index. Adding a pod makes one entry, and deleting it another.
const MAX_LOG: usize = 2048;

/// Kinds of pods, as manifests.
const KINDS: [(&str, &str); 11] = [
    ("plain", "{metadata: {labels: {app: plain}}, spec: {containers: [{name: c, resources: {requests: {cpu: 100m, memory: 100Mi}}}]}}"),
    (
        "an image",
        "{metadata: {labels: {app: image}}, spec: {containers: [{name: c, image: 'example.com/web:v1', resources: {requests: {cpu: 100m}}}]}}",
    ),
    (
        "tolerations",
        "{spec: {tolerations: [{key: dedicated, operator: Exists}, {key: spot, effect: PreferNoSchedule, operator: Exists}]}}",
    ),
    (
        "node affinity",
        "{spec: {nodeSelector: {os: linux}, affinity: {nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}]}]},
            preferredDuringSchedulingIgnoredDuringExecution: [
                {weight: 5, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}}]}}}}",
    ),
    (
        "hard spreading",
        "{metadata: {labels: {app: hard}}, spec: {topologySpreadConstraints: [
            {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
             labelSelector: {matchLabels: {app: hard}}}]}}",
    ),
    (
        "soft spreading",
        "{metadata: {labels: {app: soft}}, spec: {topologySpreadConstraints: [
            {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway,
             labelSelector: {matchLabels: {app: soft}}},
            {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,
             labelSelector: {matchLabels: {app: soft}}}]}}",
    ),
    (
        "spreading by default",
        "{metadata: {labels: {app: served}}, spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}",
    ),
    (
        "pod affinity",
        "{metadata: {labels: {app: near}}, spec: {affinity: {podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, podAffinityTerm:
                {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: near}}}}]}}}}",
    ),
    (
        "nodes by name",
        "{spec: {tolerations: [{key: named, operator: Exists}],
            affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchFields: [{key: metadata.name, operator: In, values: [node-0]}]},
                {matchFields: [{key: metadata.name, operator: In, values: [node-1]}]},
                {matchFields: [{key: metadata.name, operator: In, values: [node-2]}]},
                {matchFields: [{key: metadata.name, operator: In, values: [node-3]}]}]}}}}}",
    ),
    (
        "a host port",
        "{spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]}}",
    ),
    (
        "anti-affinity",
        "{metadata: {labels: {app: apart}}, spec: {affinity: {podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
                {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}]}}}}",
    ),
];

/// Allocations of spawned tasks are not counted.
#[derive(Default)]
struct Uncounted(InlineTasks);
impl Tasks for Uncounted {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        allocation_counter::opt_out(|| self.0.spawn(task));
    }
}

/// A cluster, and its running pods, oldest first.
struct Churn {
    scheduler: Scheduler<Profiles, NoopClient>,
    tasks: Uncounted,
    templates: Vec<Pod>,
    running: VecDeque<Uid>,
    created: usize,
}

impl Churn {
    fn new() -> Self {
        let scheduler = Scheduler::new(NoopClient, Options::default()).unwrap();
        let (tasks, templates) = (Uncounted::default(), Vec::new());
        let mut churn = Churn { scheduler, tasks, templates, running: VecDeque::new(), created: 0 };
        for number in 0..NODES {
            let zone = ["a", "b", "c"][number % 3];
            let name = format!("node-{number}");
            let labels = format!("{{os: linux, kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}}}");
            let taint = match number {
                ..NAMED => "{key: named, effect: NoSchedule}",
                _ if number % 10 == 0 => "{key: spot, effect: PreferNoSchedule}",
                _ => "",
            };
            let image = "{names: ['example.com/web:v1'], sizeBytes: 500000000}";
            let allocatable = format!("{{cpu: 8, memory: 32Gi, pods: {PODS_OF_A_NODE}}}");
            let status = format!("{{allocatable: {allocatable}, images: [{image}]}}");
            let manifest = format!(
                "{{metadata: {{name: {name}, labels: {labels}}}, spec: {{taints: [{taint}]}}, status: {status}}}"
            );
            let node = node(&manifest, &mut churn.scheduler.cache.base.interner);
            churn.apply(Change::Node(node));
        }
        let service = "{apiVersion: v1, kind: Service, metadata: {name: served}, spec: {selector: {app: served}}}";
        let service = object(service, &mut churn.scheduler.cache.base.interner);
        churn.apply(Change::Object(service));
        churn.templates = KINDS.map(|(_, manifest)| pod(manifest, &mut churn.scheduler.cache.base.interner)).into();
        churn
    }

    fn apply(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    /// Adds a pod, places and binds it. Returns the number of allocations in its scheduling cycle.
    fn place(&mut self, kind: usize) -> u64 {
        let name = format!("pod-{}", self.created);
        self.created += 1;
        let pod = Pod { uid: Uid(name.as_str().into()), name: name.into(), ..self.templates[kind].clone() };
        self.running.push_back(pod.uid.clone());
        self.apply(Change::Pod(pod.clone()));
        let counted = allocation_counter::measure(|| {
            without_samples(|| assert!(self.scheduler.schedule_one(&mut self.tasks)));
        });
        while let Some(completed) = self.tasks.0.pop() {
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        let outcome = self.scheduler.take_outcomes().pop().unwrap();
        let Ok(Placed { node }) = &outcome.result else { panic!("{}: {:?}", KINDS[kind].0, outcome.result) };
        self.bind(pod, node);
        counted.count_total
    }

    /// Notifies the scheduler that a pod is bound.
    fn bind(&mut self, pod: Pod, node: &str) {
        let node_name = self.scheduler.cache.base.interner.get(node);
        let spec = Arc::new(PodSpec { node_name, ..PodSpec::clone(&pod.spec) });
        self.apply(Change::Pod(Pod { spec, ..pod }));
    }

    /// Repeatedly adds pods of every kind to every node, more than the node's limit, and deletes them. Afterwards the
    /// memory for each node is allocated, and no change log grows.
    fn crowd(&mut self) {
        for _ in 0..MAX_LOG / NODES {
            let mut crowd = Vec::new();
            for node in 0..NODES {
                for template in self.templates.clone() {
                    let uid = Uid(format!("crowd-{}", crowd.len()).into());
                    crowd.push(uid.clone());
                    self.bind(Pod { name: uid.0.clone(), uid, ..template }, &format!("node-{node}"));
                }
            }
            crowd.into_iter().for_each(|uid| self.apply(Change::PodDeleted(uid)));
        }
    }

    fn delete_oldest(&mut self) {
        let oldest = self.running.pop_front().unwrap();
        self.apply(Change::PodDeleted(oldest));
    }
}

#[test]
fn a_steady_scheduling_cycle_does_not_allocate() {
    let mut churn = Churn::new();
    (0..RUNNING).for_each(|at| _ = churn.place(at % KINDS.len()));
    churn.crowd();
    let mut turn = |allocations: &mut [u64; KINDS.len()]| {
        for (kind, allocations) in allocations.iter_mut().enumerate() {
            churn.delete_oldest();
            *allocations += churn.place(kind);
        }
    };
    (0..RUNNING / KINDS.len()).for_each(|_| turn(&mut [0; KINDS.len()]));
    let mut allocations = [0; KINDS.len()];
    (0..TURNS).for_each(|_| turn(&mut allocations));
    let allocating: Vec<_> =
        KINDS.iter().map(|kind| kind.0).zip(allocations).filter(|(_, allocations)| *allocations > 0).collect();
    assert_eq!(allocating, []);
}

#[test]
fn a_steady_scheduling_cycle_of_pods_that_name_their_nodes_does_not_allocate() {
    const PINNED: usize = 8;
    let mut churn = Churn::new();
    churn.templates = (NAMED..NAMED + PINNED)
        .map(|node| {
            let name = format!("matchFields: [{{key: metadata.name, operator: In, values: [node-{node}]}}]");
            let required =
                format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{{name}}}]}}");
            let manifest = format!("{{spec: {{affinity: {{nodeAffinity: {{{required}}}}}}}}}");
            pod(&manifest, &mut churn.scheduler.cache.base.interner)
        })
        .collect();
    (0..4 * PINNED).for_each(|at| _ = churn.place(at % PINNED));
    churn.crowd();
    let mut turn = |at: usize| {
        churn.delete_oldest();
        churn.place(at % PINNED)
    };
    (0..4 * PINNED).for_each(|at| _ = turn(at));
    assert_eq!((0..TURNS).map(turn).sum::<u64>(), 0);
}

impl Churn {
    /// Adds a volume with its claim, and places a pod with the claim. Returns the number of allocations in its scheduling
    /// cycle.
    fn place_with_claim(&mut self, number: usize) -> u64 {
        let interner = &mut self.scheduler.cache.base.interner;
        let volume = format!(
            "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: volume-{number}}}, spec: {{accessModes: [ReadOnlyMany],
               capacity: {{storage: 1Gi}}, csi: {{driver: csi.example.com, volumeHandle: handle-{number}}}}}}}"
        );
        let claim = format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim,
               metadata: {{name: claim-{number}, annotations: {{pv.kubernetes.io/bind-completed: ''}}}},
               spec: {{accessModes: [ReadOnlyMany], resources: {{requests: {{storage: 1Gi}}}}, volumeName: volume-{number}}}}}"
        );
        let template =
            format!("{{spec: {{volumes: [{{name: v, persistentVolumeClaim: {{claimName: claim-{number}}}}}]}}}}");
        let objects = [volume, claim].map(|manifest| object(&manifest, interner));
        self.templates = vec![pod(&template, interner)];
        objects.into_iter().for_each(|object| self.apply(Change::Object(object)));
        self.place(0)
    }
}

#[test]
fn a_steady_scheduling_cycle_of_a_pod_with_a_bound_claim_allocates_once() {
    let mut churn = Churn::new();
    (0..RUNNING).for_each(|number| _ = churn.place_with_claim(number));
    let mut allocations = 0;
    for number in RUNNING..RUNNING + TURNS {
        churn.delete_oldest();
        allocations += churn.place_with_claim(number);
    }
    // One allocation: the compiled pod. Rounding hides the rare growth of a table.
    assert_eq!(allocations / TURNS as u64, 1, "{allocations} allocations in {TURNS} cycles");
}
