//! Attach limits of CSI drivers.

use expect_test::{Expect, expect};
use schedc_core::hypothetical::HypotheticalNode;

use crate::cycle::scheduler::limits::Pipeline;
use crate::cycle::test_cluster::TestCluster;

/// Creates nodes n1 and n2, where driver d attaches at most two volumes, and n3 without a CSINode. Claims a to e have
/// volumes of d, f has a volume of another driver, and g is unbound, with a class that driver d provisions.
fn cluster() -> TestCluster<Pipeline> {
    let mut cluster = TestCluster::new();
    for node in ["n1", "n2", "n3"] {
        cluster.node(&format!("metadata: {{name: {node}}}"));
    }
    for node in ["n1", "n2"] {
        let drivers = "[{name: d, nodeID: x, allocatable: {count: 2}}, {name: other, nodeID: x}]";
        cluster.object(&format!("{{kind: CSINode, metadata: {{name: {node}}}, spec: {{drivers: {drivers}}}}}"));
    }
    for (claim, driver) in [("a", "d"), ("b", "d"), ("c", "d"), ("d", "d"), ("e", "d"), ("f", "other")] {
        let csi = format!("csi: {{driver: {driver}, volumeHandle: h{claim}}}");
        cluster.object(&format!("{{kind: PersistentVolume, metadata: {{name: pv-{claim}}}, spec: {{{csi}}}}}"));
        cluster.object(&format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: {claim}}}, spec: {{volumeName: pv-{claim}}}}}"
        ));
    }
    cluster.object("{kind: StorageClass, metadata: {name: fast}, provisioner: d}");
    cluster.object("{kind: PersistentVolumeClaim, metadata: {name: g}, spec: {storageClassName: fast}}");
    cluster
}

fn pod(name: &str, node: &str, volumes: &[&str]) -> String {
    let volume = |(at, volume): (usize, &&str)| match volume.contains(':') {
        true => format!("{{name: v{at}, {volume}}}"),
        false => format!("{{name: v{at}, persistentVolumeClaim: {{claimName: {volume}}}}}"),
    };
    let volumes: Vec<_> = volumes.iter().enumerate().map(volume).collect();
    format!("{{metadata: {{name: {name}}}, spec: {{nodeName: {node}, volumes: [{}]}}}}", volumes.join(", "))
}

fn check(cluster: &mut TestCluster<Pipeline>, volumes: &[&str], expected: Expect) {
    expected.assert_eq(&cluster.verdicts(&pod("new", "''", volumes)));
}

#[test]
fn nodes_beyond_the_attach_limit_of_a_driver_are_rejected() {
    let mut cluster = cluster();
    cluster.add_running(&pod("p1", "n1", &["a"]));
    cluster.add_running(&pod("p2", "n1", &["a", "f"]));
    let all_fit = || {
        expect![[r#"
        n1
        n2
        n3
    "#]]
    };
    check(&mut cluster, &["b"], all_fit());
    check(&mut cluster, &["b", "b", "a"], all_fit());
    let full_n1 = || {
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]]
    };
    check(&mut cluster, &["b", "c"], full_n1());
    // A volume to be provisioned counts for the driver of its class.
    check(&mut cluster, &["b", "g"], full_n1());
    check(&mut cluster, &["f", "g"], all_fit());
    check(
        &mut cluster,
        &["a", "b", "c"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n3
    "#]],
    );
    // The node exceeds the limit, but the pod adds no volume.
    cluster.add_running(&pod("p3", "n1", &["b", "c"]));
    check(&mut cluster, &["a", "b"], all_fit());
    check(&mut cluster, &["a", "d"], full_n1());
}

#[test]
fn attachments_are_counted_in_addition_to_the_volumes_of_pods() {
    let mut cluster = cluster();
    let attach = |cluster: &mut TestCluster<Pipeline>, name: &str, claim: &str| {
        let spec = format!("{{attacher: d, nodeName: n1, source: {{persistentVolumeName: pv-{claim}}}}}");
        cluster.object(&format!("{{kind: VolumeAttachment, metadata: {{name: {name}}}, spec: {spec}}}"));
    };
    cluster.add_running(&pod("p1", "n1", &["a"]));
    attach(&mut cluster, "v1", "a");
    check(
        &mut cluster,
        &["b"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
    attach(&mut cluster, "v2", "b");
    // If no running pod uses an attached volume, the volume is counted twice for a pod that needs it: for the
    // attachment, and for the pod.
    check(
        &mut cluster,
        &["b"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]],
    );
    check(
        &mut cluster,
        &["a"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
}

#[test]
fn in_tree_volumes_count_for_the_csi_driver() {
    let mut cluster = cluster();
    let drivers = "[{name: pd.csi.storage.gke.io, nodeID: x, allocatable: {count: 1}}]";
    cluster.object(&format!("{{kind: CSINode, metadata: {{name: n1}}, spec: {{drivers: {drivers}}}}}"));
    cluster.object("{kind: PersistentVolume, metadata: {name: pv-disk}, spec: {gcePersistentDisk: {pdName: x}}}");
    cluster.object("{kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {volumeName: pv-disk}}");
    cluster.add_running(&pod("p1", "n1", &["disk"]));
    check(
        &mut cluster,
        &["gcePersistentDisk: {pdName: x}"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
    check(
        &mut cluster,
        &["gcePersistentDisk: {pdName: z}"],
        expect![[r#"
        n1: Unschedulable NodeVolumeLimits: node(s) exceed max volume count
        n2
        n3
    "#]],
    );
}

#[test]
fn uncountable_claims_reject_the_pod_or_fail_the_attempt() {
    let mut cluster = cluster();
    let bad_disk = "awsElasticBlockStore: {volumeID: 'aws://z/x'}";
    check(
        &mut cluster,
        &["b", "lost"],
        expect![[r#"
        n1: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
        n2: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
        n3: UnschedulableAndUnresolvable NodeVolumeLimits: looking up PVC default/lost: persistentvolumeclaim "lost" not found
    "#]],
    );
    // In-tree volumes are counted only on nodes with a CSINode.
    check(
        &mut cluster,
        &[bad_disk, "''"],
        expect![[r#"
            n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
            n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
            n3: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PersistentVolumeClaim had no name
        "#]],
    );
    cluster.object("{kind: PersistentVolumeClaim, metadata: {name: new-v0}}");
    check(
        &mut cluster,
        &["ephemeral: {}"],
        expect![[r#"
            n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
            n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
            n3: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: PVC default/new-v0 was not created for pod default/new (pod is not owner)
        "#]],
    );
}

#[test]
fn running_pods_with_uncountable_volumes_fail_the_attempt_on_nodes_with_limits() {
    let mut cluster = cluster();
    let bad_disk = "awsElasticBlockStore: {volumeID: 'aws://z/x'}";
    let bad = cluster.add_running(&pod("p1", "n1", &["lost", bad_disk]));
    cluster.add_running(&pod("p3", "n3", &[bad_disk]));
    let failing = expect![[r#"
        n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v1) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n2
        n3
    "#]];
    check(&mut cluster, &["f"], failing);
    let without = |node: &mut HypotheticalNode<'_, Pipeline>| node.remove_pod(&bad);
    expect![[r#"
        n1
        n2
        n3
    "#]]
    .assert_eq(&cluster.verdicts_with(&pod("new", "''", &["f"]), without));
    let second = cluster.pod(&pod("p2", "''", &[bad_disk]));
    let with_another = |node: &mut HypotheticalNode<'_, Pipeline>| {
        node.remove_pod(&bad);
        node.add_pod(&second);
    };
    expect![[r#"
        n1: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n2: Error NodeVolumeLimits: running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/x)
        n3
    "#]]
    .assert_eq(&cluster.verdicts_with(&pod("new", "''", &["f"]), with_another));
}

#[test]
fn hypothetical_pods_change_the_number_of_volumes() {
    let mut cluster = cluster();
    let old = cluster.add_running(&pod("p1", "n1", &["a", "b"]));
    let other = cluster.pod(&pod("p2", "''", &["c"]));
    let mut check =
        |volumes: &[&str], change_hypothetically: &dyn Fn(&mut HypotheticalNode<'_, Pipeline>), expected: Expect| {
            expected.assert_eq(&cluster.verdicts_with(&pod("new", "''", volumes), change_hypothetically));
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
fn the_plugin_skips_pods_without_counted_volumes() {
    let mut cluster = cluster();
    cluster.add_running(&pod("p1", "n1", &["awsElasticBlockStore: {volumeID: 'aws://z/x'}"]));
    check(
        &mut cluster,
        &["emptyDir: {}", "iscsi: {iqn: q, lun: 1, targetPortal: t}"],
        expect![[r#"
        n1
        n2
        n3
    "#]],
    );
}
