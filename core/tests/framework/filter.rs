//! Filter: rejections node by node.

use expect_test::{Expect, expect};

use crate::framework::test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/filters.toml");
}
use scheduler::Profiles;

/// Makes a cluster with nodes that are full, sick or taken; with `unknown`, also a node of unknown health.
fn cluster(unknown: bool) -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    test_cluster.node_for(0, "full", "");
    test_cluster.node_for(0, "full-and-sick", "health: sick");
    test_cluster.node("sick", "health: sick");
    test_cluster.node("taken", "");
    test_cluster.running("blue-1", "team: blue", "taken");
    if unknown {
        test_cluster.node("unknown", "health: unknown");
    }
    test_cluster
}

fn check_explanation(all_filters: bool, expected: Expect) {
    let explanation = cluster(false).explain("web", "team: blue", all_filters);
    let lines = explanation.nodes.iter().map(|node| {
        let verdicts = node.verdicts.iter().map(|v| format!("{} {:?} {:?}\n", v.plugin, v.code, v.reasons.join(", ")));
        format!("{}:\n{}", node.node, verdicts.map(|v| format!("  {v}")).collect::<String>())
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn the_first_plugin_that_rejects_a_node_gives_the_reason() {
    let mut test_cluster = cluster(false);
    test_cluster.pending("web", "team: blue");
    expect![
        "web waits: 0/4 nodes are available: 1 node(s) had a pod of the team, 1 node(s) were full, 2 node(s) were sick."
    ]
    .assert_eq(&test_cluster.step().unwrap());
    check_explanation(
        false,
        expect![[r#"
            full:
              Slots Unschedulable "node(s) were full"
            full-and-sick:
              Health UnschedulableAndUnresolvable "node(s) were sick"
            sick:
              Health UnschedulableAndUnresolvable "node(s) were sick"
            taken:
              TeamAntiAffinity Unschedulable "node(s) had a pod of the team"
        "#]],
    );
}

#[test]
fn explain_can_run_every_filter() {
    check_explanation(
        true,
        expect![[r#"
            full:
              Slots Unschedulable "node(s) were full"
            full-and-sick:
              Health UnschedulableAndUnresolvable "node(s) were sick"
              Slots Unschedulable "node(s) were full"
            sick:
              Health UnschedulableAndUnresolvable "node(s) were sick"
            taken:
              TeamAntiAffinity Unschedulable "node(s) had a pod of the team"
        "#]],
    );
}

#[test]
fn an_error_on_a_node_fails_the_attempt_although_other_nodes_are_feasible() {
    let mut test_cluster = cluster(true);
    test_cluster.node("fine", "");
    test_cluster.pending("web", "");
    assert_eq!(
        test_cluster.run(),
        [r#"web failed: running "Health" filter plugin: nothing is known of the node's health"#]
    );
}

#[test]
fn a_node_that_an_earlier_plugin_rejects_cannot_fail() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("fine", "");
    test_cluster.node("unknown", "health: unknown");
    test_cluster.running("blue-1", "team: blue", "unknown");
    test_cluster.pending("web", "team: blue");
    assert_eq!(test_cluster.run(), ["web on fine"]);
}

#[test]
fn the_diagnosis_has_resolvable_nodes() {
    let mut test_cluster = cluster(false);
    let explanation = test_cluster.explain("web", "team: blue", false);
    let schedc_core::engine::Decision::Unschedulable(unschedulable) = explanation.decision else {
        panic!("no node is feasible")
    };
    let base = &test_cluster.cluster.scheduler.cache.base;
    let resolvable: Vec<&str> = unschedulable.diagnosis.resolvable.iter().map(|node| base.name(node)).collect();
    assert_eq!(resolvable, ["full", "taken"]);
    let plugins: Vec<_> = unschedulable.diagnosis.unschedulable_plugins.into_iter().collect();
    assert_eq!(plugins, ["Health", "Slots", "TeamAntiAffinity"]);
}
