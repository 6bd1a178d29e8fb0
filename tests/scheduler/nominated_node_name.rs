//! `status.nominatedNodeName`: who sets it, and when it ends.
//!
//! | scenario | ends with |
//! |---|---|
//! | a pod will wait in Permit, or PreBind has work | the name is written before that; else it is not |
//! | the pod is bound | the name is cleared |
//! | a preemption makes room | the name is its node, whatever it was before |
//! | the pod does not fit on the node that it names, or on any | the name is cleared, and others are not kept away |
//! | a higher one comes first | it gets the place, and the name of the lower one is cleared |
//! | a higher preemption targets the node | the name of the lower one is cleared |
//! | the node is deleted, without or with other nodes that are out of the question | the name is cleared |
//! | PreBind fails | the name is cleared |
//! | somebody else sets it | its node is tried first, and taken if the pod fits, however others score |
//! | the nominated pod is deleted, gets another node, or loses its nomination | lower ones that it kept away are tried again |
//!
//! From kube-scheduler's `nominated_node_name`, `preemption/nominatednodename` and `eventhandler`
//! (`TestUpdateNominatedNodeName`).

use k8s_openapi::api::core::v1::Toleration;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::manifests::{labelled, node, nominated, pod, pods};
use crate::scheduler::stage::Stage;

const RUNNING: &str = "terminationGracePeriodSeconds: 0";

#[test]
fn it_is_written_before_permit_waits_and_before_pre_bind_works() {
    for (stops, written) in [("permit-waits", true), ("pre-bind-waits", true), ("", false)] {
        let labels = if stops.is_empty() { String::new() } else { format!("stops: {stops}") };
        let mut stage = Stage::new(&(node("node", "4") + &labelled("pod", &labels, "1", "")));
        stage.hold("get Disk");
        stage.schedule("pod");
        assert_eq!(stage.nominated("pod").is_some(), written, "{stops}");
        assert_eq!(stage.node_of("pod").is_none(), written, "{stops}");
        assert_eq!(stage.log().iter().any(|line| line.starts_with("patch")), written, "{stops}");
    }
}

#[test]
fn nothing_is_done_before_it_is_written() {
    let mut stage = Stage::new(&(node("node", "4") + &labelled("pod", "stops: pre-bind-waits", "1", "")));
    stage.hold("patch pod nominated=node");
    stage.hold("get Disk");
    stage.schedule("pod");
    assert_eq!(stage.pending(), ["patch pod nominated=node"]);
    stage.release("patch pod nominated=node");
    assert_eq!(stage.pending(), ["get Disk pod"]);
    stage.release("get Disk");
    assert_eq!((stage.node_of("pod").as_deref(), stage.nominated("pod")), (Some("node"), None));
}

#[test]
fn a_name_that_cannot_be_written_stops_nobody() {
    let mut stage = Stage::new(&(node("node", "4") + &labelled("pod", "stops: pre-bind-waits", "1", "")));
    stage.fail("patch pod nominated=node", ApiError::new(ApiReason::Timeout, "nobody knows"));
    stage.schedule("pod");
    assert_eq!(stage.node_of("pod").as_deref(), Some("node"));
}

#[test]
fn a_name_that_a_preemption_could_not_write_is_written_before_pre_bind_works() {
    let running = pod("running", "4", &format!("nodeName: node, {RUNNING}"));
    let mut stage = Stage::new(&(node("node", "4") + &running));
    stage.fail("patch preemptor nominated=node PodScheduled", ApiError::new(ApiReason::Timeout, "nobody knows"));
    stage.hold("get Disk");
    stage.create(&labelled("preemptor", "stops: pre-bind-waits", "4", "priority: 100"));
    stage.run();
    assert_eq!(stage.pending(), ["get Disk preemptor"]);
    assert_eq!(stage.nominated("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_preemption_overwrites_it() {
    let victims = pods("victim", 2, "2", &format!("nodeName: node, {RUNNING}"));
    let other = pod("other", "3", &format!("nodeName: node2, {RUNNING}"));
    let mut stage = Stage::new(&(node("node", "4") + &node("node2", "4") + &victims + &other));
    stage.hold("delete");
    stage.create(&nominated("preemptor", "node", "4", "priority: 100"));
    stage.schedule("preemptor");
    assert_eq!(stage.nominated("preemptor").as_deref(), Some("node2"), "one victim is less than two");
    stage.release("delete");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node2"));
}

#[test]
fn it_is_ignored_and_cleared_if_the_pod_does_not_fit_there() {
    let mut stage = Stage::new(&node("node", "4"));
    stage.create(&(nominated("too-big", "node", "5", "priority: 1") + &pod("fits", "3", "priority: 1")));
    stage.hold("patch too-big");
    stage.schedule("too-big");
    assert_eq!(stage.nominated("too-big").as_deref(), Some("node"), "that is still to be written");
    stage.schedule("fits");
    assert_eq!(stage.node_of("fits").as_deref(), Some("node"), "but it is known");
    stage.release("patch too-big");
    assert_eq!(stage.nominated("too-big"), None);
}

#[test]
fn a_higher_one_without_it_comes_first() {
    let mut stage = Stage::new(&node("node", "4"));
    stage.create(&(nominated("low", "node", "4", "priority: 1") + &pod("high", "4", "priority: 100")));
    stage.schedule("high");
    assert_eq!(stage.node_of("high").as_deref(), Some("node"));
    stage.schedule("low");
    assert_eq!((stage.node_of("low"), stage.nominated("low")), (None, None));
}

#[test]
fn it_keeps_the_place_from_equal_ones() {
    let mut stage = Stage::new(&node("node", "4"));
    stage.create(&(pod("first", "4", "priority: 1") + &nominated("second", "node", "4", "priority: 1")));
    stage.schedule("first");
    assert_eq!(stage.place("first"), Some(QueuePlace::Unschedulable));
    stage.schedule("second");
    assert_eq!((stage.node_of("second").as_deref(), stage.nominated("second")), (Some("node"), None));
}

#[test]
fn a_pod_on_its_way_to_the_node_that_it_names_counts_once() {
    let mut stage = Stage::new(&(node("node", "4") + &nominated("first", "node", "2", "") + &pod("second", "2", "")));
    stage.hold("bind first");
    stage.schedule("first");
    stage.schedule("second");
    assert_eq!(stage.node_of("second").as_deref(), Some("node"));
}

#[test]
fn a_second_preemption_by_a_higher_one_clears_it() {
    let mut stage = Stage::new(&(node("node", "5") + &pods("low", 4, "1", "nodeName: node, priority: 1")));
    stage.create(&pod("middle", "4", "priority: 50"));
    stage.schedule("middle");
    assert_eq!(stage.nominated("middle").as_deref(), Some("node"));
    stage.run();
    // Its victims are still ending, and what is left is not enough for the next one either.
    stage.create(&pod("high", "3", "priority: 100"));
    stage.run();
    assert_eq!(stage.node_of("high"), None);
    for low in 0..4 {
        stage.remove(&format!("low-{low}"));
    }
    stage.run();
    assert_eq!(stage.node_of("high").as_deref(), Some("node"));
    assert_eq!((stage.place("middle"), stage.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
}

#[test]
fn a_higher_one_that_fits_beside_the_victims_does_not_clear_it_before_the_next_attempt() {
    let mut stage = Stage::new(&(node("node", "2") + &pod("low", "1", "nodeName: node, priority: 1")));
    stage.create(&pod("middle", "2", "priority: 50"));
    stage.run();
    assert_eq!(stage.nominated("middle").as_deref(), Some("node"));
    stage.create(&pod("high", "1", "priority: 100"));
    stage.schedule("high");
    assert_eq!(stage.node_of("high").as_deref(), Some("node"));
    stage.remove("low");
    stage.run();
    assert_eq!((stage.place("middle"), stage.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
}

#[test]
fn it_ends_with_its_node() {
    let tainted = "---
apiVersion: v1
kind: Node
metadata: {name: tainted}
spec: {taints: [{key: example.com/tainted, effect: NoSchedule}]}
status: {allocatable: {cpu: 1, memory: 8Gi, pods: 110}}
";
    for others in ["", tainted] {
        let low = pod("low", "1", "nodeName: node, priority: 1");
        let mut stage = Stage::new(&(node("node", "1") + others + &low + &pod("middle", "1", "priority: 50")));
        stage.run();
        assert_eq!(stage.nominated("middle").as_deref(), Some("node"));
        stage.remove_node("node");
        stage.remove("low");
        stage.schedule("middle");
        assert_eq!((stage.node_of("middle"), stage.nominated("middle")), (None, None), "{others}");
        stage.create(&node("new", "1"));
        stage.schedule("middle");
        assert_eq!(stage.node_of("middle").as_deref(), Some("new"));
    }
}

#[test]
fn it_is_cleared_when_pre_bind_fails() {
    for (stops, reason) in [("pre-bind-rejects", "Unschedulable"), ("pre-bind-breaks", "SchedulerError")] {
        let mut stage = Stage::new(&(node("node", "1") + &pod("low", "1", "nodeName: node, priority: 1")));
        stage.create(&labelled("middle", &format!("stops: {stops}"), "1", "priority: 50"));
        stage.run();
        assert_eq!(stage.nominated("middle").as_deref(), Some("node"));
        stage.remove("low");
        stage.schedule("middle");
        assert_eq!((stage.node_of("middle"), stage.nominated("middle")), (None, None), "{stops}");
        assert_eq!(stage.condition("middle", "PodScheduled").0, reason);
        stage.run();
        assert_eq!(stage.node_of("middle").as_deref(), Some("node"));
    }
}

#[test]
fn the_node_that_somebody_else_named_is_taken_if_the_pod_fits() {
    for (cpu, expected) in [("1", "busy"), ("3", "idle")] {
        let busy = node("busy", "4") + &pod("running", "2", "nodeName: busy");
        let mut stage = Stage::new(&(busy + &node("idle", "4") + &nominated("pod", "busy", cpu, "")));
        stage.schedule("pod");
        assert_eq!((stage.node_of("pod").as_deref(), stage.nominated("pod")), (Some(expected), None));
    }
}

#[test]
fn a_name_that_somebody_sets_later_counts_at_once() {
    let busy = node("busy", "4") + &pod("running", "2", "nodeName: busy");
    let mut stage = Stage::new(&(busy + &node("idle", "4") + &pod("pod", "1", "")));
    stage.edit("pod", |pod| pod.status.get_or_insert_default().nominated_node_name = Some("busy".to_owned()));
    stage.schedule("pod");
    assert_eq!(stage.node_of("pod").as_deref(), Some("busy"));
}

#[test]
fn a_name_that_is_still_to_be_written_counts_all_the_same() {
    let mut stage = Stage::new(&(node("node", "4") + &pod("victim", "4", &format!("nodeName: node, {RUNNING}"))));
    stage.hold("patch preemptor");
    stage.create(&pod("preemptor", "3", "priority: 100"));
    stage.schedule("preemptor");
    stage.create(&node("idle", "64"));
    stage.schedule("preemptor");
    stage.release("patch preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

/// A lower pod that would fit beside nobody but a higher one, and is kept away by the nomination of a middle one.
fn kept_away() -> Stage {
    let mut stage = Stage::new(&(node("node", "4") + &pod("running", "4", &format!("nodeName: node, {RUNNING}"))));
    stage.hold("delete");
    stage.create(&pod("middle", "3", "priority: 50"));
    stage.schedule("middle");
    stage.remove("running");
    stage.create(&pod("low", "2", "priority: 1"));
    stage.schedule("low");
    assert_eq!(stage.place("low"), Some(QueuePlace::Unschedulable));
    stage
}

#[test]
fn who_was_kept_away_is_tried_when_the_nominated_pod_is_deleted() {
    let mut stage = kept_away();
    stage.remove("middle");
    stage.schedule("low");
    assert_eq!(stage.node_of("low").as_deref(), Some("node"));
}

#[test]
fn who_was_kept_away_is_tried_when_the_nomination_ends() {
    let mut stage = kept_away();
    stage.create(&pod("high", "2", "priority: 100"));
    stage.schedule("high");
    stage.release("delete");
    stage.schedule("middle");
    assert_eq!((stage.node_of("middle"), stage.nominated("middle")), (None, None));
    stage.run();
    assert_eq!(stage.node_of("low").as_deref(), Some("node"));
}

#[test]
fn who_was_kept_away_is_tried_when_the_nominated_pod_is_bound_elsewhere() {
    let mut stage = kept_away();
    stage.bind("middle", "elsewhere");
    stage.schedule("low");
    assert_eq!(stage.node_of("low").as_deref(), Some("node"));
}

#[test]
fn who_was_kept_away_is_tried_when_the_nominated_pod_goes_to_another_node() {
    let mut stage = kept_away();
    stage.create(&pod("high", "2", "priority: 100, nodeName: node"));
    stage.create(&(node("other", "4") + "spec: {taints: [{key: dedicated, effect: NoSchedule}]}\n"));
    stage.run();
    assert_eq!(stage.place("low"), Some(QueuePlace::Unschedulable));
    stage.edit("middle", |pod| {
        let all = Toleration { operator: Some("Exists".into()), ..Toleration::default() };
        pod.spec.get_or_insert_default().tolerations = Some(vec![all]);
    });
    stage.release("delete");
    stage.run();
    assert_eq!(stage.node_of("middle").as_deref(), Some("other"));
    assert_eq!(stage.node_of("low").as_deref(), Some("node"));
}

#[test]
fn who_was_kept_away_is_tried_when_a_nomination_ends_that_no_status_has_told() {
    let mut stage = Stage::new(&(node("node", "4") + &pod("running", "4", &format!("nodeName: node, {RUNNING}"))));
    stage.hold("delete");
    stage.hold("patch middle");
    stage.create(&pod("middle", "3", "priority: 50"));
    stage.schedule("middle");
    stage.remove("running");
    stage.create(&pod("low", "2", "priority: 1"));
    stage.schedule("low");
    stage.create(&pod("high", "2", "priority: 100, nodeName: node"));
    assert_eq!((stage.place("low"), stage.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
    stage.release("delete");
    stage.run();
    assert_eq!((stage.node_of("middle"), stage.nominated("middle")), (None, None));
    assert_eq!(stage.node_of("low").as_deref(), Some("node"));
}
