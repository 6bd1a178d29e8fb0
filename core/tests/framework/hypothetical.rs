//! Nodes with hypothetical pods.

use std::sync::Arc;

use schedc_core::engine::Engine;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::profile::{PreFilterRun, Profile};
use schedc_core::verdict::Verdict;

use crate::framework::test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/filters.toml");
}
use scheduler::{Profiles, filters::Pipeline};

struct Cluster {
    test_cluster: TestCluster<Profiles>,
    node: NodeIndex,
    blue: Arc<Pod>,
    red: Arc<Pod>,
}

/// Makes a node for two pods, on which a pod of team blue and a pod of team red run.
fn cluster() -> Cluster {
    let mut test_cluster = TestCluster::new();
    let node = test_cluster.node_for(2, "n", "");
    let blue = test_cluster.running("blue", "team: blue", "n");
    let red = test_cluster.running("red", "team: red", "n");
    Cluster { test_cluster, node, blue, red }
}

fn reasons(result: Result<(), Verdict>) -> Vec<String> {
    result.err().map(|verdict| verdict.reasons.into_iter().map(Into::into).collect()).unwrap_or_default()
}

#[test]
fn filters_run_on_a_hypothetical_node() {
    let Cluster { mut test_cluster, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = test_cluster.pod("web", "team: blue");
    let more = test_cluster.pod("more", "");
    let mut reasons_after = |change: fn(&mut HypotheticalNode<'_, Pipeline>, [&Arc<Pod>; 3])| {
        let cache = &mut test_cluster.cluster.scheduler.cache;
        reasons(engine.run_filter_plugins(&pod, cache, node, |hypothetical| change(hypothetical, [&blue, &red, &more])))
    };
    assert_eq!(reasons_after(|_, _| ()), ["node(s) had a pod of the team"]);
    assert_eq!(reasons_after(|node, [blue, ..]| node.remove_pod(blue)), [""; 0]);
    assert_eq!(reasons_after(|node, [_, red, _]| node.remove_pod(red)), ["node(s) had a pod of the team"]);
    assert_eq!(
        reasons_after(|node, [blue, _, more]| {
            node.remove_pod(blue);
            node.add_pod(more);
        }),
        ["node(s) were full"]
    );
    assert_eq!(
        reasons_after(|node, [blue, red, _]| {
            node.remove_pod(blue);
            node.remove_pod(red);
            node.add_pod(blue);
        }),
        ["node(s) had a pod of the team"]
    );
}

#[test]
fn a_pod_that_pre_filter_rejects_is_not_tried_on_any_node() {
    let Cluster { mut test_cluster, node, .. } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    for (labels, reason) in [
        ("only-a: never", "not ever"),
        ("only-a: later", "not now"),
        ("only-a: elsewhere", "node(s) didn't satisfy plugin PinnedA"),
        ("only-a: 'n', only-b: elsewhere", "node(s) didn't satisfy plugin(s) [PinnedA PinnedB] simultaneously"),
    ] {
        let pod = test_cluster.pod("web", labels);
        let result = engine.run_filter_plugins(&pod, &mut test_cluster.cluster.scheduler.cache, node, |_| ());
        assert_eq!(reasons(result), [reason]);
    }
}

#[test]
fn all_verdicts_lists_every_rejection() {
    let Cluster { mut test_cluster, node, .. } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = test_cluster.pod("web", "team: blue");
    let cache = &mut test_cluster.cluster.scheduler.cache;
    let mut verdicts = Vec::new();
    let first = engine.run_filter_plugins(&pod, cache, node, |hypothetical| verdicts = hypothetical.all_verdicts());
    assert_eq!(verdicts.iter().map(|verdict| verdict.plugin).collect::<Vec<_>>(), ["TeamAntiAffinity", "Slots"]);
    assert_eq!(first.unwrap_err(), verdicts[0]);
}

#[test]
fn a_hypothetical_node_leaves_no_trace() {
    let Cluster { mut test_cluster, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = test_cluster.pod("web", "team: blue");
    let more = test_cluster.pod("more", "team: blue");
    let cache = &mut test_cluster.cluster.scheduler.cache;
    let compiled = engine.plugins.compile(&pod.spec, &mut cache.base.interner, &mut cache.state);
    let cache = &*cache;
    let mut cycle = engine.plugins.pre_filter(&compiled, cache, &mut PreFilterRun::default()).unwrap();
    let before = (cycle.team_anti_affinity.clone(), cache.state.slot_count.clone());
    {
        let mut hypothetical = HypotheticalNode::<Pipeline>::new(&compiled, &mut cycle, cache, node);
        hypothetical.remove_pod(&blue);
        hypothetical.add_pod(&more);
        hypothetical.add_pod(&blue);
        hypothetical.remove_pod(&red);
        hypothetical.remove_pod(&more);
        hypothetical.remove_pod(&blue);
        assert!(hypothetical.filter().is_ok());
    }
    assert_eq!((cycle.team_anti_affinity.clone(), cache.state.slot_count.clone()), before);
}

#[test]
fn hypothetical_changes_can_be_rolled_back_in_part() {
    let Cluster { mut test_cluster, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = test_cluster.pod("web", "team: blue");
    let cache = &mut test_cluster.cluster.scheduler.cache;
    let result = engine.run_filter_plugins(&pod, cache, node, |hypothetical| {
        hypothetical.remove_pod(&blue);
        let without_blue = hypothetical.checkpoint();
        assert!(hypothetical.filter().is_ok());
        hypothetical.remove_pod(&red);
        hypothetical.add_pod(&blue);
        assert!(hypothetical.filter().is_err());
        hypothetical.roll_back_to(without_blue);
    });
    assert_eq!(reasons(result), [""; 0]);
}

#[test]
fn a_node_must_pass_with_and_without_nominated_pods() {
    let Cluster { mut test_cluster, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = test_cluster.pod("web", "team: green");
    let more = test_cluster.pod("more", "");
    let rival = test_cluster.pod("rival", "team: green");
    let cache = &mut test_cluster.cluster.scheduler.cache;
    let result = engine.run_filter_plugins(&pod, cache, node, |hypothetical| {
        hypothetical.remove_pod(&blue);
        assert!(hypothetical.filter_with_nominated(&[]).is_ok());
        let mut reasons = |nominated: &[Arc<Pod>]| {
            let verdict = hypothetical.verdict_with_nominated(nominated);
            assert_eq!(hypothetical.filter_with_nominated(nominated).is_ok(), verdict.is_none());
            verdict.map(|verdict| verdict.reasons.concat()).unwrap_or_default()
        };
        assert_eq!(reasons(&[]), "");
        assert_eq!(reasons(std::slice::from_ref(&more)), "node(s) were full");
        assert_eq!(reasons(&[rival]), "node(s) had a pod of the team");
        hypothetical.remove_pod(&red);
        assert!(hypothetical.filter_with_nominated(&[more]).is_ok());
    });
    assert_eq!(reasons(result), [""; 0]);
}
