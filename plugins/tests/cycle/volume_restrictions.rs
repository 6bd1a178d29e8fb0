//! Disks and claims that cannot be shared.

use expect_test::{Expect, expect};
use schedc_core::hypothetical::HypotheticalNode;

use crate::cycle::scheduler::volumes::Pipeline;
use crate::cycle::test_cluster::TestCluster;

fn pod(name: &str, namespace: &str, volumes: &str) -> String {
    format!("{{metadata: {{name: {name}, namespace: {namespace}}}, spec: {{nodeName: {name}, volumes: [{volumes}]}}}}")
}

fn claim(name: &str, mode: &str) -> String {
    format!("{{kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{accessModes: [{mode}]}}}}")
}

fn mounted(claim: &str) -> String {
    format!("{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}")
}

#[test]
fn disks_exclude_each_other_on_a_node() {
    const RBD: &str = "rbd: {monitors: [a, b], pool: p, image: i}";
    for (used, wanted, shared) in [
        ("gcePersistentDisk: {pdName: d}", "gcePersistentDisk: {pdName: d}", false),
        ("gcePersistentDisk: {pdName: d, readOnly: true}", "gcePersistentDisk: {pdName: d}", false),
        ("gcePersistentDisk: {pdName: d, readOnly: true}", "gcePersistentDisk: {pdName: d, readOnly: true}", true),
        ("gcePersistentDisk: {pdName: d}", "gcePersistentDisk: {pdName: e}", true),
        ("awsElasticBlockStore: {volumeID: d}", "awsElasticBlockStore: {volumeID: d}", false),
        (
            "awsElasticBlockStore: {volumeID: d, readOnly: true}",
            "awsElasticBlockStore: {volumeID: d, readOnly: true}",
            false,
        ),
        ("awsElasticBlockStore: {volumeID: d}", "gcePersistentDisk: {pdName: d}", true),
        ("iscsi: {iqn: q, targetPortal: a, lun: 1}", "iscsi: {iqn: q, targetPortal: b, lun: 2}", false),
        (
            "iscsi: {iqn: q, targetPortal: a, lun: 1, readOnly: true}",
            "iscsi: {iqn: q, targetPortal: a, lun: 1, readOnly: true}",
            true,
        ),
        (RBD, "rbd: {monitors: [b, c], pool: p, image: i}", false),
        (RBD, "rbd: {monitors: [c], pool: p, image: i}", true),
        (RBD, "rbd: {monitors: [a], pool: q, image: i}", true),
        (RBD, "rbd: {monitors: [a], pool: p, image: j}", true),
    ] {
        let mut cluster = TestCluster::<Pipeline>::new();
        cluster.node("metadata: {name: n1}");
        cluster.node("metadata: {name: n2}");
        cluster.add_running(&pod("n1", "a", &format!("{{name: v, {used}}}")));
        let verdicts = cluster.verdicts(&pod("new", "b", &format!("{{name: v, {wanted}}}")));
        let taken = "n1: Unschedulable VolumeRestrictions: node(s) had no available disk\nn2\n";
        assert_eq!(verdicts, if shared { "n1\nn2\n" } else { taken }, "{used} and {wanted}");
    }
}

fn check(
    volumes: &str,
    change_hypothetically: impl Fn(&mut HypotheticalNode<'_, Pipeline>),
    cluster: &mut TestCluster<Pipeline>,
    expected: Expect,
) {
    expected.assert_eq(&cluster.verdicts_with(&pod("new", "default", volumes), change_hypothetically));
}

#[test]
fn an_exclusive_claim_in_use_rejects_all_nodes_until_its_pod_goes() {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("metadata: {name: n1}");
    cluster.node("metadata: {name: n2}");
    cluster.object(&claim("mine", "ReadWriteOncePod"));
    cluster.object(&claim("ours", "ReadWriteMany"));
    check(
        &mounted("mine"),
        |_| (),
        &mut cluster,
        expect![[r#"
        n1
        n2
    "#]],
    );
    let first = cluster.add_running(&pod("n1", "default", &format!("{}, {}", mounted("mine"), mounted("ours"))));
    check(
        &mounted("ours"),
        |_| (),
        &mut cluster,
        expect![[r#"
        n1
        n2
    "#]],
    );
    check(
        &mounted("mine"),
        |_| (),
        &mut cluster,
        expect![[r#"
        n1: Unschedulable VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
        n2: Unschedulable VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
    "#]],
    );
    let without_first = |node: &mut HypotheticalNode<'_, Pipeline>| node.remove_pod(&first);
    check(
        &mounted("mine"),
        without_first,
        &mut cluster,
        expect![[r#"
        n1
        n2
    "#]],
    );
    // As in kube-scheduler, hypothetical pods are compared by claim names without namespaces.
    let stranger = cluster.pod(&pod("stranger", "elsewhere", &mounted("mine")));
    let exchanged = |node: &mut HypotheticalNode<'_, Pipeline>| {
        node.remove_pod(&first);
        node.add_pod(&stranger);
    };
    check(
        &mounted("mine"),
        exchanged,
        &mut cluster,
        expect![[r#"
        n1: Unschedulable VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
        n2: Unschedulable VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
    "#]],
    );
    let back = |node: &mut HypotheticalNode<'_, Pipeline>| {
        node.remove_pod(&first);
        node.add_pod(&first);
    };
    let before = cluster.verdicts(&pod("new", "default", &mounted("mine")));
    assert_eq!(cluster.verdicts_with(&pod("new", "default", &mounted("mine")), back), before);
}

#[test]
fn a_claim_in_another_namespace_is_another_claim() {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("metadata: {name: n1}");
    cluster.object(&claim("mine", "ReadWriteOncePod"));
    cluster.add_running(&pod("n1", "elsewhere", &mounted("mine")));
    check(
        &mounted("mine"),
        |_| (),
        &mut cluster,
        expect![[r#"
        n1
    "#]],
    );
}

#[test]
fn a_claim_that_does_not_exist_rejects_the_pod() {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("metadata: {name: n1}");
    let ephemeral = "{name: v, ephemeral: {}}";
    for (volumes, expected) in [
        (
            mounted("lost"),
            expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeRestrictions: persistentvolumeclaim "lost" not found
        "#]],
        ),
        (
            ephemeral.to_owned(),
            expect![[r#"
            n1
        "#]],
        ),
    ] {
        check(&volumes, |_| (), &mut cluster, expected);
    }
}
