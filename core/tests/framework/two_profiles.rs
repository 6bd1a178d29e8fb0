//! Two profiles in one scheduler, with one cluster and one queue.

use schedc_core::profile::{Bundle, Profile, profile_for};

use crate::framework::test_cluster::{TestCluster, describe};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/scores.toml", "tests/framework/profiles/twin.toml");
}
use scheduler::{Profiles, scores, twin};

#[test]
fn each_profile_decides_by_its_own_plugins() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("favoured", "a: '100', b: '100'");
    test_cluster.node("sick", "health: sick, rank: '9'");
    test_cluster.node("other", "rank: '1'");
    for (scheduler_name, node) in [("scores", "favoured"), ("twin", "sick")] {
        let pod = test_cluster.pod(&format!("of-{scheduler_name}"), "");
        let profile = profile_for(Profiles::PROFILES, scheduler_name).unwrap();
        let explanation = test_cluster.cluster.scheduler.explain(profile, &pod, false);
        assert_eq!(explanation.best, [node]);
        test_cluster.enqueue(profile, pod);
    }
    assert_eq!(test_cluster.run(), ["of-scores on favoured", "of-twin on sick"]);
}

#[test]
fn the_profiles_share_one_queue_and_one_cache() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node_for(2, "n", "");
    for (profile, name, priority) in [(0, "low", 1), (1, "high", 3), (1, "lowest", 0), (0, "middle", 2)] {
        let pod = test_cluster.important_pod(name, "", priority);
        assert_eq!(test_cluster.enqueue(profile, pod), None);
    }
    let mut outcomes = Vec::new();
    while let Some(outcome) = test_cluster.cluster.step() {
        outcomes.push(format!("{}: {}", outcome.profile, describe(&outcome)));
    }
    assert_eq!(
        outcomes,
        [
            "1: high on n",
            "0: middle on n",
            "0: low on n",
            "1: lowest waits: 0/1 nodes are available: 1 node(s) were full.",
        ],
        "the first profile does not count pods, the second does"
    );
}

#[test]
fn a_column_that_both_profiles_read_exists_once() {
    fn same_state<P: Profile, Q: Profile<State = P::State>>() {}
    same_state::<scores::Pipeline, twin::Pipeline>();
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "rank: '1'");
    test_cluster.running("web", "", "n");
    assert_eq!(test_cluster.cluster.scheduler.cache.state.slot_count[0].taken, 1);
    assert_eq!(test_cluster.cluster.scheduler.cache.state.marks.len(), 1);
}
