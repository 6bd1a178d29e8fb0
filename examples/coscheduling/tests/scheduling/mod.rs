//! Groups of pods in a scheduler with the plugin. The time is told, so that a minute of waiting takes none.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use coscheduling::scheduler::Profiles;
use schedc_core::minimal_cluster::{ImmediateClient, InlineTasks};
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Change, InProgressCounts, Options, Outcome, Scheduler};
use schedc_objects::{Kinds, testing};
use serde_json::{Value, json};

const SECOND: i64 = 1_000_000_000;
const NONE: [&str; 0] = [];

/// A cluster and its scheduler.
struct World {
    scheduler: Scheduler<Profiles, ImmediateClient>,
    tasks: InlineTasks,
    now: i64,
}

impl World {
    /// Nodes with room for so many pods each.
    fn new(rooms: &[usize]) -> Self {
        let scheduler = Scheduler::new(ImmediateClient::default(), Options::default()).unwrap();
        let mut world = World { scheduler, tasks: InlineTasks::default(), now: 0 };
        for (number, room) in rooms.iter().enumerate() {
            world.node(&format!("n{number}"), *room);
        }
        ["g", "h"].iter().for_each(|group| world.describe(group, json!({"minMember": 3})));
        world
    }

    /// A group's object comes or changes.
    fn describe(&mut self, group: &str, spec: Value) {
        let api = "scheduling.x-k8s.io/v1alpha1";
        let object = json!({"apiVersion": api, "kind": "PodGroup", "metadata": {"name": group}, "spec": spec});
        let object = Kinds::of::<Profiles>().read(api, "PodGroup", object).unwrap().unwrap();
        let change = object.upsert(&mut self.scheduler.cache.base.interner).unwrap();
        self.scheduler.on_change(change, &mut self.tasks);
    }

    fn node(&mut self, name: &str, room: usize) {
        let yaml = format!("{{ metadata: {{ name: {name} }}, status: {{ allocatable: {{ pods: '{room}' }} }} }}");
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Node(node), &mut self.tasks);
    }

    /// A pod.
    fn pod(&mut self, name: &str, labels: &str, spec: &str) {
        let yaml = format!(
            "{{ metadata: {{ name: {name}, uid: {name}, creationTimestamp: '2026-01-01T00:00:00Z', \
             labels: {{ {labels} }} }}, \
             spec: {{ schedulerName: coscheduling, {spec} }} }}"
        );
        let pod = testing::pod(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Pod(pod), &mut self.tasks);
    }
    /// Pods of a group.
    fn group(&mut self, group: &str, pods: &[&str]) {
        pods.iter().for_each(|pod| self.pod(pod, &format!("scheduling.x-k8s.io/pod-group: {group}"), ""));
    }
    /// A pod of a group that a scheduling gate holds.
    fn held(&mut self, group: &str, pod: &str) {
        self.pod(pod, &format!("scheduling.x-k8s.io/pod-group: {group}"), "schedulingGates: [{ name: not-yet }]");
    }
    fn delete(&mut self, pod: &str) {
        self.scheduler.on_change(Change::PodDeleted(uid(pod)), &mut self.tasks);
    }

    /// What becomes of pods at this time.
    fn settle(&mut self) -> Vec<String> {
        loop {
            while self.scheduler.schedule_one(&mut self.tasks) {}
            let Some(completed) = self.tasks.pop() else { break };
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        let in_words = |outcome: Outcome| match &outcome.result {
            Ok(_) => format!("{} is bound", outcome.pod.name),
            Err(failure) => format!("{}: {}", outcome.pod.name, failure.message()),
        };
        self.scheduler.take_outcomes().into_iter().map(in_words).collect()
    }

    /// What becomes of them in so many seconds.
    fn wait(&mut self, seconds: i64) -> Vec<String> {
        let mut told = self.settle();
        self.now += seconds * SECOND;
        while let Some(next) = self.scheduler.next_tick().filter(|next| *next <= self.now) {
            self.scheduler.tick(next, &mut self.tasks);
            told.extend(self.settle());
        }
        self.scheduler.tick(self.now, &mut self.tasks);
        told.extend(self.settle());
        told
    }

    /// How many pods wait in Permit, and how many are on nodes: decided, waiting or bound.
    fn standing(&self) -> (usize, usize) {
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

/// The pods that are bound, in order.
fn bound(told: &[String]) -> Vec<&str> {
    told.iter().filter_map(|told| told.strip_suffix(" is bound")).collect()
}

#[test]
fn a_group_is_bound_when_all_have_a_node() {
    let mut world = World::new(&[2, 1]);
    world.group("g", &["a", "b"]);
    world.held("g", "c");
    assert_eq!(world.settle(), NONE);
    assert_eq!(world.standing(), (2, 2));
    world.group("g", &["c"]);
    assert_eq!(bound(&world.settle()).len(), 3);
    assert_eq!(world.standing(), (0, 3));
    assert_eq!(world.scheduler.in_progress(), InProgressCounts::default());
}

#[test]
fn pods_without_a_group_do_not_wait() {
    let mut world = World::new(&[1]);
    world.pod("a", "app: web", "");
    world.pod("b", "app: web", "");
    assert_eq!(
        world.settle(),
        [
            "b: 0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 \
             No preemption victims found for incoming pod.",
            "a is bound",
        ]
    );
}

#[test]
fn a_group_that_is_not_complete_in_time_gives_its_room_back() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b"]);
    world.held("g", "c");
    assert_eq!(world.wait(59), NONE);
    assert_eq!(world.standing(), (2, 2));
    assert_eq!(
        world.wait(1),
        [
            "a: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Coscheduling.",
            "b: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at plugin Coscheduling.",
        ]
    );
    assert_eq!(world.standing(), (0, 0));
    // They are tried again when the one that was missing has found its place.
    assert_eq!([world.place("a"), world.place("b")], [Some(QueuePlace::Unschedulable); 2]);
    world.group("g", &["c"]);
    assert_eq!(bound(&world.settle()).len(), 3);
}

#[test]
fn a_group_may_say_how_long_its_pods_wait() {
    let mut world = World::new(&[3]);
    world.describe("g", json!({"minMember": 3, "scheduleTimeoutSeconds": 5}));
    world.group("g", &["a", "b"]);
    world.held("g", "c");
    assert_eq!(
        world.wait(5),
        [
            "a: 0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Coscheduling.",
            "b: 0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Coscheduling.",
        ]
    );
}

#[test]
fn a_group_that_nobody_has_described_is_waited_for() {
    let mut world = World::new(&[3]);
    world.group("new", &["a", "b", "c"]);
    let told = world.settle();
    assert!(told[0].contains("pod group default/new does not exist"), "{told:?}");
    world.describe("other", json!({"minMember": 1}));
    world.wait(2);
    assert_eq!(world.place("a"), Some(QueuePlace::Unschedulable), "it is another group");
    world.describe("new", json!({"minMember": 3}));
    assert_eq!(bound(&world.wait(2)).len(), 3);
}

#[test]
fn a_group_that_needs_fewer_pods_now_is_tried_again() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b"]);
    assert_eq!(bound(&world.settle()), NONE);
    world.describe("g", json!({"minMember": 2}));
    assert_eq!(bound(&world.wait(2)).len(), 2);
}

#[test]
fn a_group_of_which_one_fits_nowhere_does_not_keep_the_room() {
    let mut world = World::new(&[2]);
    world.group("g", &["a", "b", "c"]);
    let told = world.settle();
    assert!(told[0].starts_with("c: 0/1 nodes are available: 1 Too many pods."), "{told:?}");
    assert!(
        told[0].ends_with("pod group default/g is rejected because pod c is unschedulable even after PostFilter"),
        "{told:?}"
    );
    assert_eq!(
        told[1..3],
        [
            "a: 0/1 nodes are available: 1 optimistic rejection in PostFilter.",
            "b: 0/1 nodes are available: 1 optimistic rejection in PostFilter.",
        ]
    );
    // The room that they leave wakes the third pod, and is not for it.
    assert!(told[3].contains("pod group default/g was denied recently"), "{told:?}");
    assert_eq!((told.len(), world.standing()), (4, (0, 0)));
    world.node("more", 1);
    assert_eq!(bound(&world.wait(9)), NONE);
    assert_eq!(bound(&world.wait(1)).len(), 3);
}

#[test]
fn who_comes_later_joins_those_that_run() {
    let mut world = World::new(&[4]);
    world.group("g", &["a", "b", "c"]);
    assert_eq!(bound(&world.settle()).len(), 3);
    world.group("g", &["d"]);
    assert_eq!(world.settle(), ["d is bound"]);
}

#[test]
fn who_takes_the_place_of_one_that_is_gone_does_not_wait() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b", "c"]);
    assert_eq!(bound(&world.settle()).len(), 3);
    world.delete("b");
    world.group("g", &["d"]);
    assert_eq!(world.settle(), ["d is bound"]);
}

#[test]
fn a_group_with_too_few_pods_is_not_tried() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b"]);
    let told = world.settle();
    assert!(told[0].starts_with("a: 0/1 nodes are available: pod group default/g has 2 of 3 pods."), "{told:?}");
    assert_eq!((told.len(), world.standing()), (2, (0, 0)));
    world.group("h", &["other"]);
    world.wait(2);
    assert_eq!(world.place("a"), Some(QueuePlace::Unschedulable), "it is another group");
    world.group("g", &["c"]);
    assert_eq!(bound(&world.wait(2)).len(), 3);
}

#[test]
fn pods_of_other_schedulers_do_not_count() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b"]);
    let yaml = "{ metadata: { name: c, uid: c, labels: { scheduling.x-k8s.io/pod-group: g } }, \
                spec: { schedulerName: other, nodeName: n0 } }";
    let pod = testing::pod(yaml, &mut world.scheduler.cache.base.interner);
    world.scheduler.on_change(Change::Pod(pod), &mut world.tasks);
    let told = world.settle();
    assert!(told[0].contains("pod group default/g has 2 of 3 pods"), "{told:?}");
}

#[test]
fn a_group_that_says_nothing_of_use_is_told() {
    let mut world = World::new(&[3]);
    world.describe("g", json!({"minMember": "many"}));
    world.group("g", &["a"]);
    let told = world.settle();
    let expected = "pod group default/g cannot be read: invalid type: string \"many\", expected usize";
    assert!(told[0].contains(expected), "{told:?}");
}

#[test]
fn who_is_deleted_while_waiting_leaves_the_group() {
    let mut world = World::new(&[3]);
    world.group("g", &["a", "b"]);
    world.held("g", "c");
    world.settle();
    world.delete("b");
    assert_eq!(world.settle().last().unwrap(), "a: 0/1 nodes are available: 1 rejection in Unreserve.");
    assert_eq!(world.standing(), (0, 0));
    // There are two left now, which is too few.
    world.group("g", &["c"]);
    assert!(world.settle()[0].contains("pod group default/g has 2 of 3 pods"));
    world.group("g", &["d"]);
    assert_eq!(bound(&world.wait(2)).len(), 3);
}

#[test]
fn groups_are_tried_one_after_the_other() {
    let mut world = World::new(&[3]);
    for (group, pod) in [("g", "g1"), ("h", "h1"), ("h", "h2"), ("g", "g2"), ("h", "h3"), ("g", "g3")] {
        world.group(group, &[pod]);
    }
    let mut told = world.settle();
    told.sort();
    assert_eq!(bound(&told), ["g1", "g2", "g3"]);
}

#[test]
fn a_pod_of_a_higher_priority_comes_before_a_group() {
    let mut world = World::new(&[4]);
    world.group("g", &["a", "b", "c"]);
    world.pod("urgent", "a: b", "priority: 10");
    assert_eq!(bound(&world.settle())[0], "urgent");
}

#[test]
fn of_two_groups_that_wait_for_each_other_one_gives_way() {
    let mut world = World::new(&[4]);
    world.group("g", &["g1", "g2"]);
    world.held("g", "g3");
    world.wait(1);
    world.group("h", &["h1", "h2"]);
    world.held("h", "h3");
    world.settle();
    assert_eq!(world.standing(), (4, 4));
    // The time of the first group is over before that of the second, which gets its room.
    world.wait(59);
    world.group("h", &["h3"]);
    let told = world.wait(30);
    assert_eq!(bound(&told).len(), 3, "{told:?}");
    assert!(bound(&told).iter().all(|pod| pod.starts_with('h')), "{told:?}");
    assert_eq!(world.standing(), (0, 3));
}

#[test]
fn a_group_that_finds_no_room_tries_until_the_other_gives_way() {
    let mut world = World::new(&[4]);
    world.group("g", &["g1", "g2"]);
    world.held("g", "g3");
    world.wait(30);
    world.group("h", &["h1", "h2", "h3"]);
    let told = world.wait(29);
    assert_eq!((bound(&told), world.standing().0), (vec![], 2), "{told:?}");
    let told = world.wait(20);
    assert_eq!(bound(&told).len(), 3, "{told:?}");
    assert_eq!(world.standing(), (0, 3));
}
