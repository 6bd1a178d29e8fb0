//! QueueSort and PreEnqueue: order and admission of pods.

use expect_test::expect;

use crate::framework::plugins::stage::{Answer, notes, set_answer};
use crate::framework::test_cluster::{TestCluster, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/queue.toml");
}
use scheduler::Profiles;

#[test]
fn pods_leave_the_queue_in_queue_sort_order_and_equal_pods_in_order_of_arrival() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    for (name, priority) in [("first", 0), ("second", 0), ("high", 5), ("low", -5), ("third", 0), ("high-too", 5)] {
        test_cluster.important(name, "", priority);
    }
    assert_eq!(
        test_cluster.run(),
        ["high on n", "high-too on n", "first on n", "second on n", "third on n", "low on n"]
    );
}

#[test]
fn a_pod_that_arrives_later_is_sorted_among_waiting_pods() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    test_cluster.important("a", "", 1);
    test_cluster.important("b", "", 1);
    assert_eq!(test_cluster.step().unwrap(), "a on n");
    test_cluster.important("urgent", "", 2);
    assert_eq!(test_cluster.run(), ["urgent on n", "b on n"]);
}

#[test]
fn a_gated_pod_runs_no_other_plugin() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    let pod = test_cluster.pod("early", "gate: approval");
    notes();
    assert_eq!(test_cluster.enqueue(0, pod).unwrap(), "waiting for approval");
    notes();
    assert_eq!((test_cluster.cluster.scheduler.ready(), test_cluster.step(), notes()), (0, None, Vec::new()));
}

#[test]
fn a_held_pod_that_is_activated_has_to_pass_pre_enqueue_again() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    let pod = test_cluster.pod("early", "gate: approval");
    test_cluster.enqueue(0, pod).unwrap();
    set_answer("A post-bind", Answer::Call(|handle| handle.activate(uid("early"))));
    test_cluster.pending("one", "");
    assert_eq!(test_cluster.run(), ["one on n"], "the gate is still closed");
    set_answer("Gate open", Answer::Done);
    test_cluster.pending("two", "");
    assert_eq!(test_cluster.run(), ["two on n", "early on n"]);
}

#[test]
fn explain_reports_that_a_pod_is_gated() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    let explanation = test_cluster.explain("early", "gate: approval", false);
    expect!["waiting for approval"].assert_eq(&explanation.gated_by.unwrap().message());
    assert_eq!(explanation.nodes, []);
}

#[test]
fn without_nodes_a_pod_waits_and_no_post_filter_runs() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run(), ["web waits: no nodes available to schedule pods"]);
    assert_eq!(notes().iter().filter(|note| note.contains("post-filter")).count(), 0);
}

#[test]
fn a_failed_attempt_is_retried_after_backoff() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run_refused(), ["web failed: running Bind plugin \"Binder\": n has another owner"]);
    assert_eq!(test_cluster.run(), [""; 0], "the pod is in backoff");
    test_cluster.tick(1_999_999_999);
    assert_eq!(test_cluster.run(), [""; 0], "the backoff has not ended");
    test_cluster.tick(2_000_000_000);
    assert_eq!(test_cluster.run(), ["web on n"]);
}
