//! Several schedulers in one cluster, and several profiles in one scheduler.
//!
//! | scenario | result |
//! |---|---|
//! | pods of another scheduler | are ignored |
//! | another scheduler binds its pods | the scheduler counts their resources |
//! | another scheduler's pods fill a node | pods wait until one of them is deleted |
//! | another scheduler binds a pod of this scheduler | the pod is not tried again, and its binding cycle is reverted |
//! | pods of two profiles | share nodes and the queue, in the order of priority |
//! | a profile considers half of the nodes | an attempt stops when it has found that many feasible nodes, and the next attempt continues with the following nodes |
//!
//! From kube-scheduler's `TestMultipleSchedulers` and `TestMultipleSchedulingProfiles`.

use schedc_core::queue::QueuePlace;

use crate::scheduler::harness::Harness;
use crate::scheduler::manifests::{node, pod, pods};

#[test]
fn pods_of_another_scheduler_are_ignored_until_they_are_bound() {
    let pods = pod("unnamed", "1", "") + &pod("ours", "1", "schedulerName: default-scheduler");
    let mut harness =
        Harness::new(&(node("node", "4") + &pods + &pod("theirs", "2", "schedulerName: other-scheduler")));
    harness.run();
    for ours in ["unnamed", "ours"] {
        assert_eq!(harness.node_of(ours).as_deref(), Some("node"));
    }
    assert_eq!((harness.place("theirs"), harness.node_of("theirs")), (None, None));
    assert!(!harness.log().iter().any(|line| line.contains("theirs")));

    harness.bind("theirs", "node");
    harness.create(&pod("late", "1", ""));
    harness.schedule("late");
    assert_eq!(harness.place("late"), Some(QueuePlace::Unschedulable));
}

#[test]
fn a_node_full_of_another_schedulers_pods_is_full() {
    let theirs = pods("theirs", 4, "1", "schedulerName: other-scheduler, nodeName: node");
    let mut harness = Harness::new(&(node("node", "4") + &theirs + &pod("ours", "1", "")));
    harness.run();
    assert_eq!(harness.place("ours"), Some(QueuePlace::Unschedulable));
    harness.remove("theirs-2");
    harness.schedule("ours");
    assert_eq!(harness.node_of("ours").as_deref(), Some("node"));
}

#[test]
fn pods_of_another_scheduler_can_be_preempted() {
    let theirs =
        pods("theirs", 4, "1", "schedulerName: other-scheduler, nodeName: node, terminationGracePeriodSeconds: 0");
    let mut harness = Harness::new(&(node("node", "4") + &theirs + &pod("ours", "1", "priority: 100")));
    harness.run();
    assert_eq!(harness.node_of("ours").as_deref(), Some("node"));
}

#[test]
fn a_pod_bound_by_another_scheduler_is_not_tried() {
    let mut harness =
        Harness::new(&(node("node", "4") + &node("node2", "4") + &pod("waiting", "1", "") + &pod("tried", "2", "")));
    harness.bind("waiting", "node");
    harness.hold("bind tried");
    harness.schedule("tried");
    harness.bind("tried", "node2");
    harness.release("bind tried");
    assert_eq!(harness.schedule_next(), None);
    // 1 cpu of `node` and 2 cpu of `node2` are used: pods count on the nodes to which they are bound, not on the
    // assumed ones.
    harness.create(&(pod("three", "3", "") + &pod("two", "2", "")));
    harness.run();
    assert_eq!(harness.node_of("three").as_deref(), Some("node"));
    assert_eq!(harness.node_of("two").as_deref(), Some("node2"));
}

#[test]
fn profiles_share_the_nodes_and_the_queue() {
    let first = pod("first-profile", "2", "priority: 1");
    let second = pod("second-profile", "2", "priority: 2, schedulerName: second-scheduler");
    let mut harness = Harness::new(&(node("node", "4") + &first + &second));
    harness.schedule("second-profile");
    harness.schedule("first-profile");
    for name in ["first-profile", "second-profile"] {
        assert_eq!(harness.node_of(name).as_deref(), Some("node"));
    }
    harness.create(&pod("no-room", "1", "schedulerName: second-scheduler"));
    harness.schedule("no-room");
    assert_eq!(harness.place("no-room"), Some(QueuePlace::Unschedulable));
    harness.remove("first-profile");
    harness.schedule("no-room");
    assert_eq!(harness.node_of("no-room").as_deref(), Some("node"));
}

#[test]
fn a_profile_may_evaluate_a_part_of_the_nodes() {
    // The last of 300 nodes has the most capacity. An attempt considers half of them, and the next attempt continues
    // after them.
    let nodes: String = (0..299).map(|number| node(&format!("node-{number}"), "4")).collect();
    let half = |name: &str| pod(name, "1", "schedulerName: second-scheduler");
    let mut harness = Harness::new(&(nodes + &node("big", "64") + &half("first") + &half("second") + &half("third")));
    harness.run();
    assert_eq!(harness.node_of("first").as_deref(), Some("node-0"));
    assert_eq!(harness.node_of("second").as_deref(), Some("big"));
    assert_eq!(harness.node_of("third").as_deref(), Some("node-1"));
    harness.create(&pod("all", "1", ""));
    harness.run();
    assert_eq!(harness.node_of("all").as_deref(), Some("big"));
}
