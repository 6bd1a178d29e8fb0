//! What the queue counts, for metrics.

use schedc_core::queue::{Census, Queue};

use crate::queue::desk::{Desk, SECOND};

fn incoming(desk: &Desk) -> Vec<String> {
    let line =
        |(cause, queue, count): (schedc_core::queue::Cause, Queue, u64)| format!("{cause} {} {count}", queue.name());
    let mut lines: Vec<_> = desk.queue.incoming().map(line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn pods_are_counted_where_they_come_to_by_why() {
    let mut desk = Desk::new();
    desk.gate("gated", "Gates");
    desk.add_all(["gated", "web"]);
    let attempt = desk.pop();
    desk.reject(attempt, &["Fit"]);
    // Neither is counted again for staying where it is.
    desk.event("Gates");
    desk.event("Other");
    desk.event("Fit");
    desk.wait(3.0);
    assert_eq!(
        incoming(&desk),
        [
            "BackoffComplete active 1",
            "ScheduleAttemptFailure unschedulable 1",
            "UnschedulablePodAdd active 1",
            "UnschedulablePodAdd unschedulable 1",
            "UnschedulablePodUpdate backoff 1",
        ]
    );
    let attempt = desk.pop();
    desk.reject(attempt, &[]);
    desk.activate("web");
    assert_eq!(desk.drain(), ["web"]);
    desk.parked("other", "Fit");
    desk.wait(400.0);
    let of = |cause: &str| incoming(&desk).into_iter().filter(|line| line.starts_with(cause)).collect::<Vec<_>>();
    assert_eq!(of("ForceActivate"), ["ForceActivate active 1"]);
    assert_eq!(of("UnschedulableTimeout"), ["UnschedulableTimeout active 1"]);
}

#[test]
fn a_pod_whose_backoff_ends_early_is_popped_from_there() {
    let mut desk = Desk::new();
    desk.parked("web", "Fit");
    desk.event("Fit");
    let attempt = desk.pop();
    desk.bind(attempt);
    assert!(incoming(&desk).contains(&"PopFromBackoffQ active 1".to_owned()));
}

#[test]
fn every_pod_is_counted_in_its_place_and_for_who_rejected_it() {
    let mut desk = Desk::new();
    desk.gate("gated", "Gates");
    desk.add("gated");
    desk.parked("one", "Fit");
    desk.parked("two", "Fit");
    desk.parked("woken", "Other");
    desk.event("Other");
    desk.add_all(["ready", "tried"]);
    let attempt = desk.pop();
    assert_eq!(desk.queue.census(), Census { active: 1, backoff: 1, unschedulable: 2, gated: 1 });
    let mut rejected = desk.queue.rejected();
    rejected.sort_unstable();
    assert_eq!(rejected, [(0, "Fit", 2), (0, "Gates", 1), (0, "Other", 1)]);
    desk.bind(attempt);
    assert_eq!(desk.drain().len(), 2);
    assert!(!desk.queue.rejected().contains(&(0, "Other", 1)), "it was tried again");
}

#[test]
fn a_pod_waits_since_it_could_be_tried_first() {
    let mut desk = Desk::new();
    let waited = |desk: &mut Desk| {
        let attempt = desk.pop();
        let since = desk.queue.first_ready(&attempt).unwrap();
        let waited = (desk.now - since) / SECOND;
        desk.reject(attempt, &["Fit"]);
        waited
    };
    desk.add("web");
    desk.wait(5.0);
    assert_eq!(waited(&mut desk), 5);
    desk.event("Fit");
    desk.wait(5.0);
    assert_eq!(waited(&mut desk), 10, "an attempt that failed is part of it");
    desk.delete("web");

    desk.gate("gated", "Gates");
    desk.add("gated");
    desk.wait(100.0);
    desk.open("gated");
    desk.event("Gates");
    desk.wait(2.0);
    assert_eq!(waited(&mut desk), 2, "what a gate takes is not part of it");
}
