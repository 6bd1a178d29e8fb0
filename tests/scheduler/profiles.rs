//! Several schedulers in one cluster, and several profiles in one scheduler.
//!
//! | scenario | ends with |
//! |---|---|
//! | pods of a scheduler that is not this one | are left alone |
//! | another scheduler binds them | they count |
//! | another scheduler's pods fill a node | pods wait until one of them goes |
//! | another scheduler binds a pod of ours | it is not tried any more, and what was under way for it is undone |
//! | pods of two profiles | share nodes and queue, in the order of priority |
//!
//! From kube-scheduler's `TestMultipleSchedulers` and `TestMultipleSchedulingProfiles`.

use schedc_core::queue::QueuePlace;

use crate::scheduler::manifests::{node, pod, pods};
use crate::scheduler::stage::Stage;

#[test]
fn pods_of_another_scheduler_are_left_alone_and_count_once_they_are_bound() {
    let pods = pod("unnamed", "1", "") + &pod("ours", "1", "schedulerName: default-scheduler");
    let mut stage = Stage::new(&(node("node", "4") + &pods + &pod("theirs", "2", "schedulerName: other-scheduler")));
    stage.run();
    for ours in ["unnamed", "ours"] {
        assert_eq!(stage.node_of(ours).as_deref(), Some("node"));
    }
    assert_eq!((stage.place("theirs"), stage.node_of("theirs")), (None, None));
    assert!(!stage.log().iter().any(|line| line.contains("theirs")));

    stage.bind("theirs", "node");
    stage.create(&pod("late", "1", ""));
    stage.schedule("late");
    assert_eq!(stage.place("late"), Some(QueuePlace::Unschedulable));
}

#[test]
fn a_node_full_of_another_schedulers_pods_is_full() {
    let theirs = pods("theirs", 4, "1", "schedulerName: other-scheduler, nodeName: node");
    let mut stage = Stage::new(&(node("node", "4") + &theirs + &pod("ours", "1", "")));
    stage.run();
    assert_eq!(stage.place("ours"), Some(QueuePlace::Unschedulable));
    stage.remove("theirs-2");
    stage.schedule("ours");
    assert_eq!(stage.node_of("ours").as_deref(), Some("node"));
}

#[test]
fn pods_of_another_scheduler_leave_for_ours() {
    let theirs =
        pods("theirs", 4, "1", "schedulerName: other-scheduler, nodeName: node, terminationGracePeriodSeconds: 0");
    let mut stage = Stage::new(&(node("node", "4") + &theirs + &pod("ours", "1", "priority: 100")));
    stage.run();
    assert_eq!(stage.node_of("ours").as_deref(), Some("node"));
}

#[test]
fn a_pod_that_somebody_else_binds_is_not_tried_any_more() {
    let mut stage =
        Stage::new(&(node("node", "4") + &node("node2", "4") + &pod("waiting", "1", "") + &pod("tried", "2", "")));
    stage.bind("waiting", "node");
    stage.hold("bind tried");
    stage.schedule("tried");
    stage.bind("tried", "node2");
    stage.release("bind tried");
    assert_eq!(stage.schedule_next(), None);
    // 1 and 2 cpu are taken, wherever that was thought to be.
    stage.create(&(pod("three", "3", "") + &pod("two", "2", "")));
    stage.run();
    assert_eq!(stage.node_of("three").as_deref(), Some("node"));
    assert_eq!(stage.node_of("two").as_deref(), Some("node2"));
}

#[test]
fn profiles_share_the_nodes_and_the_queue() {
    let first = pod("first-profile", "2", "priority: 1");
    let second = pod("second-profile", "2", "priority: 2, schedulerName: second-scheduler");
    let mut stage = Stage::new(&(node("node", "4") + &first + &second));
    stage.schedule("second-profile");
    stage.schedule("first-profile");
    for name in ["first-profile", "second-profile"] {
        assert_eq!(stage.node_of(name).as_deref(), Some("node"));
    }
    stage.create(&pod("no-room", "1", "schedulerName: second-scheduler"));
    stage.schedule("no-room");
    assert_eq!(stage.place("no-room"), Some(QueuePlace::Unschedulable));
    stage.remove("first-profile");
    stage.schedule("no-room");
    assert_eq!(stage.node_of("no-room").as_deref(), Some("node"));
}

#[test]
fn a_profile_may_look_for_a_part_of_the_nodes() {
    // The last of 300 nodes has the most room. Half of them are looked for, and the next pod goes on where one ended.
    let nodes: String = (0..299).map(|number| node(&format!("node-{number}"), "4")).collect();
    let half = |name: &str| pod(name, "1", "schedulerName: second-scheduler");
    let mut stage = Stage::new(&(nodes + &node("big", "64") + &half("first") + &half("second") + &half("third")));
    stage.run();
    assert_eq!(stage.node_of("first").as_deref(), Some("node-0"));
    assert_eq!(stage.node_of("second").as_deref(), Some("big"));
    assert_eq!(stage.node_of("third").as_deref(), Some("node-1"));
    stage.create(&pod("all", "1", ""));
    stage.run();
    assert_eq!(stage.node_of("all").as_deref(), Some("big"));
}
