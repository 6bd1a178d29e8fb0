//! What CSI drivers can attach to a node.

use expect_test::{Expect, expect};
use schedc_core::hypothetical::HypotheticalNode;

use crate::cycle::scheduler::limits::Pipeline;
use crate::cycle::world::World;

/// Nodes n1 and n2, where driver d attaches two volumes, and n3 without a CSINode. Claims a to e have volumes of d, f has
/// one of another driver, g has none yet, and the class of both of its kind is served by d.
fn world() -> World<Pipeline> {
    let mut world = World::new();
    for node in ["n1", "n2", "n3"] {
        world.node(&format!("metadata: {{name: {node}}}"));
    }
    for node in ["n1", "n2"] {
        let drivers = "[{name: d, nodeID: x, allocatable: {count: 2}}, {name: other, nodeID: x}]";
        world.object(&format!("{{kind: CSINode, metadata: {{name: {node}}}, spec: {{drivers: {drivers}}}}}"));
    }
    for (claim, driver) in [("a", "d"), ("b", "d"), ("c", "d"), ("d", "d"), ("e", "d"), ("f", "other")] {
        let csi = format!("csi: {{driver: {driver}, volumeHandle: h{claim}}}");
        world.object(&format!("{{kind: PersistentVolume, metadata: {{name: pv-{claim}}}, spec: {{{csi}}}}}"));
        world.object(&format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: {claim}}}, spec: {{volumeName: pv-{claim}}}}}"
        ));
    }
    world.object("{kind: StorageClass, metadata: {name: fast}, provisioner: d}");
    world.object("{kind: PersistentVolumeClaim, metadata: {name: g}, spec: {storageClassName: fast}}");
    world
}

fn pod(name: &str, node: &str, volumes: &[&str]) -> String {
    let volume = |(at, volume): (usize, &&str)| match volume.contains(':') {
        true => format!("{{name: v{at}, {volume}}}"),
        false => format!("{{name: v{at}, persistentVolumeClaim: {{claimName: {volume}}}}}"),
    };
    let volumes: Vec<_> = volumes.iter().enumerate().map(volume).collect();
    format!("{{metadata: {{name: {name}}}, spec: {{nodeName: {node}, volumes: [{}]}}}}", volumes.join(", "))
}

fn check(world: &mut World<Pipeline>, volumes: &[&str], expected: Expect) {
    expected.assert_eq(&world.verdicts(&pod("new", "''", volumes)));
}

#[test]
fn a_driver_attaches_so_many_volumes_to_a_node() {
    let mut world = world();
    world.running(&pod("p1", "n1", &["a"]));
    world.running(&pod("p2", "n1", &["a", "f"]));
    let both = || {
        expect![[r#"
        n1
        n2
        n3
    "#]]
    };
    check(&mut world, &["b"], both());
    check(&mut world, &["b", "b", "a"], both());
    let full_n1 = || {
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]]
    };
    check(&mut world, &["b", "c"], full_n1());
    // A volume that is to be made counts for the driver of its class.
    check(&mut world, &["b", "g"], full_n1());
    check(&mut world, &["f", "g"], both());
    check(
        &mut world,
        &["a", "b", "c"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n3
    "#]],
    );
    // Over the limit, but nothing new.
    world.running(&pod("p3", "n1", &["b", "c"]));
    check(&mut world, &["a", "b"], both());
    check(&mut world, &["a", "d"], full_n1());
}

#[test]
fn attachments_count_beside_the_volumes_of_pods() {
    let mut world = world();
    let attach = |world: &mut World<Pipeline>, name: &str, claim: &str| {
        let spec = format!("{{attacher: d, nodeName: n1, source: {{persistentVolumeName: pv-{claim}}}}}");
        world.object(&format!("{{kind: VolumeAttachment, metadata: {{name: {name}}}, spec: {spec}}}"));
    };
    world.running(&pod("p1", "n1", &["a"]));
    attach(&mut world, "v1", "a");
    check(
        &mut world,
        &["b"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
    attach(&mut world, "v2", "b");
    // Attached, but not yet used by a pod: it counts once for the attachment, and once for the pod.
    check(
        &mut world,
        &["b"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]],
    );
    check(
        &mut world,
        &["a"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
}

#[test]
fn in_tree_volumes_count_for_the_driver_that_came_after() {
    let mut world = world();
    let drivers = "[{name: pd.csi.storage.gke.io, nodeID: x, allocatable: {count: 1}}]";
    world.object(&format!("{{kind: CSINode, metadata: {{name: n1}}, spec: {{drivers: {drivers}}}}}"));
    world.object("{kind: PersistentVolume, metadata: {name: pv-disk}, spec: {gcePersistentDisk: {pdName: x}}}");
    world.object("{kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {volumeName: pv-disk}}");
    world.running(&pod("p1", "n1", &["disk"]));
    check(
        &mut world,
        &["gcePersistentDisk: {pdName: x}"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
    check(
        &mut world,
        &["gcePersistentDisk: {pdName: z}"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]],
    );
}

#[test]
fn claims_that_cannot_be_counted() {
    let mut world = world();
    let bad_disk = "awsElasticBlockStore: {volumeID: 'aws://z/x'}";
    check(
        &mut world,
        &["b", "lost"],
        expect![[r#"
        n1: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
        n2: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
        n3: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
    "#]],
    );
    // In-tree volumes matter to nodes with a CSINode.
    check(
        &mut world,
        &[bad_disk, "''"],
        expect![[r#"
            n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
            n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
            n3: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PersistentVolumeClaim had no name
        "#]],
    );
    world.object("{kind: PersistentVolumeClaim, metadata: {name: new-v0}}");
    check(
        &mut world,
        &["ephemeral: {}"],
        expect![[r#"
            n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
            n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
            n3: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
        "#]],
    );
}

#[test]
fn running_pods_that_cannot_be_counted_fail_the_attempt_where_there_are_limits() {
    let mut world = world();
    let bad_disk = "awsElasticBlockStore: {volumeID: 'aws://z/x'}";
    let bad = world.running(&pod("p1", "n1", &["lost", bad_disk]));
    world.running(&pod("p3", "n3", &[bad_disk]));
    let failing = expect![[r#"
        n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v1) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n2
        n3
    "#]];
    check(&mut world, &["f"], failing);
    let without = |node: &mut HypotheticalNode<'_, Pipeline>| node.remove_pod(&bad);
    expect![[r#"
        n1
        n2
        n3
    "#]]
    .assert_eq(&world.verdicts_with(&pod("new", "''", &["f"]), without));
    let twice = world.pod(&pod("p2", "''", &[bad_disk]));
    let with_another = |node: &mut HypotheticalNode<'_, Pipeline>| {
        node.remove_pod(&bad);
        node.add_pod(&twice);
    };
    expect![[r#"
        n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n3
    "#]]
    .assert_eq(&world.verdicts_with(&pod("new", "''", &["f"]), with_another));
}

#[test]
fn pods_come_and_go_in_thought() {
    let mut world = world();
    let old = world.running(&pod("p1", "n1", &["a", "b"]));
    let other = world.pod(&pod("p2", "''", &["c"]));
    let mut check = |volumes: &[&str], imagine: &dyn Fn(&mut HypotheticalNode<'_, Pipeline>), expected: Expect| {
        expected.assert_eq(&world.verdicts_with(&pod("new", "''", volumes), imagine));
    };
    let full = || {
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]]
    };
    let free = || {
        expect![[r#"
        n1
        n2
        n3
    "#]]
    };
    check(&["c"], &|_| (), full());
    check(&["c", "d"], &|node| node.remove_pod(&old), free());
    check(&["c", "a"], &|node| node.add_pod(&other), free());
    check(
        &["d", "e"],
        &|node| {
            node.add_pod(&other);
            node.remove_pod(&old);
        },
        expect![[r#"
            n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
            n2: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
            n3
        "#]],
    );
    check(
        &["c"],
        &|node| {
            node.remove_pod(&old);
            node.add_pod(&old);
        },
        full(),
    );
}

#[test]
fn other_pods_skip() {
    let mut world = world();
    world.running(&pod("p1", "n1", &["awsElasticBlockStore: {volumeID: 'aws://z/x'}"]));
    check(
        &mut world,
        &["emptyDir: {}", "iscsi: {iqn: q, lun: 1, targetPortal: t}"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
}
