//! Events that move unschedulable pods.

use schedc_core::queue::QueuePlace;

use crate::queue::queue_fixture::{Event, QueueFixture, SECOND};

#[test]
fn only_hints_of_rejecting_plugins_run() {
    let mut fixture = QueueFixture::new();
    fixture.add_parked("a", "Fit");
    fixture.add_parked("b", "Affinity");
    fixture.event("Affinity");
    assert_eq!(["a", "b"].map(|pod| fixture.place(pod)), [Some(QueuePlace::Unschedulable), Some(QueuePlace::Backoff)]);
    assert_eq!(fixture.plugins.hints, 1);
}

#[test]
fn one_queue_hint_is_enough() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    fixture.reject(attempt, &["Fit", "Affinity"]);
    fixture.event_for("Fit", &[]);
    assert_eq!(fixture.place("web"), Some(QueuePlace::Unschedulable));
    fixture.event("Affinity");
    assert_eq!(fixture.place("web"), Some(QueuePlace::Backoff));
}

#[test]
fn an_event_of_a_pending_plugin_requeues_without_backoff() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    assert_eq!(fixture.pend(attempt, "Volumes"), Some(QueuePlace::Unschedulable));
    fixture.event("Volumes");
    assert_eq!(fixture.place("web"), Some(QueuePlace::Active));
    let attempt = fixture.pop();
    fixture.event("Volumes");
    assert_eq!(fixture.pend(attempt, "Volumes"), Some(QueuePlace::Active), "also if it happened during the attempt");
}

#[test]
fn an_event_moves_only_the_pods_that_it_concerns() {
    let mut fixture = QueueFixture::new();
    for pod in ["forgotten", "other"] {
        fixture.add_parked(pod, "Fit");
    }
    let event = Event { plugin: "Fit", for_pods: None };
    fixture.queue.on_event(event, |pod| &*pod.pod.name != "forgotten", &mut fixture.plugins, fixture.now);
    assert_eq!(
        ["forgotten", "other"].map(|pod| fixture.place(pod)),
        [Some(QueuePlace::Unschedulable), Some(QueuePlace::Backoff)]
    );
}

#[test]
fn a_requeued_pod_is_gated_if_pre_enqueue_holds_it() {
    let mut fixture = QueueFixture::new();
    fixture.add_parked("web", "Fit");
    fixture.gate("web", "Gate");
    fixture.event("Fit");
    assert_eq!(fixture.place("web"), Some(QueuePlace::Gated));
    fixture.open("web");
    fixture.event("Fit");
    assert_eq!(fixture.place("web"), Some(QueuePlace::Gated), "the gating plugin is not registered for the event");
    fixture.now += 10 * SECOND;
    fixture.event("Gate");
    assert_eq!(fixture.place("web"), Some(QueuePlace::Active));
}

#[test]
fn gated_pods_run_no_hints_for_unrelated_events() {
    let mut fixture = QueueFixture::new();
    for at in 0..1000 {
        fixture.gate(&format!("{at}"), "Gate");
        fixture.add(&format!("{at}"));
    }
    let before = fixture.plugins.pre_enqueues;
    fixture.plugins.interests.set(0);
    for _ in 0..10 {
        fixture.event("Fit");
    }
    assert_eq!((fixture.plugins.pre_enqueues, fixture.plugins.hints), (before, 0));
    assert_eq!(fixture.plugins.interests.get(), 10, "one registration lookup per event for all gated pods");
}

#[test]
fn the_flush_reaches_every_parked_pod() {
    let mut fixture = QueueFixture::new();
    fixture.gate("gated", "Gate");
    fixture.add("gated");
    fixture.add_parked("rejected", "Fit");
    fixture.open("gated");
    fixture.wait(299.0);
    assert_eq!(
        ["gated", "rejected"].map(|pod| fixture.place(pod)),
        [Some(QueuePlace::Gated), Some(QueuePlace::Unschedulable)]
    );
    fixture.wait(32.0);
    assert_eq!(["gated", "rejected"].map(|pod| fixture.place(pod)), [Some(QueuePlace::Active); 2]);
}
