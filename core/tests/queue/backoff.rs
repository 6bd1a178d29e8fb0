//! How long pods wait after a failure.

use schedc_core::queue::Place;

use crate::queue::desk::Desk;

/// Lets a pod fail over and over, and says after how many seconds it could be tried again each time.
fn waits(rejectors: &[&'static str], times: usize) -> Vec<u32> {
    let mut desk = Desk::new();
    desk.add("web");
    (0..times)
        .map(|_| {
            let attempt = desk.pop();
            desk.event("Fit");
            desk.reject(attempt, rejectors);
            let mut seconds = 0;
            while desk.place("web") != Some(Place::Active) {
                desk.wait(1.0);
                seconds += 1;
            }
            seconds
        })
        .collect()
}

#[test]
fn it_doubles_from_one_second_to_ten_and_a_window_is_waited_for() {
    assert_eq!(waits(&["Fit"], 6), [2, 3, 5, 9, 11, 11]);
    assert_eq!(waits(&[], 6), [2, 3, 5, 9, 11, 11]);
}

#[test]
fn errors_count_only_in_a_row() {
    let mut desk = Desk::new();
    desk.add("web");
    for rejectors in [&[][..], &[], &[], &["Fit"]] {
        let attempt = desk.pop();
        desk.event("Fit");
        desk.reject(attempt, rejectors);
        desk.activate("web");
    }
    let attempt = desk.pop();
    desk.reject(attempt, &[]);
    desk.wait(2.0);
    assert_eq!(desk.place("web"), Some(Place::Active), "the first error after a rejection");
}

#[test]
fn pods_whose_attempt_broke_are_never_tried_early() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    assert_eq!(desk.reject(attempt, &[]), Some(Place::ErrorBackoff));
    assert!(desk.try_pop().is_none());
    desk.wait(1.0);
    assert!(desk.try_pop().is_none());
    desk.wait(1.0);
    assert!(desk.try_pop().is_some());
}

#[test]
fn pre_enqueue_is_asked_before_backoff_and_not_after() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    let asked = desk.plugins.pre_enqueues;
    desk.reject(attempt, &[]);
    assert_eq!(desk.plugins.pre_enqueues, asked + 1);
    desk.gate("web", "Gate");
    desk.wait(2.0);
    assert_eq!((desk.place("web"), desk.plugins.pre_enqueues), (Some(Place::Active), asked + 1));
}

#[test]
fn a_pod_may_come_back_gated() {
    let mut desk = Desk::new();
    desk.add("web");
    let attempt = desk.pop();
    desk.gate("web", "Gate");
    assert_eq!(desk.reject(attempt, &[]), Some(Place::Gated));
    desk.open("web");
    desk.event("Gate");
    assert_eq!(desk.place("web"), Some(Place::ErrorBackoff), "it still has to wait");
}

#[test]
fn the_queue_tells_when_time_matters_next() {
    let mut desk = Desk::new();
    assert_eq!(desk.queue.next_tick(), None);
    desk.add("web");
    assert_eq!(desk.queue.next_tick(), None);
    let attempt = desk.pop();
    desk.reject(attempt, &[]);
    let next = desk.queue.next_tick().unwrap();
    desk.wait((next - desk.now) as f64 / 1e9 - 0.001);
    assert_eq!(desk.place("web"), Some(Place::ErrorBackoff));
    desk.wait(0.001);
    assert_eq!((desk.now, desk.place("web")), (next, Some(Place::Active)));
}

#[test]
fn who_is_tried_only_because_it_waited_for_too_long_is_counted() {
    let mut desk = Desk::new();
    desk.parked("web", "Fit");
    while let Some(next) = desk.queue.next_tick() {
        desk.now = next;
        desk.queue.tick(&mut desk.plugins, next);
    }
    assert!(desk.now > 400_000_000_000, "after five minutes");
    let attempt = desk.pop();
    assert!(attempt.is_after_flush());
    desk.bind(attempt);
    assert_eq!(desk.queue.bound_after_flush(), 1);
}

#[test]
fn who_is_held_after_it_waited_for_too_long_is_not_counted_when_it_is_let_go() {
    let mut desk = Desk::new();
    desk.gate("web", "Gate");
    desk.add("web");
    for _ in 0..12 {
        desk.wait(60.0);
        desk.queue.tick(&mut desk.plugins, desk.now);
    }
    assert_eq!(desk.place("web"), Some(Place::Gated));
    desk.open("web");
    desk.event("Gate");
    let attempt = desk.pop();
    assert!(!attempt.is_after_flush(), "its gate was opened");
}
