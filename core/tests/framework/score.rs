//! PreScore, Score and NormalizeScore: the choice among feasible nodes.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::notes;
use crate::framework::test_cluster::TestCluster;

mod scheduler {
    // Weights: FavourA 1, FavourB 2, Rank 3.
    schedc_macros::profile!("tests/framework/profiles/scores.toml");
}
use scheduler::Profiles;

fn cluster(nodes: &[(&str, &str)]) -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    add_nodes(&mut test_cluster, nodes);
    test_cluster
}

fn add_nodes(test_cluster: &mut TestCluster<Profiles>, nodes: &[(&str, &str)]) {
    for (name, labels) in nodes {
        test_cluster.node(name, labels);
    }
}

/// Checks the scores of a pod with these labels.
fn check(nodes: &[(&str, &str)], pod: &str, expected: Expect) {
    let explanation = cluster(nodes).explain("web", pod, false);
    let lines = explanation.nodes.iter().map(|node| {
        let parts: Vec<String> = node
            .scores
            .iter()
            .map(|score| format!("{} {} -> {} x {}", score.plugin, score.raw, score.normalized, score.weight))
            .collect();
        format!("{}: {} = {}\n", node.node, parts.join(", "), node.total())
    });
    let best = format!("best: {}\n", explanation.best.join(" "));
    expected.assert_eq(&lines.chain([best]).collect::<String>());
}

/// Checks the outcome for a pod with these labels.
fn check_outcome(nodes: &[(&str, &str)], pod: &str, expected: Expect) {
    let mut test_cluster = cluster(nodes);
    test_cluster.pending("web", pod);
    expected.assert_eq(&test_cluster.step().unwrap());
}

#[test]
fn scores_are_weighted_and_added_up() {
    let nodes = [("n1", "a: '50'"), ("n2", "b: '30'"), ("n3", "a: '10', b: '24'")];
    check(
        &nodes,
        "",
        expect![[r#"
            n1: FavourA 50 -> 50 x 1, FavourB 0 -> 0 x 2, Rank 0 -> 0 x 3 = 50
            n2: FavourA 0 -> 0 x 1, FavourB 30 -> 30 x 2, Rank 0 -> 0 x 3 = 60
            n3: FavourA 10 -> 10 x 1, FavourB 24 -> 24 x 2, Rank 0 -> 0 x 3 = 58
            best: n2
        "#]],
    );
    check_outcome(&nodes, "", expect!["web on n2"]);
}

#[test]
fn normalization_uses_the_extremes_of_feasible_nodes_except_ignored_ones() {
    check(
        &[
            ("n1", "rank: '-4'"),
            ("n2", "rank: '16'"),
            ("n3", "rank: '6'"),
            ("n4", ""),
            ("n5", "rank: '99', health: sick"),
        ],
        "",
        expect![[r#"
            n1: FavourA 0 -> 0 x 1, FavourB 0 -> 0 x 2, Rank -4 -> 0 x 3 = 0
            n2: FavourA 0 -> 0 x 1, FavourB 0 -> 0 x 2, Rank 16 -> 100 x 3 = 300
            n3: FavourA 0 -> 0 x 1, FavourB 0 -> 0 x 2, Rank 6 -> 50 x 3 = 150
            n4: FavourA 0 -> 0 x 1, FavourB 0 -> 0 x 2, Rank 0 -> 0 x 3 = 0
            n5:  = 0
            best: n2
        "#]],
    );
}

#[test]
fn a_plugin_whose_pre_score_skips_does_not_score() {
    check(
        &[("n1", "rank: '1'"), ("n2", "rank: wrong, a: '1'")],
        "rank: ignored",
        expect![[r#"
            n1: FavourA 0 -> 0 x 1, FavourB 0 -> 0 x 2 = 0
            n2: FavourA 1 -> 1 x 1, FavourB 0 -> 0 x 2 = 1
            best: n2
        "#]],
    );
}

#[test]
fn a_failed_pre_score_fails_the_attempt() {
    let nodes = [("n1", ""), ("n2", "")];
    check_outcome(
        &nodes,
        "rank: broken",
        expect![[r#"web failed: running PreScore plugin "Rank": the ladder is broken"#]],
    );
}

#[test]
fn a_score_out_of_range_fails_the_attempt() {
    check_outcome(
        &[("n1", "a: '101'"), ("n2", "")],
        "",
        expect![[
            r#"web failed: applying score defaultWeights on Score plugins: plugin "FavourA" returns an invalid score 101, it should in the range of [0, 100] after normalizing"#
        ]],
    );
    check_outcome(
        &[("n1", "a: '5'"), ("n2", "a: '100', b: '-1'")],
        "",
        expect![[
            r#"web failed: applying score defaultWeights on Score plugins: plugin "FavourB" returns an invalid score -1, it should in the range of [0, 100] after normalizing"#
        ]],
    );
}

#[test]
fn a_score_error_fails_the_attempt() {
    check_outcome(
        &[("n1", "b: much"), ("n2", "")],
        "",
        expect![[r#"web failed: running Score plugins: plugin "FavourB" failed with: the label is no number"#]],
    );
    check_outcome(
        &[("n1", ""), ("n2", "rank: colonel")],
        "",
        expect![[r#"web failed: running Score plugins: plugin "Rank" failed with: the rank is no number"#]],
    );
}

#[test]
fn explain_lists_all_errors_that_may_end_the_attempt() {
    let errors = |nodes: &[(&str, &str)]| {
        let errors = cluster(nodes).explain("web", "", false).errors;
        errors.iter().map(|error| format!("{error}\n")).collect::<String>()
    };
    expect![[r#"
        applying score defaultWeights on Score plugins: plugin "FavourA" returns an invalid score 101, it should in the range of [0, 100] after normalizing
        applying score defaultWeights on Score plugins: plugin "FavourB" returns an invalid score -1, it should in the range of [0, 100] after normalizing
    "#]]
    .assert_eq(&errors(&[("n1", "a: '101', b: '-2'"), ("n2", "b: '-1'"), ("n3", "a: '101'")]));
    expect![[r#"
        running Score plugins: plugin "FavourB" failed with: the label is no number
        running Score plugins: plugin "Rank" failed with: the rank is no number
    "#]]
    .assert_eq(&errors(&[("n1", "b: much, rank: colonel"), ("n2", "a: '101'"), ("n3", "rank: colonel")]));
}

#[test]
fn a_single_feasible_node_is_not_scored() {
    let mut test_cluster = cluster(&[("n1", "a: '101', b: wrong"), ("n2", "health: sick")]);
    test_cluster.pending("web", "rank: broken");
    notes();
    assert_eq!(test_cluster.run(), ["web on n1"]);
    assert_eq!(notes(), [""; 0]);
}

#[test]
fn pre_score_receives_feasible_nodes_only() {
    let mut test_cluster = cluster(&[("n1", ""), ("n2", "health: sick"), ("n3", "")]);
    test_cluster.pending("web", "");
    notes();
    test_cluster.run();
    assert_eq!(notes(), ["Rank pre-score of 2 nodes"]);
}

#[test]
fn equally_good_nodes_are_drawn_evenly() {
    let nodes = [("n1", "a: '9'"), ("n2", "a: '1'"), ("n3", "a: '9'"), ("n4", "a: '9'")];
    for seed in [1, 2, 3] {
        let mut test_cluster = TestCluster::<Profiles>::seeded(seed);
        add_nodes(&mut test_cluster, &nodes);
        let pod = test_cluster.pod("web", "");
        let mut drawn: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..3_000 {
            test_cluster.enqueue(0, pod.clone());
            *drawn.entry(test_cluster.step().unwrap()).or_default() += 1;
            test_cluster.delete("web");
        }
        assert_eq!(drawn.keys().collect::<Vec<_>>(), ["web on n1", "web on n3", "web on n4"]);
        assert!(drawn.values().all(|times| (900..1_100).contains(times)), "{drawn:?}");
    }
}

#[test]
fn equal_seeds_draw_equal_nodes() {
    let placed = |seed| {
        let mut test_cluster = TestCluster::<Profiles>::seeded(seed);
        add_nodes(&mut test_cluster, &["n1", "n2", "n3", "n4"].map(|name| (name, "")));
        (0..10).for_each(|n| test_cluster.pending(&format!("p{n}"), ""));
        test_cluster.run()
    };
    assert_eq!(placed(1), placed(1));
    assert_ne!(placed(1), placed(2));
}

#[test]
fn the_draw_counts_the_best_nodes_in_the_order_of_their_arrival() {
    use schedc_core::engine::{Decision, Engine};
    let mut test_cluster = cluster(&[("n1", "a: '9'"), ("n2", ""), ("n3", "a: '9'"), ("n4", "a: '9'")]);
    let pod = test_cluster.pod("web", "");
    let mut engine = Engine::<scheduler::scores::Pipeline>::new(&Default::default()).unwrap();
    for (drawn, name) in [(0, "n1"), (1, "n3"), (2, "n4")] {
        let draw = |ties| {
            assert_eq!(ties, 3);
            drawn
        };
        match engine.decide(&pod, &mut test_cluster.cluster.scheduler.cache, 0, draw) {
            Decision::Node(node) => assert_eq!(test_cluster.cluster.scheduler.cache.base.name(node), name),
            other => panic!("{other:?}"),
        }
    }
}
