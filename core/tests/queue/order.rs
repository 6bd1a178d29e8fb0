//! Order of pops.

use schedc_core::queue::{Backoff, Options, PodUpdate, QueuePlace};

use crate::queue::queue_fixture::{QueueFixture, SECOND};

#[test]
fn pods_are_popped_in_queue_sort_order_then_by_arrival() {
    let mut fixture = QueueFixture::new();
    for (name, priority) in [("a", 0), ("b", 0), ("high", 5), ("low", -5), ("c", 0), ("high-too", 5)] {
        fixture.add_pod(fixture.pod(name, priority));
    }
    assert_eq!(fixture.drain(), ["high", "high-too", "a", "b", "c", "low"]);
}

#[test]
fn a_pod_whose_priority_changes_takes_its_new_place() {
    let mut fixture = QueueFixture::new();
    fixture.add_all(["a", "b", "c"]);
    let (old, new) = (fixture.pod("c", 0), fixture.pod("c", 9));
    fixture.queue.update(0, PodUpdate { old: &old, new, events: [] }, &mut fixture.plugins, fixture.now);
    assert_eq!(fixture.drain(), ["c", "a", "b"]);
}

#[test]
fn deleted_pods_leave_the_order_of_the_others_unchanged() {
    let mut fixture = QueueFixture::new();
    for at in 0..40 {
        fixture.add_pod(fixture.pod(&format!("{at:02}"), at * 7 % 5));
    }
    for at in (0..40).step_by(3) {
        assert!(fixture.delete(&format!("{at:02}")));
    }
    let drained = fixture.drain();
    let mut sorted: Vec<i32> = (0..40).filter(|at| at % 3 != 0).collect();
    sorted.sort_by_key(|at| (-(at * 7 % 5), *at));
    assert_eq!(drained, sorted.iter().map(|at| format!("{at:02}")).collect::<Vec<_>>());
}

#[test]
fn a_failed_pod_goes_behind_pods_of_equal_priority() {
    let mut fixture = QueueFixture::with(Options { backoff: Backoff::seconds(1, 0), ..Options::default() });
    fixture.add("failing");
    fixture.now += 1;
    fixture.add("other");
    let failing = fixture.pop();
    fixture.now += 1;
    assert_eq!(fixture.reject(failing, &[]), Some(QueuePlace::Active), "there is no backoff");
    assert_eq!(fixture.drain(), ["other", "failing"]);
}

#[test]
fn pods_that_always_fail_do_not_keep_others_waiting() {
    let mut fixture = QueueFixture::new();
    for name in ["bad-1", "bad-2", "bad-3"] {
        fixture.add_pod(fixture.pod(name, 10));
    }
    fixture.add("good");
    let mut pops = 0;
    loop {
        let attempt = fixture.pop();
        if &*attempt.pod().name == "good" {
            fixture.bind(attempt);
            break;
        }
        fixture.reject(attempt, &["Fit"]);
        fixture.event("Fit");
        pops += 1;
    }
    assert_eq!(pops, 3, "once for each of them");
}

#[test]
fn if_no_pod_is_active_backoff_ends_early_window_by_window() {
    let mut fixture = QueueFixture::new();
    // The pod `patient` fails twice, and has the longest backoff.
    for (name, priority, failures) in [("patient", 9, 2), ("low", 0, 1), ("high", 5, 1)] {
        fixture.add_pod(fixture.pod(name, priority));
        for _ in 0..failures {
            let attempt = fixture.pop();
            fixture.event("Fit");
            assert_eq!(fixture.reject(attempt, &["Fit"]), Some(QueuePlace::Backoff));
        }
        fixture.now += SECOND / 10;
        fixture.add("next");
        assert_eq!(fixture.pop().pod().name.as_ref(), "next", "active pods come first");
        fixture.delete("next");
    }
    assert_eq!(fixture.drain(), ["high", "low", "patient"]);
}

#[test]
fn a_gated_pod_is_never_popped() {
    let mut fixture = QueueFixture::new();
    fixture.gate("web", "Gate");
    fixture.add("web");
    assert!(fixture.try_pop().is_none());
    fixture.wait(1000.0);
    assert!(fixture.try_pop().is_none());
    assert_eq!(fixture.queue.ready(), 0);
}
