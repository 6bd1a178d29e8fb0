//! PostFilter and nominations: making room for a pod, and keeping it free.

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::{Answer, notes, tell};
use crate::framework::world::{World, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/preempting.toml", "tests/framework/profiles/helpless.toml");
}
use scheduler::Profiles;

/// A cluster with a node for one pod, which is taken.
fn full_cluster() -> World<Profiles> {
    let mut world = World::new();
    world.node_for(1, "n", "");
    world.running("old", "", "n");
    world
}

fn called_at_post_filter() -> Vec<String> {
    notes().into_iter().filter(|note| note.contains("post-filter")).collect()
}

/// What becomes of a pod of priority 0, which finds no victims, if A and B say this.
fn check(a: Answer, b: Answer, expected: Expect, called: &[&str]) {
    let mut world = full_cluster();
    tell("A post-filter", a);
    tell("B post-filter", b);
    world.pending("web", "");
    notes();
    expected.assert_eq(&world.step().unwrap());
    assert_eq!(called_at_post_filter(), called);
}

#[test]
fn what_plugins_say_is_part_of_the_message() {
    check(
        Answer::Reject("A knows nothing"),
        Answer::Reject("nor does B"),
        expect![
            "web waits: 0/1 nodes are available: 1 node(s) were full. A knows nothing, preemption found no victims, nor does B"
        ],
        &["A post-filter web", "B post-filter web"],
    );
}

#[test]
fn the_first_success_ends_the_run() {
    check(
        Answer::Done,
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full."],
        &["A post-filter web"],
    );
}

#[test]
fn a_rejection_for_good_and_an_error_end_the_run() {
    check(
        Answer::RejectForGood("A has seen enough"),
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full. A has seen enough"],
        &["A post-filter web"],
    );
    check(
        Answer::Fail("A broke down"),
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full. A broke down"],
        &["A post-filter web"],
    );
}

#[test]
fn a_plugin_can_nominate_a_node_and_name_victims_which_are_removed() {
    let mut world = full_cluster();
    let pod = world.important_pod("urgent", "", 5);
    world.enqueue(0, pod);
    let outcome = world.embedded.step().unwrap();
    let Err(schedc_core::scheduler::Failure::Unschedulable(found)) = outcome.result else { panic!("the node is full") };
    assert_eq!(found.post_filter.unwrap().victims, [uid("old")]);
    assert_eq!(world.nominations(), ["n for urgent"]);
    assert_eq!(world.pods_on("n"), [""; 0]);
    assert_eq!(world.run(), ["urgent on n"]);
    assert_eq!(world.nominations(), [""; 0]);
}

#[test]
fn room_that_was_made_is_kept_from_pods_that_are_not_more_important() {
    for (priority, outcome) in [
        (4, "other waits: 0/1 nodes are available: 1 node(s) were full. preemption found no victims"),
        (5, "other waits: 0/1 nodes are available: 1 node(s) were full. preemption found no victims"),
        (6, "other on n"),
    ] {
        let mut world = World::<Profiles>::new();
        world.node_for(1, "n", "");
        let urgent = world.important_pod("urgent", "", 5);
        let n = world.embedded.interner().intern("n");
        world.embedded.scheduler.cache.nominate(urgent, n);
        world.important("other", "", priority);
        assert_eq!(world.run(), [outcome], "priority {priority}");
    }
}

#[test]
fn a_pod_must_fit_with_and_without_the_pods_that_room_was_made_for() {
    let mut world = World::<Profiles>::new();
    world.node_for(2, "n", "");
    world.pod("unused", "");
    let nominated = world.important_pod("urgent", "team: blue", 5);
    let n = world.embedded.scheduler.cache.base.interner.intern("n");
    world.embedded.scheduler.cache.nominate(nominated, n);
    world.pending("rival", "team: blue");
    world.pending("stranger", "team: red");
    let waits = "rival waits: 0/1 nodes are available: 1 node(s) had a pod of the team. preemption found no victims";
    assert_eq!(world.run(), [waits, "stranger on n", waits], "who says nothing of events is woken by all");
}

#[test]
fn the_pod_that_room_was_made_for_takes_its_node_first() {
    let mut world = World::<Profiles>::new();
    for name in ["n1", "n2", "n3"] {
        world.node_for(1, name, "");
    }
    for nominated in ["n3", "n1", "n2"] {
        let pod = world
            .pod_from(&format!("metadata: {{ name: web, uid: web }}\nstatus: {{ nominatedNodeName: {nominated} }}"));
        let explanation = world.embedded.scheduler.explain(0, &pod, false);
        assert!(explanation.by_nomination);
        world.enqueue(0, pod);
        assert_eq!(world.run(), [format!("web on {nominated}")]);
        assert_eq!(world.nominations(), [""; 0], "it is of no use any more");
        world.delete("web");
    }
}

#[test]
fn a_nominated_node_that_does_not_do_leaves_the_choice_to_the_others() {
    let mut world = World::<Profiles>::new();
    world.node("n1", "health: sick");
    world.node("n2", "");
    let pod = world.pod_from("metadata: { name: web, uid: web }\nstatus: { nominatedNodeName: n1 }");
    assert!(!world.embedded.scheduler.explain(0, &pod, false).by_nomination);
    world.enqueue(0, pod);
    assert_eq!(world.run(), ["web on n2"]);
}

#[test]
fn a_pod_that_is_tried_again_knows_the_node_that_it_was_nominated_for() {
    for seed in 0..10 {
        let mut world = World::<Profiles>::seeded(seed);
        world.node_for(1, "n1", "");
        world.running("old", "", "n1");
        world.important("urgent", "", 5);
        assert_eq!(world.step().unwrap(), "urgent waits: 0/1 nodes are available: 1 node(s) were full.");
        for name in ["n2", "n3", "n4", "n5"] {
            world.node(name, "");
        }
        assert_eq!(world.run(), ["urgent on n1"], "seed {seed}");
    }
}

#[test]
fn a_pod_that_waits_on_its_node_is_not_counted_twice() {
    let mut world = World::<Profiles>::new();
    world.node_for(2, "n", "");
    tell("A permit urgent", Answer::Wait(10));
    let pod = world.pod_from("metadata: { name: urgent, uid: urgent }\nstatus: { nominatedNodeName: 'n' }");
    world.enqueue(0, pod);
    world.pending("other", "");
    assert_eq!(world.step().unwrap(), "other on n");
}

#[test]
fn a_nomination_ends_when_nobody_can_say_what_it_is_good_for() {
    // PostFilter keeps it as long as it has no better idea; without PostFilter, or after a rejection on the node, it ends.
    for (profile, told, kept) in [
        (0, Answer::Nothing, true),
        (1, Answer::Nothing, false),
        (0, Answer::Reject("A objects"), false),
        (0, Answer::Fail("A is away"), false),
    ] {
        let mut world = World::<Profiles>::new();
        let room = usize::from(!matches!(told, Answer::Nothing));
        world.node_for(room, "n", "");
        tell("A permit", told);
        let pod = world.pod_from("metadata: { name: web, uid: web }\nstatus: { nominatedNodeName: 'n' }");
        world.enqueue(profile, pod);
        assert_eq!(world.nominations(), ["n for web"]);
        world.run();
        assert_eq!(!world.nominations().is_empty(), kept, "profile {profile}, {told:?}");
    }
}

#[test]
fn a_node_that_room_was_made_on_does_not_fail_for_weaker_pods_that_it_rejects() {
    let mut world = World::<Profiles>::new();
    world.node("n1", "health: unknown");
    world.node("n2", "");
    let nominated = world.important_pod("urgent", "team: blue", 5);
    let n1 = world.embedded.scheduler.cache.base.interner.intern("n1");
    world.embedded.scheduler.cache.nominate(nominated, n1);
    world.pending("rival", "team: blue");
    assert_eq!(world.run(), ["rival on n2"], "with the other pod, Apart rejects n1 before Health fails there");
}
