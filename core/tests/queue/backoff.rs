//! Backoff of pods after failures.

use schedc_core::queue::QueuePlace;

use crate::queue::queue_fixture::QueueFixture;

/// Lets a pod fail repeatedly, and returns the seconds until each retry.
fn waits(rejectors: &[&'static str], times: usize) -> Vec<u32> {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    (0..times)
        .map(|_| {
            let attempt = fixture.pop();
            fixture.event("Fit");
            fixture.reject(attempt, rejectors);
            let mut seconds = 0;
            while fixture.place("web") != Some(QueuePlace::Active) {
                fixture.wait(1.0);
                seconds += 1;
            }
            seconds
        })
        .collect()
}

#[test]
fn backoff_doubles_from_one_to_ten_seconds_and_ends_with_its_window() {
    assert_eq!(waits(&["Fit"], 6), [2, 3, 5, 9, 11, 11]);
    assert_eq!(waits(&[], 6), [2, 3, 5, 9, 11, 11]);
}

#[test]
fn only_consecutive_errors_prolong_the_backoff() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    for rejectors in [&[][..], &[], &[], &["Fit"]] {
        let attempt = fixture.pop();
        fixture.event("Fit");
        fixture.reject(attempt, rejectors);
        fixture.activate("web");
    }
    let attempt = fixture.pop();
    fixture.reject(attempt, &[]);
    fixture.wait(2.0);
    assert_eq!(fixture.place("web"), Some(QueuePlace::Active), "a rejection resets the number of errors");
}

#[test]
fn pods_in_error_backoff_are_never_popped_early() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    assert_eq!(fixture.reject(attempt, &[]), Some(QueuePlace::ErrorBackoff));
    assert!(fixture.try_pop().is_none());
    fixture.wait(1.0);
    assert!(fixture.try_pop().is_none());
    fixture.wait(1.0);
    assert!(fixture.try_pop().is_some());
}

#[test]
fn pre_enqueue_runs_before_backoff_and_not_after() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    let before = fixture.plugins.pre_enqueues;
    fixture.reject(attempt, &[]);
    assert_eq!(fixture.plugins.pre_enqueues, before + 1);
    fixture.gate("web", "Gate");
    fixture.wait(2.0);
    assert_eq!((fixture.place("web"), fixture.plugins.pre_enqueues), (Some(QueuePlace::Active), before + 1));
}

#[test]
fn a_pod_gated_after_a_failure_still_waits_for_its_backoff() {
    let mut fixture = QueueFixture::new();
    fixture.add("web");
    let attempt = fixture.pop();
    fixture.gate("web", "Gate");
    assert_eq!(fixture.reject(attempt, &[]), Some(QueuePlace::Gated));
    fixture.open("web");
    fixture.event("Gate");
    assert_eq!(fixture.place("web"), Some(QueuePlace::ErrorBackoff), "its backoff is not over");
}

#[test]
fn next_tick_is_the_time_of_the_next_change() {
    let mut fixture = QueueFixture::new();
    assert_eq!(fixture.queue.next_tick(), None);
    fixture.add("web");
    assert_eq!(fixture.queue.next_tick(), None);
    let attempt = fixture.pop();
    fixture.reject(attempt, &[]);
    let next = fixture.queue.next_tick().unwrap();
    fixture.wait((next - fixture.now) as f64 / 1e9 - 0.001);
    assert_eq!(fixture.place("web"), Some(QueuePlace::ErrorBackoff));
    fixture.wait(0.001);
    assert_eq!((fixture.now, fixture.place("web")), (next, Some(QueuePlace::Active)));
}

#[test]
fn pods_bound_after_a_flush_are_counted() {
    let mut fixture = QueueFixture::new();
    fixture.add_parked("web", "Fit");
    while let Some(next) = fixture.queue.next_tick() {
        fixture.now = next;
        fixture.queue.tick(&mut fixture.plugins, next);
    }
    assert!(fixture.now > 400_000_000_000, "after five minutes");
    let attempt = fixture.pop();
    assert!(attempt.is_after_flush());
    fixture.bind(attempt);
    assert_eq!(fixture.queue.bound_after_flush(), 1);
}

#[test]
fn pods_gated_after_a_flush_are_not_counted() {
    let mut fixture = QueueFixture::new();
    fixture.gate("web", "Gate");
    fixture.add("web");
    for _ in 0..12 {
        fixture.wait(60.0);
        fixture.queue.tick(&mut fixture.plugins, fixture.now);
    }
    assert_eq!(fixture.place("web"), Some(QueuePlace::Gated));
    fixture.open("web");
    fixture.event("Gate");
    let attempt = fixture.pop();
    assert!(!attempt.is_after_flush(), "its gate was opened");
}
