//! What wakes a pod that could not be placed, and what becomes of pods whose attempt breaks off.
//!
//! | scenario | ends with |
//! |---|---|
//! | one update of a node changes a label and a taint | the pod that the taint kept away is tried |
//! | a new node is tainted, and then is not any more | the pod that fitted nowhere is tried when the taint is gone |
//! | Reserve or Permit rejects a pod | it is tried when something happens that the plugin waits for, and not for anything else |
//! | Reserve or Permit breaks | it is tried again without any event |
//! | Bind fails | the pod is tried again; others for which its room was missing, too |
//! | a pod waits in Permit in vain | others for which its room was missing are tried |
//! | a pod is deleted while it is assumed, or waits | its room is free at once, it is not bound and does not come back |
//! | a pod asks for less before it is bound | others that fit beside it then are tried when it is |
//! | scheduling gates | no attempt until they are gone |
//! | a profile that looks at half of the nodes | stops when it has found so many |
//!
//! From kube-scheduler's `eventhandler` (`TestUpdateNodeEvent`), `TestNodeEvents`, `TestReScheduling`, `queueing`
//! (`TestRequeueByBindFailure`, `TestRequeueByPermitRejection`, `TestSchedulingGates`).

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::manifests::{labelled, node, pod, pod_with};
use crate::scheduler::stage::Stage;

fn tainted(name: &str, labels: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}}}}}
spec: {{taints: [{{key: example.com/tainted, effect: NoSchedule}}]}}
status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 110}}}}
"
    )
}

#[test]
fn one_update_of_a_node_can_change_a_label_and_a_taint() {
    let mut stage = Stage::new(&(tainted("node", "") + &pod("pod", "1", "")));
    stage.run();
    assert_eq!(stage.place("pod"), Some(QueuePlace::Unschedulable));
    stage.create(&tainted("node", "only: label"));
    assert_eq!(stage.schedule_next(), None, "that is of no use");
    stage.create(&node("node", "4"));
    stage.schedule("pod");
    assert_eq!(stage.node_of("pod").as_deref(), Some("node"));
}

#[test]
fn a_new_node_is_of_use_when_its_taint_is_gone() {
    let mut stage = Stage::new(&(node("node1", "1") + &pod("first", "1", "") + &pod("second", "1", "")));
    stage.run();
    assert_eq!(stage.place("second"), Some(QueuePlace::Unschedulable));
    stage.create(&tainted("node2", ""));
    stage.run();
    assert_eq!(stage.node_of("second"), None);
    stage.create(&node("node2", "4"));
    stage.schedule("second");
    assert_eq!(stage.node_of("second").as_deref(), Some("node2"));
}

#[test]
fn an_unrelated_event_leaves_a_rejected_pod_parked() {
    for stops in ["reserve-rejects", "permit-rejects"] {
        let mut stage = Stage::new(&(node("node", "4") + &labelled("pod", &format!("stops: {stops}"), "1", "")));
        stage.schedule("pod");
        assert_eq!(stage.place("pod"), Some(QueuePlace::Unschedulable), "{stops}");
        let (reason, message) = stage.condition("pod", "PodScheduled");
        assert_eq!(reason, "Unschedulable");
        assert!(message.starts_with("0/1 nodes are available: 1 stopped at "), "{message}");

        stage.create(&(pod("other", "1", "") + &node("node", "5")));
        stage.schedule("other");
        stage.remove("other");
        assert_eq!((stage.place("pod"), stage.schedule_next()), (Some(QueuePlace::Unschedulable), None), "{stops}");

        stage.create(&node("node2", "4"));
        stage.schedule("pod");
        assert!(stage.node_of("pod").is_some(), "{stops}");
    }
}

#[test]
fn what_breaks_is_tried_again_without_any_event() {
    for stops in ["reserve-breaks", "permit-breaks"] {
        let mut stage = Stage::new(&(node("node", "4") + &labelled("pod", &format!("stops: {stops}"), "1", "")));
        stage.schedule("pod");
        assert_eq!(stage.condition("pod", "PodScheduled").0, "SchedulerError", "{stops}");
        assert_eq!(stage.node_of("pod"), None);
        stage.schedule("pod");
        assert_eq!(stage.node_of("pod").as_deref(), Some("node"), "{stops}");
    }
}

#[test]
fn a_failed_binding_is_tried_again_and_wakes_those_for_whom_its_room_was_missing() {
    let mut stage = Stage::new(&node("node", "4"));
    stage.fail("bind first", ApiError::new(ApiReason::Other, "no"));
    stage.hold("bind first");
    stage.create(&pod("first", "4", ""));
    stage.schedule("first");
    stage.create(&pod("second", "1", "priority: 1, preemptionPolicy: Never"));
    stage.schedule("second");
    assert_eq!(stage.place("second"), Some(QueuePlace::Unschedulable));

    stage.release("bind first");
    assert_eq!(stage.condition("first", "PodScheduled").0, "SchedulerError");
    stage.schedule("second");
    assert_eq!(stage.node_of("second").as_deref(), Some("node"));
    stage.schedule("first");
    assert_eq!(stage.place("first"), Some(QueuePlace::Unschedulable), "the other one has its room now");
}

#[test]
fn a_binding_that_took_place_although_it_failed_counts() {
    let mut stage = Stage::new(&node("node", "4"));
    stage.hold("bind pod");
    stage.fail("bind pod", ApiError::new(ApiReason::Timeout, "nobody knows"));
    stage.create(&pod("pod", "1", ""));
    stage.schedule("pod");
    stage.bind("pod", "node");
    stage.release("bind pod");
    assert_eq!(stage.schedule_next(), None, "it has its node");
    stage.create(&pod("other", "4", ""));
    stage.schedule("other");
    assert_eq!(stage.node_of("other"), None, "whose room is taken");
}

#[test]
fn whoever_waits_in_permit_in_vain_wakes_those_for_whom_its_room_was_missing() {
    let mut stage = Stage::new(&(node("node", "4") + &labelled("first", "stops: permit-waits", "4", "")));
    stage.schedule("first");
    stage.create(&pod("second", "4", "preemptionPolicy: Never"));
    stage.schedule("second");
    assert_eq!(stage.place("second"), Some(QueuePlace::Unschedulable));
    stage.hold("patch first");
    stage.pass(60);
    assert_eq!(stage.place("first"), Some(QueuePlace::Unschedulable));
    stage.schedule("second");
    assert_eq!(stage.node_of("second").as_deref(), Some("node"));
    stage.release("patch first");
    let (reason, message) = stage.condition("first", "PodScheduled");
    assert_eq!(reason, "Unschedulable");
    let timeout = "rejected due to timeout after waiting 1m0s at plugin Stops";
    assert_eq!(message, format!("0/1 nodes are available: 1 {timeout}."));
}

#[test]
fn a_pod_that_is_deleted_while_it_is_assumed_frees_its_room_at_once() {
    for (stops, waits_for) in
        [("permit-waits", None), ("pre-bind-waits", Some("get Disk first")), ("", Some("bind first to node"))]
    {
        let mut stage = Stage::new(&node("node", "4"));
        let labels = if stops.is_empty() { String::new() } else { format!("stops: {stops}") };
        stage.hold("get Disk");
        stage.hold("bind first");
        stage.create(&(labelled("first", &labels, "4", "") + &pod("second", "4", "")));
        stage.schedule("first");
        stage.schedule("second");
        assert_eq!(stage.place("second"), Some(QueuePlace::Unschedulable), "{stops}");
        assert_eq!(stage.pending().first().map(String::as_str), waits_for);

        stage.remove("first");
        assert_eq!(stage.under_way().waiting, 0);
        stage.schedule("second");
        assert_eq!(stage.node_of("second").as_deref(), Some("node"), "{stops}");
        stage.release("get Disk");
        stage.release("bind first");
        assert_eq!((stage.place("first"), stage.schedule_next()), (None, None), "{stops}");
    }
}

#[test]
fn a_pod_that_is_being_deleted_while_it_waits_in_permit_is_rejected() {
    let waiting = pod_with("first", "labels: {stops: permit-waits}, finalizers: [example.com/wait]", "4", "", "{}");
    let mut stage = Stage::new(&(node("node", "4") + &waiting + &pod("second", "4", "")));
    stage.schedule("first");
    stage.schedule("second");
    stage.delete("first");
    assert_eq!(stage.under_way().waiting, 0);
    stage.schedule("second");
    assert_eq!(stage.node_of("second").as_deref(), Some("node"));
    stage.run();
    assert_eq!(stage.node_of("first"), None);
}

#[test]
fn a_pod_that_is_created_again_under_its_name_while_it_is_being_bound_is_another_one() {
    let again = |uid: &str| pod_with("pod", &format!("uid: {uid}"), "1", "", "{}");
    let mut stage = Stage::new(&(node("node", "4") + &again("first")));
    stage.hold("bind pod");
    stage.schedule("pod");
    stage.create(&again("second"));
    stage.schedule("pod");
    assert_eq!(stage.pending(), ["bind pod to node", "bind pod to node"]);
    stage.release("bind pod");
    assert_eq!(stage.node_of("pod").as_deref(), Some("node"));
    assert_eq!(stage.schedule_next(), None);
}

#[test]
fn gates_hold_pods_until_they_are_gone() {
    let gated = |name: &str| pod(name, "1", "schedulingGates: [{name: example.com/quota}]");
    let mut stage = Stage::new(&(node("node", "1") + &gated("gated") + &gated("stays") + &pod("free", "1", "")));
    stage.run();
    assert_eq!(stage.node_of("free").as_deref(), Some("node"));
    stage.remove("free");
    assert_eq!((stage.place("gated"), stage.schedule_next()), (Some(QueuePlace::Gated), None));
    stage.edit("gated", |pod| pod.spec.get_or_insert_default().scheduling_gates = None);
    stage.schedule("gated");
    assert_eq!(stage.node_of("gated").as_deref(), Some("node"));
    assert_eq!(stage.place("stays"), Some(QueuePlace::Gated));
    assert!(stage.condition("stays", "PodScheduled").0.is_empty(), "no condition while it is gated");
}

#[test]
fn who_fits_beside_a_pod_that_asks_for_less_than_when_it_was_decided_about_is_tried_when_that_is_bound() {
    let mut stage = Stage::new(&(node("node", "4") + &pod("first", "3", "")));
    stage.hold("bind");
    stage.schedule("first");
    stage.edit("first", |pod| {
        let requests = [("cpu".to_owned(), Quantity("1".to_owned()))].into();
        let spec = pod.spec.get_or_insert_default();
        spec.containers[0].resources.get_or_insert_default().requests = Some(requests);
    });
    stage.create(&pod("second", "2", ""));
    stage.schedule("second");
    assert_eq!(stage.place("second"), Some(QueuePlace::Unschedulable));
    stage.release("bind");
    stage.run();
    assert_eq!((stage.node_of("first").is_some(), stage.node_of("second").is_some()), (true, true));
}
