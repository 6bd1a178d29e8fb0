//! Preemption during other activity.
//!
//! | scenario | result |
//! |---|---|
//! | victims are removed in the background | the preemptor is held until they are gone, and then bound |
//! | a pod of lower priority is created in between | it does not get the capacity |
//! | a pod of higher priority is created in between | it gets the capacity, regardless of which preemption ends first; the nomination of the other preemptor ends |
//! | a pod of lower priority is created, and the node is large enough for both | it preempts other victims, and both are bound |
//! | a victim waits in Permit, or is in PreBind | it is not deleted, but tried again, and bound to another node |
//! | a victim is in Bind | it is deleted; its capacity is free at once, its reservations when Bind has failed |
//! | a pod of higher priority takes the capacity before the last victim is gone | the preemptor preempts pods on another node |
//! | a victim cannot be deleted | the last victim stays, and the preemptor is tried again |
//! | the preemptor is deleted or changed in between | no state of a deleted preemptor is left; a changed preemptor is bound |
//! | many pods of lower priority wait | none is bound before the preemptor |
//!
//! From kube-scheduler's `preemption` (`TestAsyncPreemption` and similar, `TestPreemptionRespectsWaitingPod`,
//! `TestPreemptionRespectsBindingPod`, `TestPreemptionStarvation`, `TestPreemptionRaces`, `TestNonPreemption`,
//! `TestInterPodAffinityPreemption`).

use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::harness::Harness;
use crate::scheduler::manifests::{labelled, node, pod, pod_with, pods};

/// Creates a node of 4 cpu, full of victims, the most important first.
fn full_node(victims: usize) -> Harness {
    let each = (4 / victims).to_string();
    let victim = |number| {
        pod(&format!("victim-{number}"), &each, &format!("{RUNNING_WITHOUT_GRACE_PERIOD}, priority: {}", 9 - number))
    };
    Harness::new(&(node("node", "4") + &(0..victims).map(victim).collect::<String>()))
}

const RUNNING_WITHOUT_GRACE_PERIOD: &str = "nodeName: node, terminationGracePeriodSeconds: 0";

#[test]
fn victims_are_removed_in_the_background_and_the_preemptor_is_held_meanwhile() {
    let mut harness = full_node(2);
    harness.hold("delete");
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    assert_eq!(harness.pending(), ["delete victim-0"], "the last victim is deleted only after the others");
    assert_eq!(harness.nominated("preemptor").as_deref(), Some("node"));
    assert!(harness.stays_held_by_its_preemption("preemptor"));
    assert_eq!(harness.condition("victim-0", "DisruptionTarget").0, "PreemptionByScheduler");
    assert_eq!(harness.schedule_next(), None);

    harness.release("delete");
    assert!(harness.is_gone("victim-0") && harness.is_gone("victim-1"));
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
    assert_eq!(harness.nominated("preemptor"), None, "cleared by the binding");
}

#[test]
fn a_lower_priority_pod_does_not_take_the_node_meanwhile() {
    let mut harness = full_node(2);
    harness.hold("delete");
    harness.create(&pod("high", "4", "priority: 100"));
    harness.schedule("high");
    harness.create(&pod("middle", "4", "priority: 50"));
    harness.schedule("middle");
    assert_eq!(harness.place("middle"), Some(QueuePlace::Unschedulable));

    harness.release("delete");
    harness.schedule("high");
    harness.schedule("middle");
    assert_eq!(harness.node_of("high").as_deref(), Some("node"));
    assert_eq!(harness.place("middle"), Some(QueuePlace::Unschedulable));
}

#[test]
fn a_higher_priority_pod_takes_the_node_whatever_the_order_of_preemptions() {
    for (first, second) in [("highest", "high"), ("high", "highest")] {
        let mut harness = full_node(4);
        harness.hold_of("high", "delete");
        harness.hold_of("highest", "delete");
        harness.create(&pod("high", "4", "priority: 100"));
        harness.schedule("high");
        harness.create(&pod("highest", "4", "priority: 200"));
        harness.schedule("highest");
        for preemptor in ["high", "highest"] {
            assert!(harness.stays_held_by_its_preemption(preemptor), "{preemptor}");
        }
        assert_eq!(harness.nominated("highest").as_deref(), Some("node"));
        assert_eq!(harness.nominated("high"), None, "a preemptor of higher priority targets the node");

        harness.release_of(first, "delete");
        if first == "highest" {
            harness.schedule("highest");
        }
        harness.release_of(second, "delete");
        if first == "high" {
            harness.schedule("highest");
        }
        harness.schedule("high");
        assert_eq!(harness.node_of("highest").as_deref(), Some("node"));
        assert_eq!(harness.place("high"), Some(QueuePlace::Unschedulable), "{first} first");
        assert_eq!(harness.schedule_next(), None);
    }
}

#[test]
fn a_lower_priority_pod_shares_a_large_node() {
    let mut harness = full_node(4);
    harness.hold_of("high", "delete");
    harness.hold_of("middle", "delete");
    harness.create(&pod("high", "2", "priority: 100"));
    harness.schedule("high");
    harness.create(&pod("middle", "2", "priority: 50"));
    harness.schedule("middle");
    assert!(harness.stays_held_by_its_preemption("middle"));
    assert_eq!(
        harness.nominated("high").as_deref(),
        Some("node"),
        "a preemptor of lower priority does not clear the nomination"
    );

    harness.release_of("middle", "delete");
    harness.release_of("high", "delete");
    harness.schedule("high");
    harness.schedule("middle");
    for pod in ["high", "middle"] {
        assert_eq!(harness.node_of(pod).as_deref(), Some("node"));
    }
    assert!((0..4).all(|victim| harness.is_gone(&format!("victim-{victim}"))));
}

/// Creates a node of 4 cpu, a victim of 2 cpu that stops during its binding cycle on this node, and a preemptor that
/// needs the whole node.
fn victim_in_its_binding_cycle(metadata: &str, hold: Option<&str>) -> Harness {
    let mut harness = Harness::new(&node("node", "4"));
    if let Some(requests) = hold {
        harness.hold(requests);
    }
    harness.create(&pod_with("victim", metadata, "2", "priority: 1", "{}"));
    harness.schedule("victim");
    harness.create(&(node("small", "2") + &pod("preemptor", "4", "priority: 100")));
    harness.schedule("preemptor");
    harness
}

/// Asserts that the preemptor is on the node, and that the victim was tried again instead of deleted.
fn both_are_bound(harness: &mut Harness) {
    harness.run();
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
    assert_eq!(harness.node_of("victim").as_deref(), Some("small"));
    assert!(!harness.log().iter().any(|line| line.starts_with("delete") || line.contains("DisruptionTarget")));
}

#[test]
fn a_victim_that_waits_in_permit_is_tried_again_elsewhere() {
    let mut harness = victim_in_its_binding_cycle("labels: {stops: permit-waits}", None);
    assert_eq!(harness.condition("victim", "PodScheduled").0, "SchedulerError", "not `Unschedulable`");
    both_are_bound(&mut harness);
}

#[test]
fn a_victim_whose_nomination_is_being_written_is_tried_again_elsewhere() {
    let mut harness = victim_in_its_binding_cycle("labels: {stops: permit-waits}", Some("patch victim nominated=node"));
    harness.release("patch victim nominated=node");
    both_are_bound(&mut harness);
}

#[test]
fn a_victim_in_pre_bind_is_cancelled_and_tried_again_elsewhere() {
    let mut harness = victim_in_its_binding_cycle("labels: {stops: pre-bind-waits}", Some("get Disk victim"));
    assert_eq!(harness.pending(), [""; 0], "no request waits for the disk any more");
    assert_eq!(harness.condition("victim", "PodScheduled").0, "SchedulerError");
    both_are_bound(&mut harness);
}

#[test]
fn a_victim_between_permit_and_pre_bind_is_deleted() {
    let mut harness =
        victim_in_its_binding_cycle("labels: {stops: pre-bind-waits}", Some("patch victim nominated=node"));
    assert!(harness.is_gone("victim"), "it is neither in Permit nor in PreBind");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
    harness.release("patch victim nominated=node");
    assert_eq!((harness.pending().len(), harness.schedule_next()), (0, None));
}

#[test]
fn a_victim_in_bind_is_deleted_and_its_capacity_is_free_at_once() {
    for metadata in ["labels: {}", "finalizers: [example.com/wait]"] {
        let mut harness = victim_in_its_binding_cycle(metadata, Some("bind victim"));
        harness.schedule("preemptor");
        assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"), "{metadata}");
        harness.release("bind victim");
        assert!(harness.is_gone("victim") || harness.node_of("victim").is_none());
        assert_eq!(harness.schedule_next(), None, "the victim is not tried again");
    }
}

#[test]
fn reservations_of_a_victim_in_bind_are_freed_after_its_binding_failed() {
    for finalizers in ["[]", "[example.com/wait]"] {
        let metadata = format!("labels: {{takes: token}}, finalizers: {finalizers}");
        let mut harness = victim_in_its_binding_cycle(&metadata, Some("bind victim"));
        harness.schedule("preemptor");
        assert_eq!(harness.node_of("preemptor"), None, "the victim has the token");
        harness.release("bind victim");
        harness.schedule("preemptor");
        assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"), "{finalizers}");
    }
}

#[test]
fn a_higher_priority_pod_takes_the_node_before_the_last_victim_is_deleted() {
    let mut harness = full_node(4);
    harness.hold_of("middle", "delete victim-3");
    harness.create(&pod("middle", "4", "priority: 50"));
    harness.schedule("middle");
    assert_eq!(harness.pending(), ["delete victim-3"]);
    assert!(harness.stays_held_by_its_preemption("middle"), "one victim is left");

    harness.create(
        &(node("node2", "4")
            + &pods("other", 4, "1", &RUNNING_WITHOUT_GRACE_PERIOD.replace("nodeName: node", "nodeName: node2"))),
    );
    harness.create(&pod("high", "2", "priority: 100"));
    harness.schedule("high");
    assert_eq!(harness.node_of("high").as_deref(), Some("node"));

    harness.release_of("middle", "delete victim-3");
    harness.schedule("middle");
    assert!(
        (0..4).all(|other| harness.is_gone(&format!("other-{other}"))),
        "`middle` preempts the pods on the other node"
    );
    harness.schedule("middle");
    assert_eq!(harness.node_of("middle").as_deref(), Some("node2"));
}

fn refused() -> ApiError {
    ApiError::new(ApiReason::Other, "rejected by an admission webhook")
}

#[test]
fn a_failed_victim_deletion_spares_the_last_victim() {
    let mut harness = full_node(4);
    harness.fail("delete victim-1", refused());
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    assert!(!harness.is_gone("victim-1") && !harness.is_gone("victim-3"));
    assert!(!harness.stays_held_by_its_preemption("preemptor"));

    harness.schedule("preemptor");
    assert!(harness.is_gone("victim-1") && harness.is_gone("victim-3"), "it continues with the failed deletion");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_single_victim_that_cannot_be_deleted_stays() {
    let mut harness = full_node(1);
    harness.fail("delete victim-0", refused());
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    assert!(!harness.is_gone("victim-0"));
    harness.schedule("preemptor");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn victims_deleted_by_another_client_count_as_removed() {
    let mut harness = full_node(2);
    harness.hold("delete");
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    harness.remove("victim-0");
    harness.remove("victim-1");
    harness.release("delete");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_deleted_preemptor_leaves_no_state() {
    let mut harness = full_node(2);
    harness.hold("delete");
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    harness.remove("preemptor");
    harness.release("delete");
    assert!(harness.is_gone("victim-0") && harness.is_gone("victim-1"));
    assert_eq!(harness.schedule_next(), None);

    harness.create(&pod("next", "4", "priority: 100"));
    harness.schedule("next");
    assert_eq!(harness.node_of("next").as_deref(), Some("node"));
}

#[test]
fn a_changed_preemptor_is_still_held() {
    let mut harness = full_node(2);
    harness.hold("delete");
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    harness.edit("preemptor", |pod| {
        pod.metadata.labels.get_or_insert_default().insert("changed".to_owned(), "true".to_owned());
    });
    assert!(harness.stays_held_by_its_preemption("preemptor"));
    harness.release("delete");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn the_preemptor_is_held_until_slow_victims_are_deleted() {
    let victim = pod("victim", "4", "nodeName: node, priority: 1");
    let mut harness = Harness::new(&(node("node", "4") + &victim + &pod("preemptor", "4", "priority: 100")));
    harness.schedule("preemptor");
    assert!(!harness.is_gone("victim"), "its grace period has not ended");
    assert_eq!(harness.log().iter().filter(|line| *line == "delete victim").count(), 1);

    // Until the victim is gone, there is no pod to try.
    assert_eq!(harness.schedule_next(), None);
    assert_eq!(harness.place("preemptor"), Some(QueuePlace::Unschedulable));
    assert_eq!(harness.nominated("preemptor").as_deref(), Some("node"));
    assert_eq!(harness.log(), [""; 0], "no request, and no message");

    // Another attempt preempts no other pod.
    harness.create(&node("another", "1"));
    harness.run();
    assert_eq!(harness.place("preemptor"), Some(QueuePlace::Unschedulable));
    assert!(!harness.log().iter().any(|line| line.starts_with("delete")));

    harness.remove("victim");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn lower_priority_pods_do_not_starve_the_preemptor() {
    let waiting = pods("waiting", 5, "1", "priority: 50");
    let running = pods("running", 4, "1", "nodeName: node, priority: 50, terminationGracePeriodSeconds: 0");
    let mut harness = Harness::new(&(node("node", "4") + &running + &waiting));
    harness.run();
    assert!((0..5).all(|pod| harness.place(&format!("waiting-{pod}")) == Some(QueuePlace::Unschedulable)));

    harness.hold("delete");
    harness.create(&pod("preemptor", "3", "priority: 100"));
    harness.schedule("preemptor");
    harness.release("delete");
    harness.schedule("preemptor");
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
    harness.run();
    assert!((0..5).all(|pod| harness.node_of(&format!("waiting-{pod}")).is_none()));
}

#[test]
fn pods_created_during_the_nomination_write_do_not_get_the_node() {
    let mut harness = full_node(4);
    harness.hold("delete victim-3");
    harness.hold("patch preemptor");
    harness.create(&pod("preemptor", "4", "priority: 100"));
    harness.schedule("preemptor");
    assert!(harness.is_gone("victim-0"));
    harness.create(&pods("late", 20, "1", "priority: 50"));
    harness.run();
    harness.release("delete victim-3");
    harness.schedule("preemptor");
    assert_eq!(harness.pending(), ["patch preemptor nominated=node PodScheduled=Unschedulable"]);
    harness.release("patch preemptor");
    harness.run();
    assert_eq!(harness.node_of("preemptor").as_deref(), Some("node"));
    assert!((0..20).all(|pod| harness.node_of(&format!("late-{pod}")).is_none()));
}

#[test]
fn a_pod_that_never_preempts_has_no_victims() {
    let mut harness = full_node(1);
    harness.create(&pod("patient", "4", "priority: 100, preemptionPolicy: Never"));
    harness.run();
    assert_eq!((harness.place("patient"), harness.nominated("patient")), (Some(QueuePlace::Unschedulable), None));
    assert!(!harness.is_gone("victim-0"));
    harness.remove("victim-0");
    harness.schedule("patient");
    assert_eq!(harness.node_of("patient").as_deref(), Some("node"));
}

#[test]
fn pods_are_preempted_for_required_anti_affinity() {
    let against = |app: &str| {
        let term = format!("{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: {app}}}}}}}");
        format!("affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}")
    };
    for (priority, leaves) in [(1, true), (100, false)] {
        let first = labelled("first", "app: first", "1", &format!("{RUNNING_WITHOUT_GRACE_PERIOD}, priority: 50"));
        let second = pod(
            "second",
            "1",
            &format!("{RUNNING_WITHOUT_GRACE_PERIOD}, priority: {priority}, {}", against("preemptor")),
        );
        let preemptor = labelled("preemptor", "app: preemptor", "1", &format!("priority: 100, {}", against("first")));
        let mut harness = Harness::new(&(node("node", "4") + &first + &second + &preemptor));
        harness.run();
        assert_eq!((harness.is_gone("first"), harness.is_gone("second")), (leaves, leaves), "of priority {priority}");
        assert_eq!(harness.node_of("preemptor").is_some(), leaves);
    }
}
