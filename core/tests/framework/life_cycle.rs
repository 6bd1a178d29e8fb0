//! Start and stop of plugins, and their requests to the scheduler.

use crate::framework::plugins::stage::{Answer, notes, set_answer};
use crate::framework::test_cluster::{TestCluster, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/binding.toml", "tests/framework/profiles/skipping.toml");
}
use scheduler::Profiles;

#[test]
fn a_profile_has_one_instance_of_a_plugin_with_several_points() {
    let test_cluster = TestCluster::<Profiles>::with_answers(&[]).unwrap();
    assert_eq!(notes(), ["A new", "B new", "C new", "A new", "B new"]);
    drop(test_cluster);
}

#[test]
fn all_plugins_that_cannot_start_are_reported_together() {
    let errors =
        TestCluster::<Profiles>::with_answers(&[("A new", Answer::Fail("no key")), ("C new", Answer::Fail("no lock"))])
            .err();
    let errors: Vec<String> = errors.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["plugin A cannot start: no key", "plugin C cannot start: no lock", "plugin A cannot start: no key",],
        "the last error is of the other profile"
    );
}

#[test]
fn every_plugin_is_closed_once_when_the_scheduler_stops() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    test_cluster.pending("web", "");
    test_cluster.run();
    notes();
    drop(test_cluster);
    assert_eq!(notes(), ["A close", "B close", "C close", "A close", "B close"]);
}

#[test]
fn pods_keep_their_order_while_their_node_is_deleted() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    for node in ["here", "gone"] {
        test_cluster.node("here", "");
        ["a", "b", "c", "d"].iter().for_each(|pod| drop(test_cluster.running(&format!("{pod}-{node}"), "", node)));
        test_cluster.delete(&format!("a-{node}"));
    }
    test_cluster.node("gone", "");
    assert_eq!(test_cluster.pods_on("here"), ["d-here", "b-here", "c-here"]);
    assert_eq!(test_cluster.pods_on("gone"), ["d-gone", "b-gone", "c-gone"]);
}

#[test]
fn events_are_recorded_for_the_caller() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    set_answer("B post-bind", Answer::Call(|handle| handle.event(uid("web"), "Seen", "B has seen it")));
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run(), ["web on n"]);
    let events = test_cluster.cluster.take_events();
    let recorded: Vec<_> =
        events.iter().map(|event| (&*event.regarding.name, event.reason, event.note.as_str())).collect();
    assert_eq!(
        recorded,
        [("web", "Scheduled", "Successfully assigned default/web to n"), ("web", "Seen", "B has seen it")]
    );
}

#[test]
fn an_unschedulable_pod_is_retried_when_a_plugin_activates_it() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node_for(1, "n1", "");
    test_cluster.running("old", "", "n1");
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run(), ["web waits: 0/1 nodes are available: 1 node(s) were full."]);
    assert_eq!(test_cluster.run(), [""; 0], "without an activation, the pod is not retried");
    test_cluster.node("n2", "");
    set_answer("C permit other", Answer::Call(|handle| handle.activate(uid("web"))));
    set_answer("C permit web", Answer::Call(|handle| handle.activate(uid("unknown"))));
    test_cluster.pending("other", "");
    assert_eq!(test_cluster.run(), ["other on n2", "web on n2"]);
    assert_eq!(test_cluster.run(), [""; 0]);
}

#[test]
fn a_pod_without_a_feasible_node_is_retried_after_five_minutes() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node_for(0, "n", "");
    test_cluster.pending("web", "");
    let full = "web waits: 0/1 nodes are available: 1 node(s) were full.";
    assert_eq!(test_cluster.run(), [full]);
    test_cluster.tick(300_000_000_000);
    assert_eq!(test_cluster.run(), [""; 0]);
    test_cluster.tick(331_000_000_000);
    assert_eq!(test_cluster.run(), [full]);
}

#[test]
fn a_profile_lists_its_points_and_plugins() {
    use schedc_core::profile::Bundle;
    let [binding, skipping] = Profiles::PROFILES else { panic!("two profiles") };
    assert_eq!((binding.name, binding.source), ("binding", "tests/framework/profiles/binding.toml"));
    assert_eq!(skipping.plugins("reserve"), [("A", None)]);
    assert_eq!(skipping.plugins("permit"), []);
    let points: Vec<&str> = skipping.points.iter().map(|point| point.point).collect();
    assert_eq!(points, ["queue-sort", "filter", "reserve", "bind"]);
}
