//! Groups of pods in a scheduler with the plugin. The tests set the time, so waiting takes no real time.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use coscheduling::scheduler::Profiles;
use schedc_core::minimal_cluster::{ImmediateClient, InlineTasks};
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Change, InProgressCounts, Options, Outcome, Scheduler};
use schedc_objects::{Kinds, testing, upsert_change};
use serde_json::{Value, json};

const SECOND: i64 = 1_000_000_000;
const NONE: [&str; 0] = [];

/// A cluster and its scheduler.
struct TestCluster {
    scheduler: Scheduler<Profiles, ImmediateClient>,
    tasks: InlineTasks,
    now: i64,
}

impl TestCluster {
    /// Creates nodes with capacity for the given numbers of pods.
    fn new(capacities: &[usize]) -> Self {
        let scheduler = Scheduler::new(ImmediateClient::default(), Options::default()).unwrap();
        let mut test_cluster = TestCluster { scheduler, tasks: InlineTasks::default(), now: 0 };
        for (number, capacity) in capacities.iter().enumerate() {
            test_cluster.node(&format!("n{number}"), *capacity);
        }
        ["g", "h"].iter().for_each(|group| test_cluster.pod_group(group, json!({"minMember": 3})));
        test_cluster
    }

    /// Creates or updates a group's object.
    fn pod_group(&mut self, group: &str, spec: Value) {
        let api = "scheduling.x-k8s.io/v1alpha1";
        let object = json!({"apiVersion": api, "kind": "PodGroup", "metadata": {"name": group}, "spec": spec});
        let object = Kinds::of::<Profiles>().read(api, "PodGroup", object).unwrap().unwrap();
        let change = upsert_change(&object, &mut self.scheduler.cache.base.interner).unwrap();
        self.scheduler.on_change(change, &mut self.tasks);
    }

    fn node(&mut self, name: &str, capacity: usize) {
        let yaml = format!("{{ metadata: {{ name: {name} }}, status: {{ allocatable: {{ pods: '{capacity}' }} }} }}");
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Node(node), &mut self.tasks);
    }

    /// Creates a pod.
    fn pod(&mut self, name: &str, labels: &str, spec: &str) {
        let yaml = format!(
            "{{ metadata: {{ name: {name}, uid: {name}, creationTimestamp: '2026-01-01T00:00:00Z', \
             labels: {{ {labels} }} }}, \
             spec: {{ schedulerName: coscheduling, {spec} }} }}"
        );
        let pod = testing::pod(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Pod(pod), &mut self.tasks);
    }
    /// Creates pods of a group.
    fn group(&mut self, group: &str, pods: &[&str]) {
        pods.iter().for_each(|pod| self.pod(pod, &format!("scheduling.x-k8s.io/pod-group: {group}"), ""));
    }
    /// Creates a gated pod of a group.
    fn held(&mut self, group: &str, pod: &str) {
        self.pod(pod, &format!("scheduling.x-k8s.io/pod-group: {group}"), "schedulingGates: [{ name: not-yet }]");
    }
    fn delete(&mut self, pod: &str) {
        self.scheduler.on_change(Change::PodDeleted(uid(pod)), &mut self.tasks);
    }

    /// Schedules until nothing is left to do, and returns the outcomes.
    fn settle(&mut self) -> Vec<String> {
        loop {
            while self.scheduler.schedule_one(&mut self.tasks) {}
            let Some(completed) = self.tasks.pop() else { break };
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        let text = |outcome: Outcome| match &outcome.result {
            Ok(_) => format!("{} is bound", outcome.pod.name),
            Err(failure) => format!("{}: {}", outcome.pod.name, failure.message()),
        };
        self.scheduler.take_outcomes().into_iter().map(text).collect()
    }

    /// Advances the time, and returns the outcomes until then.
    fn wait(&mut self, seconds: i64) -> Vec<String> {
        let mut outcomes = self.settle();
        self.now += seconds * SECOND;
        while let Some(next) = self.scheduler.next_tick().filter(|next| *next <= self.now) {
            self.scheduler.tick(next, &mut self.tasks);
            outcomes.extend(self.settle());
        }
        self.scheduler.tick(self.now, &mut self.tasks);
        outcomes.extend(self.settle());
        outcomes
    }

    /// Returns the number of pods in Permit, and of pods on nodes: assumed, waiting or bound.
    fn waiting_and_on_nodes(&self) -> (usize, usize) {
        let on_nodes = self.scheduler.cache.base.infos().iter().map(|info| info.pods.len()).sum();
        (self.scheduler.in_progress().waiting, on_nodes)
    }
    fn place(&self, pod: &str) -> Option<QueuePlace> {
        self.scheduler.place(&uid(pod))
    }
}

fn uid(name: &str) -> Uid {
    Uid(name.into())
}

/// Returns the bound pods, in order.
fn bound(outcomes: &[String]) -> Vec<&str> {
    outcomes.iter().filter_map(|outcome| outcome.strip_suffix(" is bound")).collect()
}

#[test]
fn a_group_is_bound_when_all_have_a_node() {
    let mut test_cluster = TestCluster::new(&[2, 1]);
    test_cluster.group("g", &["a", "b"]);
    test_cluster.held("g", "c");
    assert_eq!(test_cluster.settle(), NONE);
    assert_eq!(test_cluster.waiting_and_on_nodes(), (2, 2));
    test_cluster.group("g", &["c"]);
    assert_eq!(bound(&test_cluster.settle()).len(), 3);
    assert_eq!(test_cluster.waiting_and_on_nodes(), (0, 3));
    assert_eq!(test_cluster.scheduler.in_progress(), InProgressCounts::default());
}

#[test]
fn pods_without_a_group_do_not_wait() {
    let mut test_cluster = TestCluster::new(&[1]);
    test_cluster.pod("a", "app: web", "");
    test_cluster.pod("b", "app: web", "");
    assert_eq!(
        test_cluster.settle(),
        [
            "b: 0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 \
             No preemption victims found for incoming pod.",
            "a is bound",
        ]
    );
}

#[test]
fn a_group_that_is_not_complete_in_time_releases_its_capacity() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b"]);
    test_cluster.held("g", "c");
    assert_eq!(test_cluster.wait(59), NONE);
    assert_eq!(test_cluster.waiting_and_on_nodes(), (2, 2));
    assert_eq!(
        test_cluster.wait(1),
        [
            "a: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Coscheduling.",
            "b: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Coscheduling.",
        ]
    );
    assert_eq!(test_cluster.waiting_and_on_nodes(), (0, 0));
    // Both pods are tried again once the missing pod has a node.
    assert_eq!([test_cluster.place("a"), test_cluster.place("b")], [Some(QueuePlace::Unschedulable); 2]);
    test_cluster.group("g", &["c"]);
    assert_eq!(bound(&test_cluster.settle()).len(), 3);
}

#[test]
fn a_group_sets_its_permit_timeout() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.pod_group("g", json!({"minMember": 3, "scheduleTimeoutSeconds": 5}));
    test_cluster.group("g", &["a", "b"]);
    test_cluster.held("g", "c");
    assert_eq!(
        test_cluster.wait(5),
        [
            "a: 0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Coscheduling.",
            "b: 0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Coscheduling.",
        ]
    );
}

#[test]
fn pods_wait_for_a_missing_pod_group() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("new", &["a", "b", "c"]);
    let outcomes = test_cluster.settle();
    assert!(outcomes[0].contains("pod group default/new does not exist"), "{outcomes:?}");
    test_cluster.pod_group("other", json!({"minMember": 1}));
    test_cluster.wait(2);
    assert_eq!(test_cluster.place("a"), Some(QueuePlace::Unschedulable), "it is another group");
    test_cluster.pod_group("new", json!({"minMember": 3}));
    assert_eq!(bound(&test_cluster.wait(2)).len(), 3);
}

#[test]
fn a_group_that_needs_fewer_pods_now_is_tried_again() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b"]);
    assert_eq!(bound(&test_cluster.settle()), NONE);
    test_cluster.pod_group("g", json!({"minMember": 2}));
    assert_eq!(bound(&test_cluster.wait(2)).len(), 2);
}

#[test]
fn a_group_with_an_unschedulable_pod_frees_its_resources() {
    let mut test_cluster = TestCluster::new(&[2]);
    test_cluster.group("g", &["a", "b", "c"]);
    let outcomes = test_cluster.settle();
    assert!(outcomes[0].starts_with("c: 0/1 nodes are available: 1 Too many pods."), "{outcomes:?}");
    assert!(
        outcomes[0].ends_with("pod group default/g is rejected because pod c is unschedulable even after PostFilter"),
        "{outcomes:?}"
    );
    assert_eq!(
        outcomes[1..3],
        [
            "a: 0/1 nodes are available: 1 optimistic rejection in PostFilter.",
            "b: 0/1 nodes are available: 1 optimistic rejection in PostFilter.",
        ]
    );
    // The released capacity wakes the third pod, which must not use it.
    assert!(outcomes[3].contains("pod group default/g was denied recently"), "{outcomes:?}");
    assert_eq!((outcomes.len(), test_cluster.waiting_and_on_nodes()), (4, (0, 0)));
    test_cluster.node("more", 1);
    assert_eq!(bound(&test_cluster.wait(9)), NONE);
    assert_eq!(bound(&test_cluster.wait(1)).len(), 3);
}

#[test]
fn late_pods_join_a_running_group() {
    let mut test_cluster = TestCluster::new(&[4]);
    test_cluster.group("g", &["a", "b", "c"]);
    assert_eq!(bound(&test_cluster.settle()).len(), 3);
    test_cluster.group("g", &["d"]);
    assert_eq!(test_cluster.settle(), ["d is bound"]);
}

#[test]
fn a_replacement_pod_does_not_wait() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b", "c"]);
    assert_eq!(bound(&test_cluster.settle()).len(), 3);
    test_cluster.delete("b");
    test_cluster.group("g", &["d"]);
    assert_eq!(test_cluster.settle(), ["d is bound"]);
}

#[test]
fn a_group_with_too_few_pods_is_not_tried() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b"]);
    let outcomes = test_cluster.settle();
    assert!(
        outcomes[0].starts_with("a: 0/1 nodes are available: pod group default/g has 2 of 3 pods."),
        "{outcomes:?}"
    );
    assert_eq!((outcomes.len(), test_cluster.waiting_and_on_nodes()), (2, (0, 0)));
    test_cluster.group("h", &["other"]);
    test_cluster.wait(2);
    assert_eq!(test_cluster.place("a"), Some(QueuePlace::Unschedulable), "it is another group");
    test_cluster.group("g", &["c"]);
    assert_eq!(bound(&test_cluster.wait(2)).len(), 3);
}

#[test]
fn pods_of_other_schedulers_do_not_count() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b"]);
    let yaml = "{ metadata: { name: c, uid: c, labels: { scheduling.x-k8s.io/pod-group: g } }, \
                spec: { schedulerName: other, nodeName: n0 } }";
    let pod = testing::pod(yaml, &mut test_cluster.scheduler.cache.base.interner);
    test_cluster.scheduler.on_change(Change::Pod(pod), &mut test_cluster.tasks);
    let outcomes = test_cluster.settle();
    assert!(outcomes[0].contains("pod group default/g has 2 of 3 pods"), "{outcomes:?}");
}

#[test]
fn an_invalid_pod_group_is_reported() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.pod_group("g", json!({"minMember": "many"}));
    test_cluster.group("g", &["a"]);
    let outcomes = test_cluster.settle();
    let expected = "pod group default/g cannot be read: invalid type: string \"many\", expected usize";
    assert!(outcomes[0].contains(expected), "{outcomes:?}");
}

#[test]
fn a_pod_deleted_while_waiting_leaves_the_group() {
    let mut test_cluster = TestCluster::new(&[3]);
    test_cluster.group("g", &["a", "b"]);
    test_cluster.held("g", "c");
    test_cluster.settle();
    test_cluster.delete("b");
    assert_eq!(test_cluster.settle().last().unwrap(), "a: 0/1 nodes are available: 1 rejection in Unreserve.");
    assert_eq!(test_cluster.waiting_and_on_nodes(), (0, 0));
    // Two pods are left, which is too few.
    test_cluster.group("g", &["c"]);
    assert!(test_cluster.settle()[0].contains("pod group default/g has 2 of 3 pods"));
    test_cluster.group("g", &["d"]);
    assert_eq!(bound(&test_cluster.wait(2)).len(), 3);
}

#[test]
fn groups_are_tried_one_after_the_other() {
    let mut test_cluster = TestCluster::new(&[3]);
    for (group, pod) in [("g", "g1"), ("h", "h1"), ("h", "h2"), ("g", "g2"), ("h", "h3"), ("g", "g3")] {
        test_cluster.group(group, &[pod]);
    }
    let mut outcomes = test_cluster.settle();
    outcomes.sort();
    assert_eq!(bound(&outcomes), ["g1", "g2", "g3"]);
}

#[test]
fn a_pod_of_a_higher_priority_comes_before_a_group() {
    let mut test_cluster = TestCluster::new(&[4]);
    test_cluster.group("g", &["a", "b", "c"]);
    test_cluster.pod("urgent", "a: b", "priority: 10");
    assert_eq!(bound(&test_cluster.settle())[0], "urgent");
}

#[test]
fn one_of_two_deadlocked_groups_gives_way() {
    let mut test_cluster = TestCluster::new(&[4]);
    test_cluster.group("g", &["g1", "g2"]);
    test_cluster.held("g", "g3");
    test_cluster.wait(1);
    test_cluster.group("h", &["h1", "h2"]);
    test_cluster.held("h", "h3");
    test_cluster.settle();
    assert_eq!(test_cluster.waiting_and_on_nodes(), (4, 4));
    // The pods of group g stop waiting first. Group h then gets their capacity.
    test_cluster.wait(59);
    test_cluster.group("h", &["h3"]);
    let outcomes = test_cluster.wait(30);
    assert_eq!(bound(&outcomes).len(), 3, "{outcomes:?}");
    assert!(bound(&outcomes).iter().all(|pod| pod.starts_with('h')), "{outcomes:?}");
    assert_eq!(test_cluster.waiting_and_on_nodes(), (0, 3));
}

#[test]
fn a_group_without_capacity_retries_until_another_releases_it() {
    let mut test_cluster = TestCluster::new(&[4]);
    test_cluster.group("g", &["g1", "g2"]);
    test_cluster.held("g", "g3");
    test_cluster.wait(30);
    test_cluster.group("h", &["h1", "h2", "h3"]);
    let outcomes = test_cluster.wait(29);
    assert_eq!((bound(&outcomes), test_cluster.waiting_and_on_nodes().0), (vec![], 2), "{outcomes:?}");
    let outcomes = test_cluster.wait(20);
    assert_eq!(bound(&outcomes).len(), 3, "{outcomes:?}");
    assert_eq!(test_cluster.waiting_and_on_nodes(), (0, 3));
}
