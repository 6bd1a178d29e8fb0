//! Pods in flight: events during their attempts are kept, and discarded afterwards.

use schedc_core::queue::{Options, PodUpdate, QueuePlace};

use crate::queue::queue_fixture::{Event, QueueFixture, uid};

#[test]
fn an_event_after_the_pop_is_not_lost() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    fixture.event("Fit");
    assert_eq!(fixture.reject(attempt, &["Fit"]), Some(QueuePlace::Backoff));
}

#[test]
fn an_event_before_the_pop_does_not_count() {
    let mut fixture = QueueFixture::new();
    fixture.add_all(["first", "second"]);
    let first = fixture.pop();
    fixture.event("Fit");
    let second = fixture.pop();
    assert_eq!(fixture.reject(second, &["Fit"]), Some(QueuePlace::Unschedulable));
    assert_eq!(fixture.reject(first, &["Fit"]), Some(QueuePlace::Backoff));
}

#[test]
fn events_are_kept_for_the_oldest_attempt_and_no_longer() {
    let mut fixture = QueueFixture::new();
    fixture.add_all(["a", "b", "c"]);
    fixture.event("Fit");
    assert_eq!(fixture.queue.in_flight_events(), 0, "no pod is in flight");
    let a = fixture.pop();
    fixture.event("Fit");
    let b = fixture.pop();
    fixture.event("Fit");
    let c = fixture.pop();
    fixture.event("Fit");
    assert_eq!((fixture.queue.in_flight(), fixture.queue.in_flight_events()), (3, 3));
    fixture.bind(b);
    assert_eq!(fixture.queue.in_flight_events(), 3);
    fixture.queue.permitted(&a);
    assert_eq!(fixture.queue.in_flight_events(), 1, "no event matters to a pod that is being bound");
    fixture.drop_attempt(c);
    assert_eq!((fixture.queue.in_flight(), fixture.queue.in_flight_events()), (1, 0));
    fixture.bind(a);
    assert!(fixture.queue.is_empty() && fixture.queue.in_flight() == 0);
}

#[test]
fn a_binding_that_fails_is_tried_again_after_backoff() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    fixture.queue.permitted(&attempt);
    assert_eq!(fixture.reject(attempt, &[]), Some(QueuePlace::ErrorBackoff));
}

#[test]
fn after_too_many_events_the_pod_is_retried() {
    let mut fixture = QueueFixture::with(Options { max_in_flight_events: 4, ..Options::default() });
    fixture.add_all(["old", "young"]);
    let old = fixture.pop();
    for _ in 0..4 {
        fixture.event("Other");
    }
    let young = fixture.pop();
    fixture.event("Other");
    assert_eq!(fixture.queue.in_flight_events(), 3, "half of them are discarded");
    assert_eq!(
        fixture.reject(young, &["Fit"]),
        Some(QueuePlace::Unschedulable),
        "none of the events since its pop is discarded"
    );
    assert_eq!(fixture.reject(old, &["Fit"]), Some(QueuePlace::Backoff), "its events were discarded");
    assert_eq!(fixture.queue.in_flight_events(), 0);
}

#[test]
fn a_dropped_attempt_is_requeued_as_failed() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    drop(fixture.pop());
    assert_eq!(fixture.place("web"), Some(QueuePlace::InFlight), "until the next call of the queue");
    assert!(fixture.try_pop().is_none());
    assert_eq!((fixture.place("web"), fixture.queue.in_flight()), (Some(QueuePlace::ErrorBackoff), 0));
}

#[test]
fn a_pod_that_is_deleted_during_its_attempt_is_not_requeued() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    assert!(fixture.delete("web") && !fixture.delete("web"));
    assert!(fixture.queue.is_empty());
    assert_eq!(fixture.queue.in_flight(), 1);
    assert_eq!(fixture.reject(attempt, &["Fit"]), None);
    assert_eq!((fixture.queue.in_flight(), fixture.place("web")), (0, None));
}

#[test]
fn a_pod_is_never_in_flight_twice() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    fixture.delete("web");
    fixture.add("web");
    assert!(fixture.try_pop().is_none(), "the first attempt has not ended");
    assert_eq!((fixture.queue.len(), fixture.queue.in_flight()), (1, 1));
    assert_eq!(fixture.reject(attempt, &["Fit"]), Some(QueuePlace::Backoff), "the new pod is retried");
    assert_eq!(fixture.pop().attempts(), 1);
}

#[test]
fn a_pod_that_is_updated_during_its_attempt_is_requeued_with_the_update() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    let (old, new) = (fixture.pod("web", 0), fixture.pod("web", 7));
    let event = Event { plugin: "Other", for_pods: None };
    fixture.queue.update(0, PodUpdate { old: &old, new, events: [event] }, &mut fixture.plugins, fixture.now);
    assert_eq!(attempt.pod().spec.priority, 0);
    fixture.reject(attempt, &["Fit"]);
    assert_eq!(fixture.queue.pod(&uid("web")).unwrap().spec.priority, 7);
}

#[test]
fn a_change_of_one_pod_in_flight_is_not_kept_for_others() {
    let mut fixture = QueueFixture::new();
    fixture.add_all(["a", "b"]);
    let (a, b) = (fixture.pop(), fixture.pop());
    fixture.update("a", "Fit");
    assert_eq!(fixture.reject(b, &["Fit"]), Some(QueuePlace::Unschedulable));
    assert_eq!(fixture.reject(a, &["Fit"]), Some(QueuePlace::Backoff));
}
