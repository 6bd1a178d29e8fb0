//! QueueSort and PreEnqueue: who is tried, and when.

use expect_test::expect;

use crate::framework::plugins::stage::{Answer, notes, tell};
use crate::framework::world::{World, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/queue.toml");
}
use scheduler::Profiles;

#[test]
fn pods_leave_the_queue_in_the_order_of_queue_sort_and_equals_as_they_came() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    for (name, priority) in [("first", 0), ("second", 0), ("high", 5), ("low", -5), ("third", 0), ("high-too", 5)] {
        world.important(name, "", priority);
    }
    assert_eq!(world.run(), ["high on n", "high-too on n", "first on n", "second on n", "third on n", "low on n"]);
}

#[test]
fn a_pod_that_comes_while_others_wait_takes_its_place_among_them() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    world.important("a", "", 1);
    world.important("b", "", 1);
    assert_eq!(world.step().unwrap(), "a on n");
    world.important("urgent", "", 2);
    assert_eq!(world.run(), ["urgent on n", "b on n"]);
}

#[test]
fn pre_enqueue_holds_a_pod_and_nothing_else_runs() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    let pod = world.pod("early", "gate: approval");
    notes();
    assert_eq!(world.enqueue(0, pod).unwrap(), "waiting for approval");
    notes();
    assert_eq!((world.embedded.scheduler.ready(), world.step(), notes()), (0, None, Vec::new()));
}

#[test]
fn a_held_pod_that_is_activated_has_to_pass_pre_enqueue_again() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    let pod = world.pod("early", "gate: approval");
    world.enqueue(0, pod).unwrap();
    tell("A post-bind", Answer::Ask(|handle| handle.activate(uid("early"))));
    world.pending("one", "");
    assert_eq!(world.run(), ["one on n"], "the gate is still closed");
    tell("Gate open", Answer::Done);
    world.pending("two", "");
    assert_eq!(world.run(), ["two on n", "early on n"]);
}

#[test]
fn explain_says_that_a_pod_is_held() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    let explanation = world.explain("early", "gate: approval", false);
    expect!["waiting for approval"].assert_eq(&explanation.held.unwrap().message());
    assert_eq!(explanation.nodes, []);
}

#[test]
fn without_nodes_there_is_nothing_to_say_about_nodes() {
    let mut world = World::<Profiles>::new();
    world.pending("web", "");
    assert_eq!(world.run(), ["web waits: no nodes available to schedule pods"]);
    assert_eq!(notes().iter().filter(|note| note.contains("post-filter")).count(), 0);
}

#[test]
fn a_pod_whose_attempt_broke_is_tried_again_when_its_backoff_is_over() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    world.pending("web", "");
    assert_eq!(world.run_refused(), ["web failed: running Bind plugin \"Binder\": n has another owner"]);
    assert_eq!(world.run(), [""; 0], "not now");
    world.tick(1_999_999_999);
    assert_eq!(world.run(), [""; 0], "not yet");
    world.tick(2_000_000_000);
    assert_eq!(world.run(), ["web on n"]);
}
