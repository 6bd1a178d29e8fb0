//! Plugins come and go, and talk to the scheduler.

use crate::framework::plugins::stage::{Answer, notes, tell};
use crate::framework::world::{World, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/binding.toml", "tests/framework/profiles/skipping.toml");
}
use scheduler::Profiles;

#[test]
fn there_is_one_instance_for_a_profile_though_it_serves_several_points() {
    let world = World::<Profiles>::told(&[]).unwrap();
    assert_eq!(notes(), ["A new", "B new", "C new", "A new", "B new"]);
    drop(world);
}

#[test]
fn all_plugins_that_cannot_start_are_told_at_once() {
    let errors =
        World::<Profiles>::told(&[("A new", Answer::Fail("no key")), ("C new", Answer::Fail("no lock"))]).err();
    let errors: Vec<String> = errors.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["plugin A cannot start: no key", "plugin C cannot start: no lock", "plugin A cannot start: no key",],
        "the last is that of the other profile"
    );
}

#[test]
fn every_plugin_is_closed_once_when_the_scheduler_stops() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    world.pending("web", "");
    world.run();
    notes();
    drop(world);
    assert_eq!(notes(), ["A close", "B close", "C close", "A close", "B close"]);
}

#[test]
fn pods_keep_their_order_while_their_node_is_gone() {
    let mut world = World::<Profiles>::new();
    for node in ["here", "gone"] {
        world.node("here", "");
        ["a", "b", "c", "d"].iter().for_each(|pod| drop(world.running(&format!("{pod}-{node}"), "", node)));
        world.delete(&format!("a-{node}"));
    }
    world.node("gone", "");
    assert_eq!(world.pods_on("here"), ["d-here", "b-here", "c-here"]);
    assert_eq!(world.pods_on("gone"), ["d-gone", "b-gone", "c-gone"]);
}

#[test]
fn events_are_recorded_for_the_caller() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    tell("B post-bind", Answer::Ask(|handle| handle.event(uid("web"), "Seen", "B has seen it")));
    world.pending("web", "");
    assert_eq!(world.run(), ["web on n"]);
    let events = world.embedded.take_events();
    let told: Vec<_> = events.iter().map(|event| (&*event.regarding.name, event.reason, event.note.as_str())).collect();
    assert_eq!(
        told,
        [("web", "Scheduled", "Successfully assigned default/web to n"), ("web", "Seen", "B has seen it")]
    );
}

#[test]
fn a_pod_that_was_tried_in_vain_is_tried_again_when_a_plugin_asks_for_it() {
    let mut world = World::<Profiles>::new();
    world.node_for(1, "n1", "");
    world.running("old", "", "n1");
    world.pending("web", "");
    assert_eq!(world.run(), ["web waits: 0/1 nodes are available: 1 node(s) were full."]);
    assert_eq!(world.run(), [""; 0], "by itself, nothing happens");
    world.node("n2", "");
    tell("C permit other", Answer::Ask(|handle| handle.activate(uid("web"))));
    tell("C permit web", Answer::Ask(|handle| handle.activate(uid("nobody"))));
    world.pending("other", "");
    assert_eq!(world.run(), ["other on n2", "web on n2"]);
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn a_pod_that_fits_nowhere_is_tried_again_after_five_minutes() {
    let mut world = World::<Profiles>::new();
    world.node_for(0, "n", "");
    world.pending("web", "");
    let full = "web waits: 0/1 nodes are available: 1 node(s) were full.";
    assert_eq!(world.run(), [full]);
    world.tick(300_000_000_000);
    assert_eq!(world.run(), [""; 0]);
    world.tick(331_000_000_000);
    assert_eq!(world.run(), [full]);
}

#[test]
fn a_profile_tells_what_it_consists_of() {
    use schedc_core::profile::Bundle;
    let [binding, skipping] = Profiles::PROFILES else { panic!("two profiles") };
    assert_eq!((binding.name, binding.source), ("binding", "tests/framework/profiles/binding.toml"));
    assert_eq!(skipping.plugins("reserve"), [("A", None)]);
    assert_eq!(skipping.plugins("permit"), []);
    let points: Vec<&str> = skipping.points.iter().map(|point| point.point).collect();
    assert_eq!(points, ["queue-sort", "filter", "reserve", "bind"]);
}
