//! Pods that make room for themselves while everything else goes on.
//!
//! | scenario | ends with |
//! |---|---|
//! | victims are removed in the background | the preemptor is held meanwhile, and bound when they are gone |
//! | a lower one comes meanwhile | it does not get the place |
//! | a higher one comes meanwhile | it gets the place, whichever preemption is done first; the other one's nomination ends |
//! | a lower one comes, and the node is big enough | it removes others, and both are bound |
//! | a victim waits in Permit, or is in PreBind | it is not deleted, but tried again, and bound elsewhere |
//! | a victim is in Bind | it is deleted; its room is free at once, what it reserved when Bind has failed |
//! | a higher one takes the room before the last victim is gone | the lower one makes room on another node |
//! | a victim cannot be deleted | the last one stays, and the preemptor is tried again |
//! | the preemptor is deleted, or changed, meanwhile | nothing is left behind; the changed one is bound |
//! | many lower ones wait | none is bound before the preemptor |
//!
//! From kube-scheduler's `preemption` (`TestAsyncPreemption` and its likes, `TestPreemptionRespectsWaitingPod`,
//! `TestPreemptionRespectsBindingPod`, `TestPreemptionStarvation`, `TestPreemptionRaces`, `TestNonPreemption`,
//! `TestInterPodAffinityPreemption`).

use schedc_core::client::{ApiError, ApiReason};
use schedc_core::queue::QueuePlace;

use crate::scheduler::manifests::{labelled, node, pod, pod_with, pods};
use crate::scheduler::stage::Stage;

/// A node of 4 cpu, full of victims, the most important first.
fn full_node(victims: usize) -> Stage {
    let each = (4 / victims).to_string();
    let victim = |number| pod(&format!("victim-{number}"), &each, &format!("{RUNNING}, priority: {}", 9 - number));
    Stage::new(&(node("node", "4") + &(0..victims).map(victim).collect::<String>()))
}

const RUNNING: &str = "nodeName: node, terminationGracePeriodSeconds: 0";

#[test]
fn victims_are_removed_in_the_background_and_the_preemptor_is_held_meanwhile() {
    let mut stage = full_node(2);
    stage.hold("delete");
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    assert_eq!(stage.pending(), ["delete victim-0"], "the last one is left for the end");
    assert_eq!(stage.nominated("preemptor").as_deref(), Some("node"));
    assert!(stage.is_held_by_its_preemption("preemptor"));
    assert_eq!(stage.condition("victim-0", "DisruptionTarget").0, "PreemptionByScheduler");
    assert_eq!(stage.schedule_next(), None);

    stage.release("delete");
    assert!(stage.is_gone("victim-0") && stage.is_gone("victim-1"));
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
    assert_eq!(stage.nominated("preemptor"), None, "cleared by the binding");
}

#[test]
fn a_lower_one_does_not_take_the_place_meanwhile() {
    let mut stage = full_node(2);
    stage.hold("delete");
    stage.create(&pod("high", "4", "priority: 100"));
    stage.schedule("high");
    stage.create(&pod("middle", "4", "priority: 50"));
    stage.schedule("middle");
    assert_eq!(stage.place("middle"), Some(QueuePlace::Unschedulable));

    stage.release("delete");
    stage.schedule("high");
    stage.schedule("middle");
    assert_eq!(stage.node_of("high").as_deref(), Some("node"));
    assert_eq!(stage.place("middle"), Some(QueuePlace::Unschedulable));
}

#[test]
fn a_higher_one_takes_the_place_whichever_preemption_is_done_first() {
    for (first, second) in [("highest", "high"), ("high", "highest")] {
        let mut stage = full_node(4);
        stage.hold_of("high", "delete");
        stage.hold_of("highest", "delete");
        stage.create(&pod("high", "4", "priority: 100"));
        stage.schedule("high");
        stage.create(&pod("highest", "4", "priority: 200"));
        stage.schedule("highest");
        for preemptor in ["high", "highest"] {
            assert!(stage.is_held_by_its_preemption(preemptor), "{preemptor}");
        }
        assert_eq!(stage.nominated("highest").as_deref(), Some("node"));
        assert_eq!(stage.nominated("high"), None, "a higher one targets the node");

        stage.release_of(first, "delete");
        if first == "highest" {
            stage.schedule("highest");
        }
        stage.release_of(second, "delete");
        if first == "high" {
            stage.schedule("highest");
        }
        stage.schedule("high");
        assert_eq!(stage.node_of("highest").as_deref(), Some("node"));
        assert_eq!(stage.place("high"), Some(QueuePlace::Unschedulable), "{first} first");
        assert_eq!(stage.schedule_next(), None);
    }
}

#[test]
fn a_lower_one_shares_a_node_that_is_big_enough() {
    let mut stage = full_node(4);
    stage.hold_of("high", "delete");
    stage.hold_of("middle", "delete");
    stage.create(&pod("high", "2", "priority: 100"));
    stage.schedule("high");
    stage.create(&pod("middle", "2", "priority: 50"));
    stage.schedule("middle");
    assert!(stage.is_held_by_its_preemption("middle"));
    assert_eq!(stage.nominated("high").as_deref(), Some("node"), "a lower one leaves it its nomination");

    stage.release_of("middle", "delete");
    stage.release_of("high", "delete");
    stage.schedule("high");
    stage.schedule("middle");
    for pod in ["high", "middle"] {
        assert_eq!(stage.node_of(pod).as_deref(), Some("node"));
    }
    assert!((0..4).all(|victim| stage.is_gone(&format!("victim-{victim}"))));
}

/// A victim of 2 cpu that stops somewhere on its way to a node of 4, and a preemptor that needs all of it.
fn victim_on_its_way(metadata: &str, hold: Option<&str>) -> Stage {
    let mut stage = Stage::new(&node("node", "4"));
    if let Some(requests) = hold {
        stage.hold(requests);
    }
    stage.create(&pod_with("victim", metadata, "2", "priority: 1", "{}"));
    stage.schedule("victim");
    stage.create(&(node("small", "2") + &pod("preemptor", "4", "priority: 100")));
    stage.schedule("preemptor");
    stage
}

/// The preemptor is on the node, the victim was not deleted, but tried again.
fn both_are_bound(stage: &mut Stage) {
    stage.run();
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
    assert_eq!(stage.node_of("victim").as_deref(), Some("small"));
    assert!(!stage.log().iter().any(|line| line.starts_with("delete") || line.contains("DisruptionTarget")));
}

#[test]
fn a_victim_that_waits_in_permit_is_tried_again_elsewhere() {
    let mut stage = victim_on_its_way("labels: {stops: permit-waits}", None);
    assert_eq!(stage.condition("victim", "PodScheduled").0, "SchedulerError", "nobody found it unschedulable");
    both_are_bound(&mut stage);
}

#[test]
fn a_victim_whose_nomination_is_being_written_is_tried_again_elsewhere() {
    let mut stage = victim_on_its_way("labels: {stops: permit-waits}", Some("patch victim nominated=node"));
    stage.release("patch victim nominated=node");
    both_are_bound(&mut stage);
}

#[test]
fn a_victim_in_pre_bind_is_cancelled_and_tried_again_elsewhere() {
    let mut stage = victim_on_its_way("labels: {stops: pre-bind-waits}", Some("get Disk victim"));
    assert_eq!(stage.pending(), [""; 0], "nobody waits for the disk any more");
    assert_eq!(stage.condition("victim", "PodScheduled").0, "SchedulerError");
    both_are_bound(&mut stage);
}

#[test]
fn a_victim_that_is_on_its_way_to_pre_bind_is_deleted() {
    let mut stage = victim_on_its_way("labels: {stops: pre-bind-waits}", Some("patch victim nominated=node"));
    assert!(stage.is_gone("victim"), "it is neither in Permit nor in PreBind");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
    stage.release("patch victim nominated=node");
    assert_eq!((stage.pending().len(), stage.schedule_next()), (0, None));
}

#[test]
fn a_victim_in_bind_is_deleted_and_its_room_is_free_at_once() {
    for metadata in ["labels: {}", "finalizers: [example.com/wait]"] {
        let mut stage = victim_on_its_way(metadata, Some("bind victim"));
        stage.schedule("preemptor");
        assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"), "{metadata}");
        stage.release("bind victim");
        assert!(stage.is_gone("victim") || stage.node_of("victim").is_none());
        assert_eq!(stage.schedule_next(), None, "it does not come back");
    }
}

#[test]
fn what_a_victim_in_bind_reserved_is_free_when_its_binding_has_failed() {
    for finalizers in ["[]", "[example.com/wait]"] {
        let metadata = format!("labels: {{takes: token}}, finalizers: {finalizers}");
        let mut stage = victim_on_its_way(&metadata, Some("bind victim"));
        stage.schedule("preemptor");
        assert_eq!(stage.node_of("preemptor"), None, "the victim has the token");
        stage.release("bind victim");
        stage.schedule("preemptor");
        assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"), "{finalizers}");
    }
}

#[test]
fn a_higher_one_takes_the_room_before_the_last_victim_is_gone() {
    let mut stage = full_node(4);
    stage.hold_of("middle", "delete victim-3");
    stage.create(&pod("middle", "4", "priority: 50"));
    stage.schedule("middle");
    assert_eq!(stage.pending(), ["delete victim-3"]);
    assert!(stage.is_held_by_its_preemption("middle"), "one victim is left");

    stage.create(&(node("node2", "4") + &pods("other", 4, "1", &RUNNING.replace("nodeName: node", "nodeName: node2"))));
    stage.create(&pod("high", "2", "priority: 100"));
    stage.schedule("high");
    assert_eq!(stage.node_of("high").as_deref(), Some("node"));

    stage.release_of("middle", "delete victim-3");
    stage.schedule("middle");
    assert!((0..4).all(|other| stage.is_gone(&format!("other-{other}"))), "it makes room on the other node");
    stage.schedule("middle");
    assert_eq!(stage.node_of("middle").as_deref(), Some("node2"));
}

fn refused() -> ApiError {
    ApiError::new(ApiReason::Other, "an admission webhook said no")
}

#[test]
fn a_victim_that_cannot_be_deleted_spares_the_last_one() {
    let mut stage = full_node(4);
    stage.fail("delete victim-1", refused());
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    assert!(!stage.is_gone("victim-1") && !stage.is_gone("victim-3"));
    assert!(!stage.is_held_by_its_preemption("preemptor"));

    stage.schedule("preemptor");
    assert!(stage.is_gone("victim-1") && stage.is_gone("victim-3"), "it goes on where it failed");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_single_victim_that_cannot_be_deleted_stays() {
    let mut stage = full_node(1);
    stage.fail("delete victim-0", refused());
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    assert!(!stage.is_gone("victim-0"));
    stage.schedule("preemptor");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn victims_that_somebody_else_deleted_are_as_good_as_removed() {
    let mut stage = full_node(2);
    stage.hold("delete");
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    stage.remove("victim-0");
    stage.remove("victim-1");
    stage.release("delete");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn a_preemptor_that_is_deleted_meanwhile_leaves_nothing_behind() {
    let mut stage = full_node(2);
    stage.hold("delete");
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    stage.remove("preemptor");
    stage.release("delete");
    assert!(stage.is_gone("victim-0") && stage.is_gone("victim-1"));
    assert_eq!(stage.schedule_next(), None);

    stage.create(&pod("next", "4", "priority: 100"));
    stage.schedule("next");
    assert_eq!(stage.node_of("next").as_deref(), Some("node"));
}

#[test]
fn a_preemptor_that_changes_meanwhile_is_held_all_the_same() {
    let mut stage = full_node(2);
    stage.hold("delete");
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    stage.edit("preemptor", |pod| {
        pod.metadata.labels.get_or_insert_default().insert("changed".to_owned(), "true".to_owned());
    });
    assert!(stage.is_held_by_its_preemption("preemptor"));
    stage.release("delete");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn victims_that_take_their_time_are_waited_for() {
    let victim = pod("victim", "4", "nodeName: node, priority: 1");
    let mut stage = Stage::new(&(node("node", "4") + &victim + &pod("preemptor", "4", "priority: 100")));
    stage.schedule("preemptor");
    assert!(!stage.is_gone("victim"), "it has 30 seconds");
    assert_eq!(stage.log().iter().filter(|line| *line == "delete victim").count(), 1);

    // Until it is gone, there is nothing to try.
    assert_eq!(stage.schedule_next(), None);
    assert_eq!(stage.place("preemptor"), Some(QueuePlace::Unschedulable));
    assert_eq!(stage.nominated("preemptor").as_deref(), Some("node"));
    assert_eq!(stage.log(), [""; 0], "and nothing to say");

    // Whoever tries it all the same removes nobody else.
    stage.create(&node("another", "1"));
    stage.run();
    assert_eq!(stage.place("preemptor"), Some(QueuePlace::Unschedulable));
    assert!(!stage.log().iter().any(|line| line.starts_with("delete")));

    stage.remove("victim");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
}

#[test]
fn lower_ones_that_wait_do_not_starve_the_preemptor() {
    let waiting = pods("waiting", 5, "1", "priority: 50");
    let running = pods("running", 4, "1", "nodeName: node, priority: 50, terminationGracePeriodSeconds: 0");
    let mut stage = Stage::new(&(node("node", "4") + &running + &waiting));
    stage.run();
    assert!((0..5).all(|pod| stage.place(&format!("waiting-{pod}")) == Some(QueuePlace::Unschedulable)));

    stage.hold("delete");
    stage.create(&pod("preemptor", "3", "priority: 100"));
    stage.schedule("preemptor");
    stage.release("delete");
    stage.schedule("preemptor");
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
    stage.run();
    assert!((0..5).all(|pod| stage.node_of(&format!("waiting-{pod}")).is_none()));
}

#[test]
fn pods_that_come_while_the_nomination_is_being_written_do_not_get_the_place() {
    let mut stage = full_node(4);
    stage.hold("delete victim-3");
    stage.hold("patch preemptor");
    stage.create(&pod("preemptor", "4", "priority: 100"));
    stage.schedule("preemptor");
    assert!(stage.is_gone("victim-0"));
    stage.create(&pods("late", 20, "1", "priority: 50"));
    stage.run();
    stage.release("delete victim-3");
    stage.schedule("preemptor");
    assert_eq!(stage.pending(), ["patch preemptor nominated=node PodScheduled=Unschedulable"]);
    stage.release("patch preemptor");
    stage.run();
    assert_eq!(stage.node_of("preemptor").as_deref(), Some("node"));
    assert!((0..20).all(|pod| stage.node_of(&format!("late-{pod}")).is_none()));
}

#[test]
fn nobody_leaves_for_a_pod_that_never_preempts() {
    let mut stage = full_node(1);
    stage.create(&pod("patient", "4", "priority: 100, preemptionPolicy: Never"));
    stage.run();
    assert_eq!((stage.place("patient"), stage.nominated("patient")), (Some(QueuePlace::Unschedulable), None));
    assert!(!stage.is_gone("victim-0"));
    stage.remove("victim-0");
    stage.schedule("patient");
    assert_eq!(stage.node_of("patient").as_deref(), Some("node"));
}

#[test]
fn pods_leave_for_one_that_does_not_bear_them() {
    let against = |app: &str| {
        let term = format!("{{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: {app}}}}}}}");
        format!("affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}")
    };
    for (priority, leaves) in [(1, true), (100, false)] {
        let first = labelled("first", "app: first", "1", &format!("{RUNNING}, priority: 50"));
        let second = pod("second", "1", &format!("{RUNNING}, priority: {priority}, {}", against("preemptor")));
        let preemptor = labelled("preemptor", "app: preemptor", "1", &format!("priority: 100, {}", against("first")));
        let mut stage = Stage::new(&(node("node", "4") + &first + &second + &preemptor));
        stage.run();
        assert_eq!((stage.is_gone("first"), stage.is_gone("second")), (leaves, leaves), "of priority {priority}");
        assert_eq!(stage.node_of("preemptor").is_some(), leaves);
    }
}
