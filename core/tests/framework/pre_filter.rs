//! PreFilter: runs once for each pod, before Filter runs on the nodes.

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::notes;
use crate::framework::test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!(
        "tests/framework/profiles/filters.toml",
        "tests/framework/profiles/alone.toml",
        "tests/framework/profiles/partly.toml"
    );
}
use scheduler::Profiles;

/// Checks the outcome for a pod with these labels on nodes n1, n2 and n3, of which n3 is full.
fn check(labels: &str, expected: Expect) -> Vec<String> {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "");
    test_cluster.node("n2", "");
    test_cluster.node_for(0, "n3", "");
    test_cluster.pending("web", labels);
    notes();
    expected.assert_eq(&test_cluster.step().unwrap());
    notes()
}

#[test]
fn a_plugin_that_skips_is_left_out_of_filter() {
    let calls = check("only-a: n1", expect!["web on n1"]);
    assert_eq!(calls.iter().filter(|note| *note == "PinnedA filter").count(), 1, "PinnedB skips");
    assert!(!calls.contains(&"PinnedB filter".to_owned()), "{calls:?}");

    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "");
    assert_eq!(
        test_cluster.explain("web", "team: blue", false).skipped,
        ["PinnedA", "PinnedB", "ReadsTeamAntiAffinity", "MayReadTeamAntiAffinity"]
    );
}

#[test]
fn only_nodes_that_all_plugins_name_are_filtered() {
    let calls = check("only-a: n1.n2, only-b: n2.n3", expect!["web on n2"]);
    assert_eq!(calls.iter().filter(|note| *note == "PinnedA filter").count(), 1, "{calls:?}");
}

#[test]
fn nodes_that_pre_filter_excludes_are_part_of_the_message() {
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
fn plugins_that_together_leave_no_node_end_the_attempt() {
    let calls = check(
        "only-a: n1, only-b: n2",
        expect![
            "web waits: 0/3 nodes are available: node(s) didn't satisfy plugin(s) [PinnedA PinnedB] simultaneously."
        ],
    );
    assert_eq!(calls, ["PinnedA pre-filter", "PinnedB pre-filter"]);
}

#[test]
fn an_unresolvable_rejection_ends_the_run() {
    let calls = check("only-a: never", expect!["web waits: 0/3 nodes are available: not ever."]);
    assert_eq!(calls, ["PinnedA pre-filter"]);
}

#[test]
fn after_a_resolvable_rejection_other_pre_filters_run_but_no_filter() {
    let calls = check("only-a: later, only-b: n1", expect!["web waits: 0/3 nodes are available: not now."]);
    expect![[r#"
        [
            "PinnedA pre-filter",
            "PinnedB pre-filter",
            "ReadsTeamAntiAffinity sees that TeamAntiAffinity skips",
            "MayReadTeamAntiAffinity sees 0 node(s)",
        ]
    "#]]
    .assert_debug_eq(&calls);
    check("only-a: later, only-b: never", expect!["web waits: 0/3 nodes are available: not ever."]);
}

#[test]
fn an_error_fails_the_attempt() {
    let calls =
        check("only-a: broken", expect![[r#"web failed: running PreFilter plugin "PinnedA": lost its glasses"#]]);
    assert_eq!(calls, ["PinnedA pre-filter"]);
}

#[test]
fn the_diagnosis_has_rejecting_plugins_and_resolvable_nodes() {
    for (labels, plugins, resolvable) in [
        ("only-a: later", vec!["PinnedA"], 2),
        ("only-a: never", vec!["PinnedA"], 0),
        ("only-a: n1, only-b: never", vec!["PinnedB"], 0),
        ("only-a: n1, only-b: n2", vec!["PinnedA", "PinnedB"], 0),
        ("only-a: n1, only-b: later", vec!["PinnedA", "PinnedB"], 2),
    ] {
        let mut test_cluster = TestCluster::<Profiles>::new();
        test_cluster.node("n1", "");
        test_cluster.node("n2", "");
        match test_cluster.explain("web", labels, false).decision {
            schedc_core::engine::Decision::Unschedulable(unschedulable) => {
                let diagnosis = unschedulable.diagnosis;
                assert_eq!(diagnosis.unschedulable_plugins.into_iter().collect::<Vec<_>>(), plugins, "{labels}");
                assert_eq!(diagnosis.resolvable.count(), resolvable, "{labels}");
            }
            other => panic!("{labels}: {other:?}"),
        }
    }
}

#[test]
fn a_plugin_reads_the_state_of_another() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    for node in ["n1", "n2", "n3"] {
        test_cluster.node(node, "");
    }
    test_cluster.running("blue-1", "team: blue", "n1");
    test_cluster.running("blue-2", "team: blue", "n3");
    test_cluster.pending("web", "team: blue");
    notes();
    assert_eq!(test_cluster.step().unwrap(), "web on n2");
    let read: Vec<String> = notes().into_iter().filter(|note| note.contains("sees")).collect();
    assert_eq!(read, ["ReadsTeamAntiAffinity sees 2 node(s)", "MayReadTeamAntiAffinity sees 2 node(s)"]);
}

#[test]
fn an_optional_state_is_none_without_its_plugin() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "");
    let pod = test_cluster.pod("web", "team: blue");
    notes();
    test_cluster.enqueue(1, pod);
    assert_eq!(test_cluster.run(), ["web on n1"]);
    assert_eq!(notes(), ["MayReadTeamAntiAffinity sees that TeamAntiAffinity is not here"]);
}

#[test]
fn a_filter_whose_pre_filter_is_disabled_gets_the_default_state() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "");
    test_cluster.running("blue-1", "team: blue", "n1");
    let pod = test_cluster.pod("web", "team: blue");
    notes();
    test_cluster.enqueue(2, pod);
    assert_eq!(test_cluster.run(), ["web on n1"], "the default state of TeamAntiAffinity has no pods");
    assert_eq!(notes(), ["MayReadTeamAntiAffinity sees that TeamAntiAffinity is not here"]);
}

#[test]
fn a_score_whose_pre_score_is_disabled_still_counts() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "rank: '1'");
    test_cluster.node("n2", "rank: '2'");
    let pod = test_cluster.pod("web", "rank: broken");
    assert_eq!(test_cluster.cluster.scheduler.explain(2, &pod, false).best, ["n2"]);
}
