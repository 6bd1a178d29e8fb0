//! `percentage-of-nodes-to-score`: in a large cluster, not every node is evaluated.

use std::collections::BTreeSet;

use schedc_core::engine::{Engine, UNTIMED};
use schedc_core::handle::Handle;

use crate::framework::plugins::stage::notes;
use crate::framework::test_cluster::TestCluster;

mod scheduler {
    // 50 %, but never less than 100 nodes.
    schedc_macros::profile!("tests/framework/profiles/some.toml");
}
use scheduler::Profiles;

fn cluster(nodes: usize) -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    for n in 0..nodes {
        test_cluster.node_for(1, &format!("n{n:03}"), "");
    }
    test_cluster
}

/// Returns the number of nodes that were evaluated for a pod.
fn evaluated_nodes(test_cluster: &mut TestCluster<Profiles>, pod: &str) -> usize {
    test_cluster.pending(pod, "");
    notes();
    test_cluster.step().unwrap();
    notes().iter().filter(|note| *note == "Slots filter").count()
}

#[test]
fn the_search_stops_when_enough_nodes_are_found() {
    for (nodes, evaluated) in [(99, 99), (100, 100), (150, 100), (300, 150)] {
        assert_eq!(evaluated_nodes(&mut cluster(nodes), "web"), evaluated, "{nodes} nodes");
    }
}

#[test]
fn the_search_can_cover_all_nodes() {
    let mut test_cluster = cluster(150);
    let pod = test_cluster.pod("web", "");
    let mut engine = Engine::<scheduler::some::Pipeline>::new(&Handle::default()).unwrap();
    engine.percentage_of_nodes_to_score = 100;
    notes();
    engine.decide(&pod, &mut test_cluster.cluster.scheduler.cache, UNTIMED, |_| 0);
    assert_eq!(notes().iter().filter(|note| *note == "Slots filter").count(), 150);
}

#[test]
fn the_search_for_the_next_pod_starts_where_the_last_one_stopped() {
    let mut test_cluster = cluster(300);
    test_cluster.node_for(1, "favoured", "a: '100'");
    // The first search covers n000 to n149, the second n150 to n299, the third the favoured node and n000 to n148.
    let placed: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|pod| {
            test_cluster.pending(pod, "");
            test_cluster.step().unwrap()
        })
        .collect();
    let number = |text: &str| text.split_once(" on n").unwrap().1.parse::<usize>().unwrap();
    assert!((0..150).contains(&number(&placed[0])), "{placed:?}");
    assert!((150..300).contains(&number(&placed[1])), "{placed:?}");
    assert_eq!(placed[2], "c on favoured");
}

#[test]
fn explain_does_not_change_where_the_next_search_starts() {
    let mut test_cluster = cluster(300);
    test_cluster.explain("web", "", false);
    test_cluster.pending("a", "");
    let placed = test_cluster.step().unwrap();
    assert!(placed.as_str() < "a on n150", "{placed}");
}

#[test]
fn infeasible_nodes_are_skipped() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    for n in 0..200 {
        test_cluster.node_for(n % 2, &format!("n{n:03}"), "");
    }
    assert_eq!(evaluated_nodes(&mut test_cluster, "web"), 200, "a hundred of them are full");
}

#[test]
fn every_node_is_found_eventually() {
    let mut test_cluster = cluster(200);
    let mut placed = BTreeSet::new();
    for n in 0..200 {
        test_cluster.pending(&format!("p{n}"), "");
        placed.insert(test_cluster.step().unwrap().split_once(" on ").unwrap().1.to_owned());
    }
    assert_eq!(placed.len(), 200);
    test_cluster.pending("last", "");
    assert_eq!(test_cluster.run(), ["last waits: 0/200 nodes are available: 200 node(s) were full."]);
}
