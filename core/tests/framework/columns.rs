//! Columns that depend on the arguments of their plugin.

use schedc_core::engine::Engine;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::NodeIndex;
use schedc_core::profile::{Bundle, profile_for};

use crate::framework::plugins::NodeWorth;
use crate::framework::test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!(
        "tests/framework/profiles/gold.toml",
        "tests/framework/profiles/silver.toml",
        "tests/framework/profiles/more-silver.toml"
    );
}
use scheduler::{Profiles, silver};

fn test_cluster() -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    test_cluster.node("rich", "gold: '50', silver: '10'");
    test_cluster.node("shiny", "gold: '10', silver: '50'");
    test_cluster
}

#[test]
fn each_profile_sees_the_column_of_its_arguments() {
    let mut test_cluster = test_cluster();
    for (scheduler_name, node) in [("gold", "rich"), ("silver", "shiny"), ("more-silver", "shiny")] {
        let pod = test_cluster.pod("web", "");
        let profile = profile_for(Profiles::PROFILES, scheduler_name).unwrap();
        assert_eq!(test_cluster.cluster.scheduler.explain(profile, &pod, false).best, [node], "{scheduler_name}");
    }
}

#[test]
fn profiles_with_equal_arguments_share_a_column() {
    let mut test_cluster = test_cluster();
    test_cluster.running("web", "", "shiny");
    let state = &test_cluster.cluster.scheduler.cache.state;
    let left = |column: &[NodeWorth]| column.iter().map(|node| node.left).collect::<Vec<_>>();
    assert_eq!(left(&state.node_worth), [50, 9]);
    assert_eq!(left(&state.node_worth_), [10, 20], "in this column, a pod takes 30");
    test_cluster.delete("web");
    let state = &test_cluster.cluster.scheduler.cache.state;
    assert_eq!(left(&state.node_worth_), [10, 50]);
}

#[test]
fn a_column_finds_labels_of_pods_that_arrive_after_the_node() {
    let mut test_cluster = test_cluster();
    test_cluster.running("web", "free: 'yes'", "shiny");
    let state = &test_cluster.cluster.scheduler.cache.state;
    assert_eq!(state.node_worth[1].left, 10);
    assert_eq!(state.node_worth_[1].left, 50);
}

#[test]
fn hypothetical_pods_change_the_column_of_the_profile() {
    let mut test_cluster = test_cluster();
    let running = test_cluster.running("web", "", "shiny");
    let (pod, more) = (test_cluster.pod("waits", ""), test_cluster.pod("more", ""));
    let engine = Engine::<silver::Pipeline>::new(&Default::default()).unwrap();
    let node = NodeIndex(1);
    let mut rejects = |change: &dyn Fn(&mut HypotheticalNode<'_, silver::Pipeline>)| {
        engine.run_filter_plugins(&pod, &mut test_cluster.cluster.scheduler.cache, node, change).is_err()
    };
    assert!(!rejects(&|_| ()));
    assert!(rejects(&|node| node.add_pod(&more)), "nothing is left: 50 - 2 * 30 < 0");
    assert!(!rejects(&|node| {
        node.add_pod(&more);
        node.remove_pod(&running);
    }));
}
