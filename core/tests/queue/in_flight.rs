//! Pods that are being tried: what happens meanwhile is not lost, and nothing of it is left afterwards.

use schedc_core::queue::{Options, Place};

use crate::queue::desk::{Desk, Event, uid};

#[test]
fn an_event_after_the_pop_is_not_lost() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    desk.event("Fit");
    assert_eq!(desk.reject(attempt, &["Fit"]), Some(Place::Backoff));
}

#[test]
fn an_event_before_the_pop_does_not_count() {
    let mut desk = Desk::new();
    desk.add_all(["first", "second"]);
    let first = desk.pop();
    desk.event("Fit");
    let second = desk.pop();
    assert_eq!(desk.reject(second, &["Fit"]), Some(Place::Unschedulable));
    assert_eq!(desk.reject(first, &["Fit"]), Some(Place::Backoff));
}

#[test]
fn events_are_kept_for_the_oldest_attempt_and_no_longer() {
    let mut desk = Desk::new();
    desk.add_all(["a", "b", "c"]);
    desk.event("Fit");
    assert_eq!(desk.queue.in_flight_events(), 0, "nobody is in flight");
    let a = desk.pop();
    desk.event("Fit");
    let b = desk.pop();
    desk.event("Fit");
    let c = desk.pop();
    desk.event("Fit");
    assert_eq!((desk.queue.in_flight(), desk.queue.in_flight_events()), (3, 3));
    desk.bind(b);
    assert_eq!(desk.queue.in_flight_events(), 3);
    desk.queue.permitted(&a);
    assert_eq!(desk.queue.in_flight_events(), 1, "while it is bound, no event matters to it");
    desk.let_go(c);
    assert_eq!((desk.queue.in_flight(), desk.queue.in_flight_events()), (1, 0));
    desk.bind(a);
    assert!(desk.queue.is_empty() && desk.queue.in_flight() == 0);
}

#[test]
fn a_binding_that_fails_is_tried_again_after_backoff() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    desk.queue.permitted(&attempt);
    assert_eq!(desk.reject(attempt, &[]), Some(Place::ErrorBackoff));
}

#[test]
fn when_events_are_too_many_to_keep_the_pod_is_tried_again() {
    let mut desk = Desk::with(Options { events_kept: 4, ..Options::default() });
    desk.add_all(["old", "young"]);
    let old = desk.pop();
    for _ in 0..4 {
        desk.event("Other");
    }
    let young = desk.pop();
    desk.event("Other");
    assert_eq!(desk.queue.in_flight_events(), 3, "half of them went");
    assert_eq!(desk.reject(young, &["Fit"]), Some(Place::Unschedulable), "it can tell that nothing happened");
    assert_eq!(desk.reject(old, &["Fit"]), Some(Place::Backoff), "it cannot");
    assert_eq!(desk.queue.in_flight_events(), 0);
}

#[test]
fn an_attempt_that_is_let_go_of_comes_back_as_one_that_broke() {
    let mut desk = Desk::new();
    desk.add("web");
    drop(desk.pop());
    assert_eq!(desk.place("web"), Some(Place::InFlight), "until the queue looks");
    assert!(desk.try_pop().is_none());
    assert_eq!((desk.place("web"), desk.queue.in_flight()), (Some(Place::ErrorBackoff), 0));
}

#[test]
fn a_pod_that_is_deleted_during_its_attempt_does_not_come_back() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    assert!(desk.delete("web") && !desk.delete("web"));
    assert!(desk.queue.is_empty());
    assert_eq!(desk.queue.in_flight(), 1);
    assert_eq!(desk.reject(attempt, &["Fit"]), None);
    assert_eq!((desk.queue.in_flight(), desk.place("web")), (0, None));
}

#[test]
fn a_pod_is_never_in_flight_twice() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    desk.delete("web");
    desk.add("web");
    assert!(desk.try_pop().is_none(), "the first attempt has not ended");
    assert_eq!((desk.queue.len(), desk.queue.in_flight()), (1, 1));
    assert_eq!(desk.reject(attempt, &["Fit"]), Some(Place::Backoff), "then it is its turn");
    assert_eq!(desk.pop().attempts(), 1);
}

#[test]
fn a_pod_that_changes_during_its_attempt_comes_back_as_it_is_now() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    let (old, new) = (desk.pod("web", 0), desk.pod("web", 7));
    let event = Event { of: "Other", for_pods: None };
    desk.queue.update(0, &old, new, [event], &mut desk.plugins, desk.now);
    assert_eq!(attempt.pod().spec.priority, 0);
    desk.reject(attempt, &["Fit"]);
    assert_eq!(desk.queue.pod(&uid("web")).unwrap().spec.priority, 7);
}

#[test]
fn a_change_of_one_pod_in_flight_is_not_kept_for_others() {
    let mut desk = Desk::new();
    desk.add_all(["a", "b"]);
    let (a, b) = (desk.pop(), desk.pop());
    desk.update("a", "Fit");
    assert_eq!(desk.reject(b, &["Fit"]), Some(Place::Unschedulable));
    assert_eq!(desk.reject(a, &["Fit"]), Some(Place::Backoff));
}
