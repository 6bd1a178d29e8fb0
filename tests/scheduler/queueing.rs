//! Events that wake unschedulable pods, and retries after failed attempts.
//!
//! | scenario | result |
//! |---|---|
//! | one update of a node changes a label and a taint | the pod that the taint blocked is tried |
//! | a new node is tainted, and then loses the taint | the unschedulable pod is tried when the taint is removed |
//! | Reserve or Permit rejects a pod | it is tried after events for which the plugin waits, and after no others |
//! | Reserve or Permit fails with an error | the pod is tried again without an event |
//! | Bind fails | the pod is tried again, and also pods that lacked its capacity |
//! | a pod times out in Permit | pods that lacked its capacity are tried |
//! | a pod is deleted while it is assumed or waits in Permit | its capacity is free at once; it is not bound and not queued again |
//! | a pod reduces its requests before it is bound | pods that then fit next to it are tried after the binding |
//! | scheduling gates | no attempt until they are removed |
//!
//! From kube-scheduler's `eventhandler` (`TestUpdateNodeEvent`), `TestNodeEvents`, `TestReScheduling`, `queueing`
//! (`TestRequeueByBindFailure`, `TestRequeueByPermitRejection`, `TestSchedulingGates`).

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::harness::Harness;
use crate::scheduler::manifests::{labelled, node, pod, pod_with};

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
    let mut harness = Harness::new(&(tainted("node", "") + &pod("pod", "1", "")));
    harness.run();
    assert_eq!(harness.place("pod"), Some(QueuePlace::Unschedulable));
    harness.create(&tainted("node", "only: label"));
    assert_eq!(harness.schedule_next(), None, "the taint still blocks the pod");
    harness.create(&node("node", "4"));
    harness.schedule("pod");
    assert_eq!(harness.node_of("pod").as_deref(), Some("node"));
}

#[test]
fn a_new_node_is_used_when_its_taint_is_removed() {
    let mut harness = Harness::new(&(node("node1", "1") + &pod("first", "1", "") + &pod("second", "1", "")));
    harness.run();
    assert_eq!(harness.place("second"), Some(QueuePlace::Unschedulable));
    harness.create(&tainted("node2", ""));
    harness.run();
    assert_eq!(harness.node_of("second"), None);
    harness.create(&node("node2", "4"));
    harness.schedule("second");
    assert_eq!(harness.node_of("second").as_deref(), Some("node2"));
}

#[test]
fn an_unrelated_event_leaves_a_rejected_pod_parked() {
    for stops in ["reserve-rejects", "permit-rejects"] {
        let mut harness = Harness::new(&(node("node", "4") + &labelled("pod", &format!("stops: {stops}"), "1", "")));
        harness.schedule("pod");
        assert_eq!(harness.place("pod"), Some(QueuePlace::Unschedulable), "{stops}");
        let (reason, message) = harness.condition("pod", "PodScheduled");
        assert_eq!(reason, "Unschedulable");
        assert!(message.starts_with("0/1 nodes are available: 1 stopped at "), "{message}");

        harness.create(&(pod("other", "1", "") + &node("node", "5")));
        harness.schedule("other");
        harness.remove("other");
        assert_eq!((harness.place("pod"), harness.schedule_next()), (Some(QueuePlace::Unschedulable), None), "{stops}");

        harness.create(&node("node2", "4"));
        harness.schedule("pod");
        assert!(harness.node_of("pod").is_some(), "{stops}");
    }
}

#[test]
fn errors_are_retried_without_an_event() {
    for stops in ["reserve-breaks", "permit-breaks"] {
        let mut harness = Harness::new(&(node("node", "4") + &labelled("pod", &format!("stops: {stops}"), "1", "")));
        harness.schedule("pod");
        assert_eq!(harness.condition("pod", "PodScheduled").0, "SchedulerError", "{stops}");
        assert_eq!(harness.node_of("pod"), None);
        harness.schedule("pod");
        assert_eq!(harness.node_of("pod").as_deref(), Some("node"), "{stops}");
    }
}

#[test]
fn a_failed_binding_is_retried_and_wakes_pods_that_lacked_its_resources() {
    let mut harness = Harness::new(&node("node", "4"));
    harness.fail("bind first", ApiError::new(ApiReason::Other, "no"));
    harness.hold("bind first");
    harness.create(&pod("first", "4", ""));
    harness.schedule("first");
    harness.create(&pod("second", "1", "priority: 1, preemptionPolicy: Never"));
    harness.schedule("second");
    assert_eq!(harness.place("second"), Some(QueuePlace::Unschedulable));

    harness.release("bind first");
    assert_eq!(harness.condition("first", "PodScheduled").0, "SchedulerError");
    harness.schedule("second");
    assert_eq!(harness.node_of("second").as_deref(), Some("node"));
    harness.schedule("first");
    assert_eq!(harness.place("first"), Some(QueuePlace::Unschedulable), "the second pod uses the capacity now");
}

#[test]
fn a_binding_counts_if_the_cluster_stored_it_despite_an_error() {
    let mut harness = Harness::new(&node("node", "4"));
    harness.hold("bind pod");
    harness.fail("bind pod", ApiError::new(ApiReason::Timeout, "no response"));
    harness.create(&pod("pod", "1", ""));
    harness.schedule("pod");
    harness.bind("pod", "node");
    harness.release("bind pod");
    assert_eq!(harness.schedule_next(), None, "the pod is bound");
    harness.create(&pod("other", "4", ""));
    harness.schedule("other");
    assert_eq!(harness.node_of("other"), None, "its capacity is taken");
}

#[test]
fn a_permit_timeout_wakes_pods_that_lacked_its_resources() {
    let mut harness = Harness::new(&(node("node", "4") + &labelled("first", "stops: permit-waits", "4", "")));
    harness.schedule("first");
    harness.create(&pod("second", "4", "preemptionPolicy: Never"));
    harness.schedule("second");
    assert_eq!(harness.place("second"), Some(QueuePlace::Unschedulable));
    harness.hold("patch first");
    harness.pass(60);
    assert_eq!(harness.place("first"), Some(QueuePlace::Unschedulable));
    harness.schedule("second");
    assert_eq!(harness.node_of("second").as_deref(), Some("node"));
    harness.release("patch first");
    let (reason, message) = harness.condition("first", "PodScheduled");
    assert_eq!(reason, "Unschedulable");
    let timeout = "rejected due to timeout after waiting 1m0s at plugin Stops";
    assert_eq!(message, format!("0/1 nodes are available: 1 {timeout}."));
}

#[test]
fn a_pod_that_is_deleted_while_it_is_assumed_frees_its_capacity_at_once() {
    for (stops, waits_for) in
        [("permit-waits", None), ("pre-bind-waits", Some("get Disk first")), ("", Some("bind first to node"))]
    {
        let mut harness = Harness::new(&node("node", "4"));
        let labels = if stops.is_empty() { String::new() } else { format!("stops: {stops}") };
        harness.hold("get Disk");
        harness.hold("bind first");
        harness.create(&(labelled("first", &labels, "4", "") + &pod("second", "4", "")));
        harness.schedule("first");
        harness.schedule("second");
        assert_eq!(harness.place("second"), Some(QueuePlace::Unschedulable), "{stops}");
        assert_eq!(harness.pending().first().map(String::as_str), waits_for);

        harness.remove("first");
        assert_eq!(harness.under_way().waiting, 0);
        harness.schedule("second");
        assert_eq!(harness.node_of("second").as_deref(), Some("node"), "{stops}");
        harness.release("get Disk");
        harness.release("bind first");
        assert_eq!((harness.place("first"), harness.schedule_next()), (None, None), "{stops}");
    }
}

#[test]
fn a_pod_that_is_being_deleted_while_it_waits_in_permit_is_rejected() {
    let waiting = pod_with("first", "labels: {stops: permit-waits}, finalizers: [example.com/wait]", "4", "", "{}");
    let mut harness = Harness::new(&(node("node", "4") + &waiting + &pod("second", "4", "")));
    harness.schedule("first");
    harness.schedule("second");
    harness.delete("first");
    assert_eq!(harness.under_way().waiting, 0);
    harness.schedule("second");
    assert_eq!(harness.node_of("second").as_deref(), Some("node"));
    harness.run();
    assert_eq!(harness.node_of("first"), None);
}

#[test]
fn a_pod_recreated_during_its_binding_is_a_new_pod() {
    let pod_with_uid = |uid: &str| pod_with("pod", &format!("uid: {uid}"), "1", "", "{}");
    let mut harness = Harness::new(&(node("node", "4") + &pod_with_uid("first")));
    harness.hold("bind pod");
    harness.schedule("pod");
    harness.create(&pod_with_uid("second"));
    harness.schedule("pod");
    assert_eq!(harness.pending(), ["bind pod to node", "bind pod to node"]);
    harness.release("bind pod");
    assert_eq!(harness.node_of("pod").as_deref(), Some("node"));
    assert_eq!(harness.schedule_next(), None);
}

#[test]
fn gates_hold_pods_until_they_are_removed() {
    let gated = |name: &str| pod(name, "1", "schedulingGates: [{name: example.com/quota}]");
    let mut harness = Harness::new(&(node("node", "1") + &gated("gated") + &gated("stays") + &pod("free", "1", "")));
    harness.run();
    assert_eq!(harness.node_of("free").as_deref(), Some("node"));
    harness.remove("free");
    assert_eq!((harness.place("gated"), harness.schedule_next()), (Some(QueuePlace::Gated), None));
    harness.edit("gated", |pod| pod.spec.get_or_insert_default().scheduling_gates = None);
    harness.schedule("gated");
    assert_eq!(harness.node_of("gated").as_deref(), Some("node"));
    assert_eq!(harness.place("stays"), Some(QueuePlace::Gated));
    assert!(harness.condition("stays", "PodScheduled").0.is_empty(), "no condition while it is gated");
}

#[test]
fn a_pod_is_tried_when_a_pod_with_reduced_requests_is_bound() {
    let mut harness = Harness::new(&(node("node", "4") + &pod("first", "3", "")));
    harness.hold("bind");
    harness.schedule("first");
    harness.edit("first", |pod| {
        let requests = [("cpu".to_owned(), Quantity("1".to_owned()))].into();
        let spec = pod.spec.get_or_insert_default();
        spec.containers[0].resources.get_or_insert_default().requests = Some(requests);
    });
    harness.create(&pod("second", "2", ""));
    harness.schedule("second");
    assert_eq!(harness.place("second"), Some(QueuePlace::Unschedulable));
    harness.release("bind");
    harness.run();
    assert_eq!((harness.node_of("first").is_some(), harness.node_of("second").is_some()), (true, true));
}
