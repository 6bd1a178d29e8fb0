//! Events wake parked pods.

use schedc_core::queue::Place;

use crate::queue::desk::{Desk, Event, SECOND};

#[test]
fn only_plugins_that_rejected_a_pod_are_asked() {
    let mut desk = Desk::new();
    desk.parked("a", "Fit");
    desk.parked("b", "Affinity");
    desk.event("Affinity");
    assert_eq!(["a", "b"].map(|pod| desk.place(pod)), [Some(Place::Unschedulable), Some(Place::Backoff)]);
    assert_eq!(desk.plugins.hints, 1);
}

#[test]
fn one_rejector_that_says_queue_is_enough() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    desk.reject(attempt, &["Fit", "Affinity"]);
    desk.event_for("Fit", &[]);
    assert_eq!(desk.place("web"), Some(Place::Unschedulable));
    desk.event("Affinity");
    assert_eq!(desk.place("web"), Some(Place::Backoff));
}

#[test]
fn what_a_plugin_that_was_pending_waited_for_wakes_without_backoff() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    assert_eq!(desk.pend(attempt, "Volumes"), Some(Place::Unschedulable));
    desk.event("Volumes");
    assert_eq!(desk.place("web"), Some(Place::Active));
    let attempt = desk.pop();
    desk.event("Volumes");
    assert_eq!(desk.pend(attempt, "Volumes"), Some(Place::Active), "also if it happened during the attempt");
}

#[test]
fn pods_can_be_left_out() {
    let mut desk = Desk::new();
    for pod in ["forgotten", "other"] {
        desk.parked(pod, "Fit");
    }
    let event = Event { of: "Fit", for_pods: None };
    desk.queue.on_event(event, |pod| &*pod.pod.name != "forgotten", &mut desk.plugins, desk.now);
    assert_eq!(["forgotten", "other"].map(|pod| desk.place(pod)), [Some(Place::Unschedulable), Some(Place::Backoff)]);
}

#[test]
fn a_woken_pod_that_pre_enqueue_holds_now_is_gated() {
    let mut desk = Desk::new();
    desk.parked("web", "Fit");
    desk.gate("web", "Gate");
    desk.event("Fit");
    assert_eq!(desk.place("web"), Some(Place::Gated));
    desk.open("web");
    desk.event("Fit");
    assert_eq!(desk.place("web"), Some(Place::Gated), "what concerns its rejector does not concern its gate");
    desk.now += 10 * SECOND;
    desk.event("Gate");
    assert_eq!(desk.place("web"), Some(Place::Active));
}

#[test]
fn gated_pods_cost_nothing_while_nothing_concerns_their_gate() {
    let mut desk = Desk::new();
    for at in 0..1000 {
        desk.gate(&format!("{at}"), "Gate");
        desk.add(&format!("{at}"));
    }
    let asked = desk.plugins.pre_enqueues;
    desk.plugins.interests.set(0);
    for _ in 0..10 {
        desk.event("Fit");
    }
    assert_eq!((desk.plugins.pre_enqueues, desk.plugins.hints), (asked, 0));
    assert_eq!(desk.plugins.interests.get(), 10, "one question for all of them an event");
}

#[test]
fn every_parked_pod_is_reached_in_the_end() {
    let mut desk = Desk::new();
    desk.gate("gated", "Gate");
    desk.add("gated");
    desk.parked("rejected", "Fit");
    desk.open("gated");
    desk.wait(299.0);
    assert_eq!(["gated", "rejected"].map(|pod| desk.place(pod)), [Some(Place::Gated), Some(Place::Unschedulable)]);
    desk.wait(32.0);
    assert_eq!(["gated", "rejected"].map(|pod| desk.place(pod)), [Some(Place::Active); 2]);
}
