//! Memory in use while pods come and go, each with a name, labels and selectors that never return. Namespaces come and
//! go, too.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod slices;

use std::collections::VecDeque;
use std::sync::Arc;

use default_profile::Profiles;
use schedc_core::incremental::without_samples;
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{LabelSelector, Labels, Namespace, Object, Pod, PodSpec, Uid, labels};
use schedc_core::scheduler::{Change, Options, Placed, Scheduler};
use schedc_objects::testing::{node, pod};

const NODES: usize = 20;
/// Number of running pods.
const RUNNING: usize = 60;
/// Number of pods in a namespace.
const IN_NAMESPACE: usize = 10;
/// Number of pods after which every cache has been full: the largest has 8,192 entries.
const WARM: usize = 12_288;
/// Number of further pods, during which every cache becomes full again.
const MORE: usize = 8_192;
/// Number of pods between two measurements.
const STEP: usize = 512;

const TEMPLATE: &str = "{spec: {
    containers: [{name: c, resources: {requests: {cpu: 100m, memory: 100Mi}}}],
    nodeSelector: {os: linux},
    affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, podAffinityTerm:
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}}]}},
    topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,
        whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]}}";

/// A cluster and its running pods, oldest first.
struct LongLife {
    scheduler: Scheduler<Profiles, NoopClient>,
    tasks: InlineTasks,
    template: Pod,
    running: VecDeque<Uid>,
    created: usize,
    /// Allocated bytes.
    bytes: i64,
}

impl LongLife {
    fn new() -> Self {
        let mut scheduler = Scheduler::new(NoopClient, Options::default()).unwrap();
        let mut tasks = InlineTasks::default();
        let interner = &mut scheduler.cache.base.interner;
        let template = pod(TEMPLATE, interner);
        let nodes: Vec<_> = (0..NODES)
            .map(|number| {
                let zone = ["a", "b", "c"][number % 3];
                let labels = format!("{{os: linux, topology.kubernetes.io/zone: {zone}}}");
                let status = "{allocatable: {cpu: 64, memory: 256Gi, pods: 110}}";
                node(&format!("{{metadata: {{name: n{number}, labels: {labels}}}, status: {status}}}"), interner)
            })
            .collect();
        nodes.into_iter().for_each(|node| scheduler.on_change(Change::Node(node), &mut tasks));
        LongLife { scheduler, tasks, template, running: VecDeque::new(), created: 0, bytes: 0 }
    }

    fn apply(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    /// Returns a pod with a unique name and unique labels. Its terms select these labels.
    fn new_pod(&mut self) -> Pod {
        let (at, namespace) = (self.created, format!("team-{}", self.created / IN_NAMESPACE));
        let interner = &mut self.scheduler.cache.base.interner;
        let (name, revision) = (format!("web-{at}"), format!("revision-{at}"));
        let own: Labels = labels([("app", &*name), ("controller-revision-hash", &*revision)], interner);
        let selector = LabelSelector::from_labels(&own);
        let mut spec = PodSpec { namespace: interner.intern(&namespace), ..PodSpec::clone(&self.template.spec) };
        spec.labels = own;
        spec.spread[0].selector = Ok(Some(selector.clone()));
        let term = &mut spec.affinity.anti_preferred[0].term;
        term.selector = Some(selector);
        term.namespaces = [spec.namespace].into();
        let uid = Uid(format!("{at:08x}-0000-4000-8000-000000000000").into());
        Pod { uid, name: name.into(), namespace: namespace.into(), spec: spec.into(), ..self.template.clone() }
    }

    /// Adds, places and binds a pod, and deletes the oldest one. Namespaces come and go with their pods.
    fn turn(&mut self) {
        let pod = self.new_pod();
        let namespace = pod.spec.namespace;
        if self.created.is_multiple_of(IN_NAMESPACE) {
            let labels = pod.spec.labels.clone();
            self.apply(Change::Object(Object::Namespace(Arc::new(Namespace { name: namespace, labels }))));
        }
        self.created += 1;
        self.running.push_back(pod.uid.clone());
        self.apply(Change::Pod(pod.clone()));
        without_samples(|| assert!(self.scheduler.schedule_one(&mut self.tasks)));
        while let Some(completed) = self.tasks.pop() {
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        let outcome = self.scheduler.take_outcomes().pop().unwrap();
        let Ok(Placed { node }) = &outcome.result else { panic!("{:?}", outcome.result) };
        let node_name = self.scheduler.cache.base.interner.get(node);
        let spec = Arc::new(PodSpec { node_name, ..PodSpec::clone(&pod.spec) });
        self.apply(Change::Pod(Pod { spec, ..pod }));
        if self.running.len() > RUNNING {
            self.delete_oldest();
        }
        self.scheduler.free_unused_strings();
    }

    fn delete_oldest(&mut self) {
        let oldest = self.running.pop_front().unwrap();
        let (pod, ..) = self.scheduler.cache.pod(&oldest).unwrap();
        let namespace = Namespace { name: pod.spec.namespace, labels: Labels::default() };
        self.apply(Change::PodDeleted(oldest));
        let deleted = self.created - self.running.len();
        if deleted.is_multiple_of(IN_NAMESPACE) {
            self.apply(Change::ObjectDeleted(Object::Namespace(Arc::new(namespace)).key()));
        }
    }

    /// Runs turns. Returns the highest number of allocated bytes: the number varies, because caches grow to their limit
    /// and are then cut.
    fn run(&mut self, turns: usize) -> i64 {
        let mut highest = 0;
        for _ in 0..turns / STEP {
            let counted = allocation_counter::measure(|| {
                (0..STEP).for_each(|_| self.turn());
                // A string is freed by the second pass that finds no object with it.
                (0..2).for_each(|_| self.scheduler.free_unused_strings_now());
            });
            self.bytes += counted.bytes_current;
            highest = highest.max(self.bytes);
        }
        highest
    }
}

#[test]
fn memory_levels_off_while_unique_pods_come_and_go() {
    let mut life = LongLife::new();
    let warm = life.run(WARM);
    let strings = life.scheduler.cache.base.interner.len();
    let more = life.run(MORE);
    assert!(more <= warm + warm / 20, "{more} bytes after {warm}");
    assert!(life.scheduler.cache.base.interner.len() <= strings, "no more strings than {strings}");
}
