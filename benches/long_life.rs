//! Memory and time per pod while pods come and go. The names, labels, selectors and namespaces of deleted pods are
//! never used again. `cargo bench -p schedc-benches --bench long_life -- --pods 10000000`; `--nodes 1000` sets another
//! cluster size.
//!
//! The bytes are those that the scheduler has allocated and not freed. The column `pause` has the time of the longest
//! slice of a pass that frees unused strings.

#[path = "decisions/objects.rs"]
#[allow(dead_code, reason = "another benchmark uses the other pods")]
mod objects;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::intern::Symbol;
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{
    InclusionPolicy, LabelSelector, Labels, Namespace, Object, Pod, PodAffinityTerm, PodSpec, TopologySpreadConstraint,
    Uid, UnsatisfiableAction, WeightedPodAffinityTerm, labels,
};
use schedc_core::scheduler::{Change, Options, Placed, Scheduler};

mod scheduler {
    schedc_macros::profile!("../profiles/default.toml");
}

/// Number of lines of the result.
const LINES: usize = 10;
/// Number of pods in a namespace.
const PODS_IN_NAMESPACE: usize = 10;
/// Number of running pods on a node.
const PODS_ON_NODE: usize = 5;

/// A cluster and its running pods, oldest first.
struct LongLife {
    scheduler: Scheduler<scheduler::Profiles, NoopClient>,
    tasks: InlineTasks,
    template: Pod,
    zone: Symbol,
    nodes: usize,
    running: VecDeque<Uid>,
    created: usize,
    pause: Duration,
}

impl LongLife {
    fn new(nodes: usize) -> Self {
        let mut scheduler = match Scheduler::new(NoopClient, Options::default()) {
            Ok(scheduler) => scheduler,
            Err(errors) => panic!("{errors:?}"),
        };
        let mut tasks = InlineTasks::default();
        for number in 0..nodes {
            let node = objects::node(number, &mut scheduler.cache.base.interner);
            scheduler.on_change(Change::Node(node), &mut tasks);
        }
        let interner = &mut scheduler.cache.base.interner;
        let (template, zone) = (objects::plain(interner), interner.intern("topology.kubernetes.io/zone"));
        let (running, pause) = (VecDeque::new(), Duration::ZERO);
        LongLife { scheduler, tasks, template, zone, nodes, running, created: 0, pause }
    }

    fn apply(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    /// Returns a pod with a unique name and unique labels. Its terms select these labels.
    fn new_pod(&mut self) -> Pod {
        let at = self.created;
        let (name, revision) = (format!("web-{at}"), format!("revision-{at}"));
        let namespace = format!("team-{}", at / PODS_IN_NAMESPACE);
        let interner = &mut self.scheduler.cache.base.interner;
        let mut spec = PodSpec { namespace: interner.intern(&namespace), ..PodSpec::clone(&self.template.spec) };
        spec.labels = labels([("app", &*name), ("controller-revision-hash", &*revision)], interner);
        let selector = LabelSelector::from_labels(&spec.labels);
        spec.spread = [TopologySpreadConstraint {
            max_skew: 1,
            topology_key: self.zone,
            when_unsatisfiable: UnsatisfiableAction::ScheduleAnyway,
            selector: Ok(Some(selector.clone())),
            min_domains: 1,
            node_affinity_policy: InclusionPolicy::Honor,
            node_taints_policy: InclusionPolicy::Ignore,
        }]
        .into();
        let term = PodAffinityTerm {
            topology_key: self.zone,
            selector: Some(selector),
            namespaces: [spec.namespace].into(),
            namespace_selector: None,
        };
        spec.affinity.anti_preferred = [WeightedPodAffinityTerm { weight: 3, term }].into();
        let uid = Uid(format!("{at:08x}-0000-4000-8000-000000000000").into());
        Pod { uid, name: name.into(), namespace: namespace.into(), spec: spec.into(), ..self.template.clone() }
    }

    /// Adds, places and binds a pod, and deletes the oldest one. Namespaces come and go with their pods.
    fn turn(&mut self) {
        let pod = self.new_pod();
        if self.created.is_multiple_of(PODS_IN_NAMESPACE) {
            let namespace = Namespace { name: pod.spec.namespace, labels: pod.spec.labels.clone() };
            self.apply(Change::Object(Object::Namespace(Arc::new(namespace))));
        }
        self.created += 1;
        self.running.push_back(pod.uid.clone());
        self.apply(Change::Pod(pod.clone()));
        assert!(self.scheduler.schedule_one(&mut self.tasks));
        while let Some(completed) = self.tasks.pop() {
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        let outcome = self.scheduler.take_outcomes().pop().expect("the pod was attempted");
        let Ok(Placed { node }) = &outcome.result else { panic!("{:?}", outcome.result) };
        let node = self.scheduler.cache.base.interner.get(node).expect("nodes have names");
        self.apply(Change::Pod(objects::bound(pod, node)));
        if self.running.len() > self.nodes * PODS_ON_NODE {
            self.delete_oldest();
        }
        let since = Instant::now();
        self.scheduler.free_unused_strings();
        self.pause = self.pause.max(since.elapsed());
    }

    fn delete_oldest(&mut self) {
        let oldest = self.running.pop_front().expect("pods run");
        let (pod, ..) = self.scheduler.cache.pod(&oldest).expect("it has a node");
        let namespace = Namespace { name: pod.spec.namespace, labels: Labels::default() };
        self.apply(Change::PodDeleted(oldest));
        if (self.created - self.running.len()).is_multiple_of(PODS_IN_NAMESPACE) {
            self.apply(Change::ObjectDeleted(Object::Namespace(Arc::new(namespace)).key()));
        }
    }
}

fn main() {
    let given = |option: &str| std::env::args().skip_while(|argument| argument != option).nth(1);
    let number = |option: &str, default| given(option).and_then(|given| given.parse().ok()).unwrap_or(default);
    let nodes: usize = number("--nodes", 1_000).max(1);
    let pods: usize = if cfg!(debug_assertions) { 1_000 } else { number("--pods", 1_000_000) };
    let mut life = LongLife::new(nodes);
    println!("| {:>10} | {:>9} | {:>8} | {:>8} | {:>9} |", "pods", "KiB", "strings", "ns/pod", "pause, us");
    println!("|-----------:|----------:|---------:|---------:|----------:|");
    let mut bytes = 0;
    for line in 1..=LINES {
        let (turns, since) = ((pods / LINES).max(1), Instant::now());
        life.pause = Duration::ZERO;
        bytes += allocation_counter::measure(|| (0..turns).for_each(|_| life.turn())).bytes_current;
        println!(
            "| {:>10} | {:>9} | {:>8} | {:>8} | {:>9} |",
            line * turns,
            bytes / 1024,
            life.scheduler.cache.base.interner.len(),
            since.elapsed().as_nanos() / turns as u128,
            life.pause.as_micros()
        );
    }
}
