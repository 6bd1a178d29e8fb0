//! Filters of a profile without their PreFilter.

use expect_test::expect;

use crate::cycle::scheduler::unprepared::Pipeline;
use crate::cycle::test_cluster::TestCluster;

#[test]
fn attempts_without_pre_filter_fail() {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("metadata: {name: n1}");
    cluster.object("{kind: PersistentVolumeClaim, metadata: {name: c}}");
    for (volumes, expected) in [
        (
            "",
            expect![[r#"
                n1: Error VolumeRestrictions: running "VolumeRestrictions" filter plugin: cannot read "PreFilterVolumeRestrictions" from cycleState
            "#]],
        ),
        (
            "{name: v, persistentVolumeClaim: {claimName: c}}",
            expect![[r#"
                n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: the profile has no PreFilter of NodeVolumeLimits, which counts the pod's volumes
            "#]],
        ),
    ] {
        expected.assert_eq(&cluster.verdicts(&format!("spec: {{volumes: [{volumes}]}}")));
    }
}
