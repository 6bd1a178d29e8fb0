//! Filters of a profile without their PreFilter.

use expect_test::expect;

use crate::cycle::scheduler::unprepared::Pipeline;
use crate::cycle::world::World;

#[test]
fn attempts_fail() {
    let mut world = World::<Pipeline>::new();
    world.node("metadata: {name: n1}");
    world.object("{kind: PersistentVolumeClaim, metadata: {name: c}}");
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
        expected.assert_eq(&world.verdicts(&format!("spec: {{volumes: [{volumes}]}}")));
    }
}
