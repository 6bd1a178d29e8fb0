//! PreFilter: one look at the pod and the cluster, before any node.

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::notes;
use crate::framework::world::World;

mod scheduler {
    schedc_macros::profile!(
        "tests/framework/profiles/filters.toml",
        "tests/framework/profiles/alone.toml",
        "tests/framework/profiles/partly.toml"
    );
}
use scheduler::Profiles;

/// What becomes of a pod with these labels on nodes n1, n2 and n3, of which n3 is full.
fn check(labels: &str, expected: Expect) -> Vec<String> {
    let mut world = World::<Profiles>::new();
    world.node("n1", "");
    world.node("n2", "");
    world.node_for(0, "n3", "");
    world.pending("web", labels);
    notes();
    expected.assert_eq(&world.step().unwrap());
    notes()
}

#[test]
fn a_plugin_that_skips_is_left_out_of_filter() {
    let asked = check("only-a: n1", expect!["web on n1"]);
    assert_eq!(asked.iter().filter(|note| *note == "PinnedA filter").count(), 1, "PinnedB has nothing to filter by");
    assert!(!asked.contains(&"PinnedB filter".to_owned()), "{asked:?}");

    let mut world = World::<Profiles>::new();
    world.node("n1", "");
    assert_eq!(world.explain("web", "team: blue", false).skipped, ["PinnedA", "PinnedB", "ReadsApart", "MayReadApart"]);
}

#[test]
fn only_nodes_that_all_plugins_name_are_filtered() {
    let asked = check("only-a: n1.n2, only-b: n2.n3", expect!["web on n2"]);
    assert_eq!(asked.iter().filter(|note| *note == "PinnedA filter").count(), 1, "{asked:?}");
}

#[test]
fn nodes_that_were_left_out_count_in_the_message() {
    check(
        "only-a: n3",
        expect![
            "web waits: 0/3 nodes are available: 1 node(s) were full, 2 node(s) didn't satisfy plugin(s) [PinnedA]."
        ],
    );
    check("only-a: elsewhere", expect!["web waits: 0/3 nodes are available: node(s) didn't satisfy plugin PinnedA."]);
    check(
        "only-a: n2.n3, only-b: n3",
        expect![
            "web waits: 0/3 nodes are available: 1 node(s) were full, 2 node(s) didn't satisfy plugin(s) [PinnedA PinnedB]."
        ],
    );
}

#[test]
fn plugins_that_leave_no_node_together_end_the_attempt() {
    let asked = check(
        "only-a: n1, only-b: n2",
        expect![
            "web waits: 0/3 nodes are available: node(s) didn't satisfy plugin(s) [PinnedA PinnedB] simultaneously."
        ],
    );
    assert_eq!(asked, ["PinnedA pre-filter", "PinnedB pre-filter"]);
}

#[test]
fn a_rejection_for_good_ends_the_run() {
    let asked = check("only-a: never", expect!["web waits: 0/3 nodes are available: not ever."]);
    assert_eq!(asked, ["PinnedA pre-filter"]);
}

#[test]
fn after_a_rejection_for_now_the_other_plugins_run_but_no_filter() {
    let asked = check("only-a: later, only-b: n1", expect!["web waits: 0/3 nodes are available: not now."]);
    expect![[r#"
        [
            "PinnedA pre-filter",
            "PinnedB pre-filter",
            "ReadsApart sees that Apart skips",
            "MayReadApart sees 0 node(s)",
        ]
    "#]]
    .assert_debug_eq(&asked);
    check("only-a: later, only-b: never", expect!["web waits: 0/3 nodes are available: not ever."]);
}

#[test]
fn an_error_fails_the_attempt() {
    let asked =
        check("only-a: broken", expect![[r#"web failed: running PreFilter plugin "PinnedA": lost its glasses"#]]);
    assert_eq!(asked, ["PinnedA pre-filter"]);
}

#[test]
fn the_diagnosis_knows_who_to_wake_for_and_where_removing_pods_may_help() {
    for (labels, plugins, resolvable) in [
        ("only-a: later", vec!["PinnedA"], 2),
        ("only-a: never", vec!["PinnedA"], 0),
        ("only-a: n1, only-b: never", vec!["PinnedB"], 0),
        ("only-a: n1, only-b: n2", vec!["PinnedA", "PinnedB"], 0),
        ("only-a: n1, only-b: later", vec!["PinnedA", "PinnedB"], 2),
    ] {
        let mut world = World::<Profiles>::new();
        world.node("n1", "");
        world.node("n2", "");
        match world.explain("web", labels, false).decision {
            schedc_core::engine::Decision::Unschedulable(found) => {
                let found = found.diagnosis;
                assert_eq!(found.unschedulable_plugins.into_iter().collect::<Vec<_>>(), plugins, "{labels}");
                assert_eq!(found.resolvable.count(), resolvable, "{labels}");
            }
            other => panic!("{labels}: {other:?}"),
        }
    }
}

#[test]
fn a_plugin_reads_what_another_found() {
    let mut world = World::<Profiles>::new();
    for node in ["n1", "n2", "n3"] {
        world.node(node, "");
    }
    world.running("blue-1", "team: blue", "n1");
    world.running("blue-2", "team: blue", "n3");
    world.pending("web", "team: blue");
    notes();
    assert_eq!(world.step().unwrap(), "web on n2");
    let read: Vec<String> = notes().into_iter().filter(|note| note.contains("sees")).collect();
    assert_eq!(read, ["ReadsApart sees 2 node(s)", "MayReadApart sees 2 node(s)"]);
}

#[test]
fn a_plugin_that_may_read_another_is_told_if_it_is_not_there() {
    let mut world = World::<Profiles>::new();
    world.node("n1", "");
    let pod = world.pod("web", "team: blue");
    notes();
    world.enqueue(1, pod);
    assert_eq!(world.run(), ["web on n1"]);
    assert_eq!(notes(), ["MayReadApart sees that Apart is not here"]);
}

#[test]
fn a_filter_without_the_pre_filter_that_it_has_gets_the_default_state() {
    let mut world = World::<Profiles>::new();
    world.node("n1", "");
    world.running("blue-1", "team: blue", "n1");
    let pod = world.pod("web", "team: blue");
    notes();
    world.enqueue(2, pod);
    assert_eq!(world.run(), ["web on n1"], "Apart knows of no pod");
    assert_eq!(notes(), ["MayReadApart sees that Apart is not here"]);
}

#[test]
fn a_score_without_the_pre_score_that_it_has_takes_part() {
    let mut world = World::<Profiles>::new();
    world.node("n1", "rank: '1'");
    world.node("n2", "rank: '2'");
    let pod = world.pod("web", "rank: broken");
    assert_eq!(world.embedded.scheduler.explain(2, &pod, false).best, ["n2"]);
}
