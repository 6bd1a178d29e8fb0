//! `status.nominatedNodeName`: when it is set and cleared.
//!
//! | scenario | result |
//! |---|---|
//! | a pod will wait in Permit, or PreBind has work | the name is written before that; in all other cases it is not written |
//! | the pod is bound | the name is cleared |
//! | a preemption succeeds | the name becomes the node of the victims, whatever it was before |
//! | the pod does not fit on its nominated node, or on any node | the name is cleared, and blocks no other pods |
//! | a pod of higher priority is scheduled first | it gets the capacity, and the name of the lower one is cleared |
//! | a pod of higher priority preempts pods on the node | the name of the lower one is cleared |
//! | the node is deleted, with or without other infeasible nodes | the name is cleared |
//! | PreBind fails | the name is cleared |
//! | another component sets the name | this node is tried first, and chosen if the pod fits, independent of scores |
//! | the nominated pod is deleted, gets another node, or loses its nomination | pods of lower priority that it blocked are tried again |
//!
//! From kube-scheduler's `nominated_node_name`, `preemption/nominatednodename` and `eventhandler`
//! (`TestUpdateNominatedNodeName`).

use k8s_openapi::api::core::v1::Toleration;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::harness::Harness;
use crate::scheduler::manifests::{labelled, node, nominated, pod, pods};

const WITHOUT_GRACE_PERIOD: &str = "terminationGracePeriodSeconds: 0";

#[test]
fn the_nomination_is_written_before_permit_waits_and_before_pre_bind_runs() {
    for (stops, written) in [("permit-waits", true), ("pre-bind-waits", true), ("", false)] {
        let labels = if stops.is_empty() { String::new() } else { format!("stops: {stops}") };
        let mut harness = Harness::new(&(node("node", "4") + &labelled("pod", &labels, "1", "")));
        harness.hold("get Disk");
        harness.schedule("pod");
        assert_eq!(harness.nominated("pod").is_some(), written, "{stops}");
        assert_eq!(harness.node_of("pod").is_none(), written, "{stops}");
        assert_eq!(harness.log().iter().any(|line| line.starts_with("patch")), written, "{stops}");
    }
}

#[test]
fn binding_waits_for_the_written_nomination() {
    let mut harness = Harness::new(&(node("node", "4") + &labelled("pod", "stops: pre-bind-waits", "1", "")));
    harness.hold("patch pod nominated=node");
    harness.hold("get Disk");
    harness.schedule("pod");
    assert_eq!(harness.pending(), ["patch pod nominated=node"]);
    harness.release("patch pod nominated=node");
    assert_eq!(harness.pending(), ["get Disk pod"]);
    harness.release("get Disk");
    assert_eq!((harness.node_of("pod").as_deref(), harness.nominated("pod")), (Some("node"), None));
}

#[test]
fn a_failed_nomination_write_does_not_stop_the_binding() {
    let mut harness = Harness::new(&(node("node", "4") + &labelled("pod", "stops: pre-bind-waits", "1", "")));
    harness.fail("patch pod nominated=node", ApiError::new(ApiReason::Timeout, "no response"));
    harness.schedule("pod");
    assert_eq!(harness.node_of("pod").as_deref(), Some("node"));
}

#[test]
fn a_nomination_that_a_preemption_failed_to_write_is_written_before_pre_bind_runs() {
    let running = pod("running", "4", &format!("nodeName: node, {WITHOUT_GRACE_PERIOD}"));
    let mut harness = Harness::new(&(node("node", "4") + &running));
    harness.fail("patch preemptor nominated=node PodScheduled", ApiError::new(ApiReason::Timeout, "no response"));
    harness.hold("get Disk");
    harness.create(&labelled("preemptor", "stops: pre-bind-waits", "4", "priority: 100"));
    harness.run();
    assert_eq!(harness.pending(), ["get Disk preemptor"]);
    assert_eq!(harness.nominated("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_preemption_overwrites_the_nomination() {
    let victims = pods("victim", 2, "2", &format!("nodeName: node, {WITHOUT_GRACE_PERIOD}"));
    let other = pod("other", "3", &format!("nodeName: node2, {WITHOUT_GRACE_PERIOD}"));
    let mut harness = Harness::new(&(node("node", "4") + &node("node2", "4") + &victims + &other));
    harness.hold("delete");
    harness.create(&nominated("preemptor", "node", "4", "priority: 100"));
    harness.schedule("preemptor");
    assert_eq!(harness.nominated("preemptor").as_deref(), Some("node2"), "one victim is less than two");
    harness.release("delete");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node2"));
}

#[test]
fn the_nomination_is_cleared_if_the_pod_does_not_fit() {
    let mut harness = Harness::new(&node("node", "4"));
    harness.create(&(nominated("too-big", "node", "5", "priority: 1") + &pod("fits", "3", "priority: 1")));
    harness.hold("patch too-big");
    harness.schedule("too-big");
    assert_eq!(harness.nominated("too-big").as_deref(), Some("node"), "the removal is not written yet");
    harness.schedule("fits");
    assert_eq!(harness.node_of("fits").as_deref(), Some("node"), "the removal already has an effect");
    harness.release("patch too-big");
    assert_eq!(harness.nominated("too-big"), None);
}

#[test]
fn a_higher_priority_pod_without_nomination_comes_first() {
    let mut harness = Harness::new(&node("node", "4"));
    harness.create(&(nominated("low", "node", "4", "priority: 1") + &pod("high", "4", "priority: 100")));
    harness.schedule("high");
    assert_eq!(harness.node_of("high").as_deref(), Some("node"));
    harness.schedule("low");
    assert_eq!((harness.node_of("low"), harness.nominated("low")), (None, None));
}

#[test]
fn a_nomination_reserves_the_node_against_equal_priority() {
    let mut harness = Harness::new(&node("node", "4"));
    harness.create(&(pod("first", "4", "priority: 1") + &nominated("second", "node", "4", "priority: 1")));
    harness.schedule("first");
    assert_eq!(harness.place("first"), Some(QueuePlace::Unschedulable));
    harness.schedule("second");
    assert_eq!((harness.node_of("second").as_deref(), harness.nominated("second")), (Some("node"), None));
}

#[test]
fn an_assumed_pod_on_its_nominated_node_counts_once() {
    let mut harness =
        Harness::new(&(node("node", "4") + &nominated("first", "node", "2", "") + &pod("second", "2", "")));
    harness.hold("bind first");
    harness.schedule("first");
    harness.schedule("second");
    assert_eq!(harness.node_of("second").as_deref(), Some("node"));
}

#[test]
fn a_second_preemption_by_higher_priority_clears_the_nomination() {
    let mut harness = Harness::new(&(node("node", "5") + &pods("low", 4, "1", "nodeName: node, priority: 1")));
    harness.create(&pod("middle", "4", "priority: 50"));
    harness.schedule("middle");
    assert_eq!(harness.nominated("middle").as_deref(), Some("node"));
    harness.run();
    // The victims of `middle` are still terminating, and the remaining capacity is not enough for `high` either.
    harness.create(&pod("high", "3", "priority: 100"));
    harness.run();
    assert_eq!(harness.node_of("high"), None);
    for low in 0..4 {
        harness.remove(&format!("low-{low}"));
    }
    harness.run();
    assert_eq!(harness.node_of("high").as_deref(), Some("node"));
    assert_eq!((harness.place("middle"), harness.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
}

#[test]
fn a_higher_priority_pod_beside_the_victims_keeps_the_nomination_until_the_next_attempt() {
    let mut harness = Harness::new(&(node("node", "2") + &pod("low", "1", "nodeName: node, priority: 1")));
    harness.create(&pod("middle", "2", "priority: 50"));
    harness.run();
    assert_eq!(harness.nominated("middle").as_deref(), Some("node"));
    harness.create(&pod("high", "1", "priority: 100"));
    harness.schedule("high");
    assert_eq!(harness.node_of("high").as_deref(), Some("node"));
    harness.remove("low");
    harness.run();
    assert_eq!((harness.place("middle"), harness.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
}

#[test]
fn the_nomination_ends_with_its_node() {
    let tainted = "---
apiVersion: v1
kind: Node
metadata: {name: tainted}
spec: {taints: [{key: example.com/tainted, effect: NoSchedule}]}
status: {allocatable: {cpu: 1, memory: 8Gi, pods: 110}}
";
    for others in ["", tainted] {
        let low = pod("low", "1", "nodeName: node, priority: 1");
        let mut harness = Harness::new(&(node("node", "1") + others + &low + &pod("middle", "1", "priority: 50")));
        harness.run();
        assert_eq!(harness.nominated("middle").as_deref(), Some("node"));
        harness.remove_node("node");
        harness.remove("low");
        harness.schedule("middle");
        assert_eq!((harness.node_of("middle"), harness.nominated("middle")), (None, None), "{others}");
        harness.create(&node("new", "1"));
        harness.schedule("middle");
        assert_eq!(harness.node_of("middle").as_deref(), Some("new"));
    }
}

#[test]
fn the_nomination_is_cleared_when_pre_bind_fails() {
    for (stops, reason) in [("pre-bind-rejects", "Unschedulable"), ("pre-bind-breaks", "SchedulerError")] {
        let mut harness = Harness::new(&(node("node", "1") + &pod("low", "1", "nodeName: node, priority: 1")));
        harness.create(&labelled("middle", &format!("stops: {stops}"), "1", "priority: 50"));
        harness.run();
        assert_eq!(harness.nominated("middle").as_deref(), Some("node"));
        harness.remove("low");
        harness.schedule("middle");
        assert_eq!((harness.node_of("middle"), harness.nominated("middle")), (None, None), "{stops}");
        assert_eq!(harness.condition("middle", "PodScheduled").0, reason);
        harness.run();
        assert_eq!(harness.node_of("middle").as_deref(), Some("node"));
    }
}

#[test]
fn an_external_nomination_is_used_if_the_pod_fits() {
    for (cpu, expected) in [("1", "busy"), ("3", "idle")] {
        let busy = node("busy", "4") + &pod("running", "2", "nodeName: busy");
        let mut harness = Harness::new(&(busy + &node("idle", "4") + &nominated("pod", "busy", cpu, "")));
        harness.schedule("pod");
        assert_eq!((harness.node_of("pod").as_deref(), harness.nominated("pod")), (Some(expected), None));
    }
}

#[test]
fn a_later_external_nomination_counts_at_once() {
    let busy = node("busy", "4") + &pod("running", "2", "nodeName: busy");
    let mut harness = Harness::new(&(busy + &node("idle", "4") + &pod("pod", "1", "")));
    harness.edit("pod", |pod| pod.status.get_or_insert_default().nominated_node_name = Some("busy".to_owned()));
    harness.schedule("pod");
    assert_eq!(harness.node_of("pod").as_deref(), Some("busy"));
}

#[test]
fn an_unwritten_nomination_counts() {
    let mut harness =
        Harness::new(&(node("node", "4") + &pod("victim", "4", &format!("nodeName: node, {WITHOUT_GRACE_PERIOD}"))));
    harness.hold("patch preemptor");
    harness.create(&pod("preemptor", "3", "priority: 100"));
    harness.schedule("preemptor");
    harness.create(&node("idle", "64"));
    harness.schedule("preemptor");
    harness.release("patch preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

/// Creates a pod of low priority, which is blocked by the nomination of a pod of middle priority. The blocked pod would
/// fit next to the pod of high priority that some tests create.
fn with_blocked_pod() -> Harness {
    let mut harness =
        Harness::new(&(node("node", "4") + &pod("running", "4", &format!("nodeName: node, {WITHOUT_GRACE_PERIOD}"))));
    harness.hold("delete");
    harness.create(&pod("middle", "3", "priority: 50"));
    harness.schedule("middle");
    harness.remove("running");
    harness.create(&pod("low", "2", "priority: 1"));
    harness.schedule("low");
    assert_eq!(harness.place("low"), Some(QueuePlace::Unschedulable));
    harness
}

#[test]
fn a_blocked_pod_is_tried_when_the_nominated_pod_is_deleted() {
    let mut harness = with_blocked_pod();
    harness.remove("middle");
    harness.schedule("low");
    assert_eq!(harness.node_of("low").as_deref(), Some("node"));
}

#[test]
fn a_blocked_pod_is_tried_when_the_nomination_ends() {
    let mut harness = with_blocked_pod();
    harness.create(&pod("high", "2", "priority: 100"));
    harness.schedule("high");
    harness.release("delete");
    harness.schedule("middle");
    assert_eq!((harness.node_of("middle"), harness.nominated("middle")), (None, None));
    harness.run();
    assert_eq!(harness.node_of("low").as_deref(), Some("node"));
}

#[test]
fn a_blocked_pod_is_tried_when_the_nominated_pod_is_bound_to_another_node() {
    let mut harness = with_blocked_pod();
    harness.bind("middle", "elsewhere");
    harness.schedule("low");
    assert_eq!(harness.node_of("low").as_deref(), Some("node"));
}

#[test]
fn a_blocked_pod_is_tried_when_the_nominated_pod_moves_to_another_node() {
    let mut harness = with_blocked_pod();
    harness.create(&pod("high", "2", "priority: 100, nodeName: node"));
    harness.create(&(node("other", "4") + "spec: {taints: [{key: dedicated, effect: NoSchedule}]}\n"));
    harness.run();
    assert_eq!(harness.place("low"), Some(QueuePlace::Unschedulable));
    harness.edit("middle", |pod| {
        let all = Toleration { operator: Some("Exists".into()), ..Toleration::default() };
        pod.spec.get_or_insert_default().tolerations = Some(vec![all]);
    });
    harness.release("delete");
    harness.run();
    assert_eq!(harness.node_of("middle").as_deref(), Some("other"));
    assert_eq!(harness.node_of("low").as_deref(), Some("node"));
}

#[test]
fn a_blocked_pod_is_tried_when_an_unwritten_nomination_ends() {
    let mut harness =
        Harness::new(&(node("node", "4") + &pod("running", "4", &format!("nodeName: node, {WITHOUT_GRACE_PERIOD}"))));
    harness.hold("delete");
    harness.hold("patch middle");
    harness.create(&pod("middle", "3", "priority: 50"));
    harness.schedule("middle");
    harness.remove("running");
    harness.create(&pod("low", "2", "priority: 1"));
    harness.schedule("low");
    harness.create(&pod("high", "2", "priority: 100, nodeName: node"));
    assert_eq!((harness.place("low"), harness.nominated("middle")), (Some(QueuePlace::Unschedulable), None));
    harness.release("delete");
    harness.run();
    assert_eq!((harness.node_of("middle"), harness.nominated("middle")), (None, None));
    assert_eq!(harness.node_of("low").as_deref(), Some("node"));
}
