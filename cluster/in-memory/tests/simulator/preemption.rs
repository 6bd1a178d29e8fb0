//! Preemption with its effects on the cluster.

use expect_test::expect;

use super::*;

#[test]
fn the_preemptor_replaces_its_victims() {
    let mut cluster = cluster(&(node("n1", 4) + &pod("running", 3, "") + &pod("critical", 1, "priority: 1000")));
    cluster.run();
    cluster.apply(&pod("urgent", 3, "priority: 100"));
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    expect![[r#"
        default/critical on n1
        default/urgent on n1
    "#]]
    .assert_eq(&cluster.pods());
    assert_eq!(cluster.nominated_node_of("urgent"), None);
}

#[test]
fn the_preemptor_waits_for_its_victims() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).unwrap();
    cluster.apply(&(node("n1", 4) + &pod("running", 3, "terminationGracePeriodSeconds: 20")));
    cluster.run();
    cluster.apply(&pod("urgent", 3, "priority: 100"));
    cluster.run_for(Duration::from_secs(10));
    expect![[r#"
        default/running on n1 (being deleted)
        default/urgent: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. (nominated for n1)
    "#]]
    .assert_eq(&cluster.pods());
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 20 * SECOND));
    assert_eq!(cluster.pods(), "default/urgent on n1\n");
}
