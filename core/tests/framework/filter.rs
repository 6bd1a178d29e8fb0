//! Filter: node by node, who says no.

use expect_test::{Expect, expect};

use crate::framework::world::World;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/filters.toml");
}
use scheduler::Profiles;

/// A cluster with a node of each kind.
fn cluster(unknown: bool) -> World<Profiles> {
    let mut world = World::new();
    world.node_for(0, "full", "");
    world.node_for(0, "full-and-sick", "health: sick");
    world.node("sick", "health: sick");
    world.node("taken", "");
    world.running("blue-1", "team: blue", "taken");
    if unknown {
        world.node("unknown", "health: unknown");
    }
    world
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
    let mut world = cluster(false);
    world.pending("web", "team: blue");
    expect![
        "web waits: 0/4 nodes are available: 1 node(s) had a pod of the team, 1 node(s) were full, 2 node(s) were sick."
    ]
    .assert_eq(&world.step().unwrap());
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
              Apart Unschedulable "node(s) had a pod of the team"
        "#]],
    );
}

#[test]
fn explain_can_ask_every_plugin() {
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
              Apart Unschedulable "node(s) had a pod of the team"
        "#]],
    );
}

#[test]
fn an_error_on_a_node_fails_the_attempt_though_others_would_do() {
    let mut world = cluster(true);
    world.node("fine", "");
    world.pending("web", "");
    assert_eq!(world.run(), [r#"web failed: running "Health" filter plugin: nothing is known of the node's health"#]);
}

#[test]
fn a_node_that_a_plugin_before_rejects_cannot_fail() {
    let mut world = World::<Profiles>::new();
    world.node("fine", "");
    world.node("unknown", "health: unknown");
    world.running("blue-1", "team: blue", "unknown");
    world.pending("web", "team: blue");
    assert_eq!(world.run(), ["web on fine"]);
}

#[test]
fn the_diagnosis_tells_where_removing_pods_may_help() {
    let mut world = cluster(false);
    let explanation = world.explain("web", "team: blue", false);
    let schedc_core::engine::Decision::Unschedulable(found) = explanation.decision else { panic!("it fits nowhere") };
    let base = &world.embedded.scheduler.cache.base;
    let resolvable: Vec<&str> = found.diagnosis.resolvable.iter().map(|node| base.name(node)).collect();
    assert_eq!(resolvable, ["full", "taken"]);
    let plugins: Vec<_> = found.diagnosis.unschedulable_plugins.into_iter().collect();
    assert_eq!(plugins, ["Apart", "Health", "Slots"]);
}
