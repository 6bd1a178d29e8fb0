//! Unused strings are freed in small portions, between any other steps. Afterwards, exactly the strings of the
//! remaining objects are left, and every outcome is the same as without freeing strings.

use std::collections::BTreeMap;
use std::sync::Arc;

use default_profile::Profiles;
use proptest::prelude::*;
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::{PodSpec, Uid};
use schedc_core::scheduler::{Change, Options, Scheduler};
use schedc_objects::testing::{node, pod};

const SECOND: i64 = 1_000_000_000;
/// Number of pod names.
const PODS: usize = 12;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Adds a pod with a unique label, or changes this label of a pending pod.
    SetPod(usize),
    DeletePod(usize),
    /// Delivers a pod as bound to a node. The node may not exist.
    Bind(usize, usize),
    /// Adds a node with a unique label, or changes this label.
    SetNode(usize),
    RemoveNode(usize),
    Attempt,
    Complete,
    Wait,
    /// Frees unused strings, with at most this amount of work.
    Free(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (pod, node) = (0..PODS, 0..5_usize);
    prop_oneof![
        3 => pod.clone().prop_map(Step::SetPod),
        2 => pod.clone().prop_map(Step::DeletePod),
        2 => (pod, node.clone()).prop_map(|(pod, node)| Step::Bind(pod, node)),
        2 => node.clone().prop_map(Step::SetNode),
        1 => node.prop_map(Step::RemoveNode),
        4 => Just(Step::Attempt),
        3 => Just(Step::Complete),
        1 => Just(Step::Wait),
        8 => (1..120_usize).prop_map(Step::Free),
    ]
}

/// A scheduler, and the labels of the objects that it has received.
struct World {
    scheduler: Scheduler<Profiles, NoopClient>,
    tasks: InlineTasks,
    now: i64,
    frees: bool,
    /// Number of deletions of each pod. A pod that is created again has another uid.
    deleted: [usize; PODS],
    labels: BTreeMap<String, String>,
    outcomes: Vec<String>,
}

impl World {
    fn new(frees: bool) -> Self {
        let scheduler = Scheduler::new(NoopClient, Options::default()).unwrap();
        let (labels, outcomes) = (BTreeMap::new(), Vec::new());
        World { scheduler, tasks: InlineTasks::default(), now: SECOND, frees, deleted: [0; PODS], labels, outcomes }
    }

    fn apply(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
    }

    fn uid(&self, number: usize) -> Uid {
        Uid(format!("p{number}-{}", self.deleted[number]).into())
    }

    fn set_pod(&mut self, number: usize, label: String, on: Option<usize>) {
        let (name, cpu, priority) = (format!("p{number}"), 1 + number % 3, number % 2);
        let uid = self.uid(number).0;
        let text = format!(
            "{{metadata: {{name: {name}, uid: {uid}, labels: {{own: {label}}}}}, spec: {{priority: {priority}, affinity:
                {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: own, labelSelector:
                {{matchLabels: {{own: {label}}}}}}}]}}}},
                containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}"
        );
        let interner = &mut self.scheduler.cache.base.interner;
        let mut pod = pod(&text, interner);
        if let Some(on) = on {
            let node_name = Some(interner.intern(&format!("n{on}")));
            pod.spec = Arc::new(PodSpec { node_name, ..PodSpec::clone(&pod.spec) });
        }
        self.labels.insert(name, label);
        self.apply(Change::Pod(pod));
    }

    fn run(&mut self, step: Step, at: usize) {
        let label = format!("own-{at}");
        match step {
            Step::SetPod(number) => {
                if self.scheduler.cache.pod(&self.uid(number)).is_none() {
                    self.set_pod(number, label, None);
                }
            }
            Step::DeletePod(number) => {
                self.labels.remove(&format!("p{number}"));
                self.apply(Change::PodDeleted(self.uid(number)));
                self.deleted[number] += 1;
            }
            Step::Bind(number, on) => {
                if let Some(label) = self.labels.get(&format!("p{number}")).cloned() {
                    self.set_pod(number, label, Some(on));
                }
            }
            Step::SetNode(number) => {
                let name = format!("n{number}");
                let text = format!(
                    "{{metadata: {{name: {name}, labels: {{own: {label}}}}},
                        status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 10}}}}}}"
                );
                let node = node(&text, &mut self.scheduler.cache.base.interner);
                self.labels.insert(name, label);
                self.apply(Change::Node(node));
            }
            Step::RemoveNode(number) => {
                let name = format!("n{number}");
                self.labels.remove(&name);
                let symbol = self.scheduler.cache.base.interner.intern(&name);
                self.apply(Change::NodeDeleted(symbol));
            }
            Step::Attempt => {
                self.scheduler.schedule_one(&mut self.tasks);
            }
            Step::Complete => {
                while let Some(completed) = self.tasks.pop() {
                    self.scheduler.on_completed(completed, &mut self.tasks);
                }
            }
            Step::Wait => {
                self.now += 30 * SECOND;
                self.scheduler.tick(self.now, &mut self.tasks);
            }
            Step::Free(work) => {
                if self.frees {
                    self.scheduler.free_some_unused_strings(work);
                }
            }
        }
        for outcome in self.scheduler.take_outcomes() {
            let result = outcome.result.map(|placed| placed.node.to_string());
            self.outcomes.push(format!("{}: {:?}", outcome.pod.name, result.map_err(|why| why.message().to_owned())));
        }
    }

    /// Returns the labels of present and past objects that the interner still has.
    fn interned(&self) -> Vec<String> {
        let strings = self.scheduler.cache.base.interner.strings();
        let mut labels: Vec<_> = strings.filter(|string| string.starts_with("own-")).map(str::to_owned).collect();
        labels.sort_unstable();
        labels
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn exactly_the_strings_of_objects_stay(steps in prop::collection::vec(step(), 20..120)) {
        let [mut world, mut reference] = [true, false].map(World::new);
        for (at, step) in steps.into_iter().enumerate() {
            world.run(step, at);
            reference.run(step, at);
            prop_assert!(world.scheduler.has_all_strings(), "after {step:?}, step {at}");
            prop_assert_eq!(&world.outcomes, &reference.outcomes);
        }
        // An assumed pod keeps the version for which the scheduler decided, until its binding is received.
        (0..4).for_each(|_| world.run(Step::Complete, 0));
        (0..400).for_each(|_| world.run(Step::Free(40), 0));
        let mut labels: Vec<_> = world.labels.values().cloned().collect();
        labels.sort_unstable();
        prop_assert_eq!(world.interned(), labels);
    }
}
