//! Counts of the queue, for metrics.

use schedc_core::queue::{QueueCounts, QueueKind};

use crate::queue::queue_fixture::{QueueFixture, SECOND};

fn incoming_counts(fixture: &QueueFixture) -> Vec<String> {
    let line = |(cause, queue, count): (schedc_core::queue::Cause, QueueKind, u64)| {
        format!("{cause} {} {count}", queue.name())
    };
    let mut lines: Vec<_> = fixture.queue.incoming_counts().map(line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn incoming_pods_are_counted_by_queue_and_cause() {
    let mut fixture = QueueFixture::new();
    fixture.gate("gated", "Gates");
    fixture.add_all(["gated", "web"]);
    let attempt = fixture.pop();
    fixture.reject(attempt, &["Fit"]);
    // Pods that stay in their place are not counted again.
    fixture.event("Gates");
    fixture.event("Other");
    fixture.event("Fit");
    fixture.wait(3.0);
    assert_eq!(
        incoming_counts(&fixture),
        [
            "BackoffComplete active 1",
            "ScheduleAttemptFailure unschedulable 1",
            "UnschedulablePodAdd active 1",
            "UnschedulablePodAdd unschedulable 1",
            "UnschedulablePodUpdate backoff 1",
        ]
    );
    let attempt = fixture.pop();
    fixture.reject(attempt, &[]);
    fixture.activate("web");
    assert_eq!(fixture.drain(), ["web"]);
    fixture.add_parked("other", "Fit");
    fixture.wait(400.0);
    let lines_of =
        |cause: &str| incoming_counts(&fixture).into_iter().filter(|line| line.starts_with(cause)).collect::<Vec<_>>();
    assert_eq!(lines_of("ForceActivate"), ["ForceActivate active 1"]);
    assert_eq!(lines_of("UnschedulableTimeout"), ["UnschedulableTimeout active 1"]);
}

#[test]
fn pods_popped_from_backoff_are_counted() {
    let mut fixture = QueueFixture::new();
    fixture.add_parked("web", "Fit");
    fixture.event("Fit");
    let attempt = fixture.pop();
    fixture.bind(attempt);
    assert!(incoming_counts(&fixture).contains(&"PopFromBackoffQ active 1".to_owned()));
}

#[test]
fn pods_are_counted_by_place_and_rejecting_plugin() {
    let mut fixture = QueueFixture::new();
    fixture.gate("gated", "Gates");
    fixture.add("gated");
    fixture.add_parked("one", "Fit");
    fixture.add_parked("two", "Fit");
    fixture.add_parked("woken", "Other");
    fixture.event("Other");
    fixture.add_all(["ready", "tried"]);
    let attempt = fixture.pop();
    assert_eq!(fixture.queue.queue_counts(), QueueCounts { active: 1, backoff: 1, unschedulable: 2, gated: 1 });
    let mut rejected = fixture.queue.rejected_pod_counts();
    rejected.sort_unstable();
    assert_eq!(rejected, [(0, "Fit", 2), (0, "Gates", 1), (0, "Other", 1)]);
    fixture.bind(attempt);
    assert_eq!(fixture.drain().len(), 2);
    assert!(!fixture.queue.rejected_pod_counts().contains(&(0, "Other", 1)), "it was retried");
}

#[test]
fn waiting_time_starts_when_a_pod_is_first_ready() {
    let mut fixture = QueueFixture::new();
    let waited = |fixture: &mut QueueFixture| {
        let attempt = fixture.pop();
        let since = fixture.queue.first_ready(&attempt).unwrap();
        let waited = (fixture.now - since) / SECOND;
        fixture.reject(attempt, &["Fit"]);
        waited
    };
    fixture.add("web");
    fixture.wait(5.0);
    assert_eq!(waited(&mut fixture), 5);
    fixture.event("Fit");
    fixture.wait(5.0);
    assert_eq!(waited(&mut fixture), 10, "a failed attempt is included");
    fixture.delete("web");

    fixture.gate("gated", "Gates");
    fixture.add("gated");
    fixture.wait(100.0);
    fixture.open("gated");
    fixture.event("Gates");
    fixture.wait(2.0);
    assert_eq!(waited(&mut fixture), 2, "time at the gate is excluded");
}
