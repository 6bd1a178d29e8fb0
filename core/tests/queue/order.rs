//! Who is popped, in which order.

use schedc_core::queue::{Backoff, Options, Place};

use crate::queue::desk::{Desk, SECOND};

#[test]
fn by_queue_sort_and_equals_as_they_came() {
    let mut desk = Desk::new();
    for (name, priority) in [("a", 0), ("b", 0), ("high", 5), ("low", -5), ("c", 0), ("high-too", 5)] {
        desk.add_pod(desk.pod(name, priority));
    }
    assert_eq!(desk.drain(), ["high", "high-too", "a", "b", "c", "low"]);
}

#[test]
fn a_pod_whose_priority_changes_takes_its_new_place() {
    let mut desk = Desk::new();
    desk.add_all(["a", "b", "c"]);
    let (old, new) = (desk.pod("c", 0), desk.pod("c", 9));
    desk.queue.update(0, &old, new, [], &mut desk.plugins, desk.now);
    assert_eq!(desk.drain(), ["c", "a", "b"]);
}

#[test]
fn pods_can_leave_from_the_middle() {
    let mut desk = Desk::new();
    for at in 0..40 {
        desk.add_pod(desk.pod(&format!("{at:02}"), at * 7 % 5));
    }
    for at in (0..40).step_by(3) {
        assert!(desk.delete(&format!("{at:02}")));
    }
    let left = desk.drain();
    let mut sorted: Vec<i32> = (0..40).filter(|at| at % 3 != 0).collect();
    sorted.sort_by_key(|at| (-(at * 7 % 5), *at));
    assert_eq!(left, sorted.iter().map(|at| format!("{at:02}")).collect::<Vec<_>>());
}

#[test]
fn a_pod_that_fails_goes_behind_its_equals() {
    let mut desk = Desk::with(Options { backoff: Backoff::seconds(1, 0), ..Options::default() });
    desk.add("failing");
    desk.now += 1;
    desk.add("other");
    let failing = desk.pop();
    desk.now += 1;
    assert_eq!(desk.reject(failing, &[]), Some(Place::Active), "there is no backoff");
    assert_eq!(desk.drain(), ["other", "failing"]);
}

#[test]
fn pods_that_always_fail_do_not_keep_others_waiting() {
    let mut desk = Desk::new();
    for name in ["bad-1", "bad-2", "bad-3"] {
        desk.add_pod(desk.pod(name, 10));
    }
    desk.add("good");
    let mut pops = 0;
    loop {
        let attempt = desk.pop();
        if &*attempt.pod().name == "good" {
            desk.bind(attempt);
            break;
        }
        desk.reject(attempt, &["Fit"]);
        desk.event("Fit");
        pops += 1;
    }
    assert_eq!(pops, 3, "once for each of them");
}

#[test]
fn when_nothing_is_active_backoff_is_cut_short_window_by_window() {
    let mut desk = Desk::new();
    // The first fails twice, so that it has to wait longer.
    for (name, priority, failures) in [("patient", 9, 2), ("low", 0, 1), ("high", 5, 1)] {
        desk.add_pod(desk.pod(name, priority));
        for _ in 0..failures {
            let attempt = desk.pop();
            desk.event("Fit");
            assert_eq!(desk.reject(attempt, &["Fit"]), Some(Place::Backoff));
        }
        desk.now += SECOND / 10;
        desk.add("next");
        assert_eq!(desk.pop().pod().name.as_ref(), "next", "active pods come first");
        desk.delete("next");
    }
    assert_eq!(desk.drain(), ["high", "low", "patient"]);
}

#[test]
fn a_gated_pod_is_never_popped() {
    let mut desk = Desk::new();
    desk.gate("web", "Gate");
    desk.add("web");
    assert!(desk.try_pop().is_none());
    desk.wait(1000.0);
    assert!(desk.try_pop().is_none());
    assert_eq!(desk.queue.ready(), 0);
}
