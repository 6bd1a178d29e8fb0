//! Claims, and the volumes that exist or can be provisioned for them.

use expect_test::{Expect, expect};

use crate::cycle::scheduler::storage::Pipeline;
use crate::cycle::test_cluster::TestCluster;

/// Creates two nodes in zones `a` and `b`, and classes for claims that wait for their first consumer. The class `made`
/// has a provisioner, `found` has none, `tight` has a provisioner that reports its capacity, and `local` is restricted
/// to zone `b`.
fn cluster(objects: &[&str]) -> TestCluster<Pipeline> {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("metadata: {name: n1, labels: {zone: a}}");
    cluster.node("metadata: {name: n2, labels: {zone: b}}");
    for (name, provisioner, topologies) in [
        ("made", "p", "[]"),
        ("found", "kubernetes.io/no-provisioner", "[]"),
        ("tight", "csi", "[]"),
        ("local", "p", "[{matchLabelExpressions: [{key: zone, values: [b]}]}]"),
    ] {
        cluster.object(&format!(
            "{{kind: StorageClass, metadata: {{name: {name}}}, provisioner: {provisioner}, allowedTopologies: {topologies},
               volumeBindingMode: WaitForFirstConsumer}}"
        ));
    }
    cluster.object("{kind: CSIDriver, metadata: {name: csi}, spec: {storageCapacity: true}}");
    objects.iter().for_each(|object| cluster.object(object));
    cluster
}

fn volume(name: &str, zone: &str, size: &str, spec: &str) -> String {
    format!(
        "{{kind: PersistentVolume, metadata: {{name: {name}}}, status: {{phase: Available}}, spec: {{capacity: {{storage: {size}}},
           accessModes: [ReadWriteOnce], nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [
           {{key: zone, operator: In, values: [{zone}]}}]}}]}}}}, {spec}}}}}"
    )
}

fn claim(name: &str, size: &str, spec: &str) -> String {
    format!(
        "{{kind: PersistentVolumeClaim, metadata: {{name: {name}, uid: {name}, annotations: {{pv.kubernetes.io/bind-completed: ''}}}},
           spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}, {spec}}}}}"
    )
}

fn pod(claims: &[&str]) -> String {
    let volume = |claim: &&str| format!("{{name: {claim}, persistentVolumeClaim: {{claimName: {claim}}}}}");
    let volumes: Vec<_> = claims.iter().map(volume).collect();
    format!("metadata: {{name: p}}\nspec: {{volumes: [{}]}}", volumes.join(", "))
}

fn check(objects: &[String], claims: &[&str], expected: Expect) {
    let objects: Vec<_> = objects.iter().map(String::as_str).collect();
    expected.assert_eq(&cluster(&objects).verdicts(&pod(claims)));
}

#[test]
fn nodes_must_match_the_affinity_of_bound_volumes() {
    check(
        &[volume("v", "a", "1", ""), claim("c", "1", "volumeName: v")],
        &["c"],
        expect![[r#"
            n1
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't match PersistentVolume's node affinity
        "#]],
    );
    check(
        &[volume("v", "a", "1", ""), claim("c", "1", "volumeName: v"), claim("d", "1", "volumeName: w")],
        &["c", "d"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't match PersistentVolume's node affinity
        "#]],
    );
}

#[test]
fn in_tree_volumes_use_the_topology_of_their_csi_driver_where_they_are_migrated() {
    let disk =
        "awsElasticBlockStore: {volumeID: vol-1}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
                  {key: topology.kubernetes.io/zone, operator: In, values: [z]}]}]}}";
    let volume = |disk: &str| format!("{{kind: PersistentVolume, metadata: {{name: v}}, spec: {{{disk}}}}}");
    let migrated = "{kind: CSINode, metadata: {name: n1, annotations: {storage.alpha.kubernetes.io/migrated-plugins: kubernetes.io/aws-ebs}},
                     spec: {drivers: []}}";
    let claim = claim("c", "1", "volumeName: v");
    for (disk, labels, expected) in [
        (
            disk,
            "topology.ebs.csi.aws.com/zone: z",
            expect![[r#"
                n1
                n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't match PersistentVolume's node affinity
            "#]],
        ),
        (
            disk,
            "topology.kubernetes.io/zone: z",
            expect![[r#"
                n1: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't match PersistentVolume's node affinity
                n2
            "#]],
        ),
        (
            "awsElasticBlockStore: {volumeID: 'aws://z/1'}",
            "zone: z",
            expect![[r#"
                n1: Error VolumeBinding: running "VolumeBinding" filter plugin: could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/1)
                n2
            "#]],
        ),
    ] {
        let mut cluster = cluster(&[&volume(disk), migrated, &claim]);
        ["n1", "n2"].iter().for_each(|n| cluster.node(&format!("metadata: {{name: {n}, labels: {{{labels}}}}}")));
        expected.assert_eq(&cluster.verdicts(&pod(&["c"])));
    }
}

#[test]
fn the_smallest_volume_that_fits_is_taken() {
    const FOUND: &str = "storageClassName: found";
    // The small claim takes the small volume regardless of its position, so the large claim fits too.
    check(
        &[
            volume("large", "a", "9", FOUND),
            volume("small", "a", "2", FOUND),
            claim("large", "8", FOUND),
            claim("small", "1", FOUND),
        ],
        &["large", "small"],
        expect![[r#"
            n1
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
        "#]],
    );
    check(
        &[volume("large", "a", "9", FOUND), claim("c", "1", FOUND), claim("d", "1", FOUND)],
        &["c", "d"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
        "#]],
    );
}

#[test]
fn volumes_that_do_not_match_the_claim_are_not_bound() {
    const CLAIM: &str =
        "storageClassName: found, selector: {matchLabels: {disk: fast}}, volumeAttributesClassName: gold";
    const FITS: &str = "kind: PersistentVolume
metadata: {name: v, labels: {disk: fast}}
spec: {storageClassName: found, capacity: {storage: 10}, accessModes: [ReadWriteOnce], volumeAttributesClassName: gold}
status: {phase: Available}";
    for (from, to, fits) in [
        ("", "", true),
        ("storage: 10", "storage: 1", false),
        ("accessModes: [ReadWriteOnce]", "accessModes: [ReadOnlyMany]", false),
        ("accessModes: [ReadWriteOnce]", "accessModes: [ReadOnlyMany, ReadWriteOnce]", true),
        ("accessModes", "volumeMode: Block, accessModes", false),
        ("disk: fast", "disk: slow", false),
        ("gold", "silver", false),
        ("found", "made", false),
        ("Available", "Released", false),
        ("name: v", "name: v, deletionTimestamp: '2024-01-01T00:00:00Z'", false),
        ("spec: {", "spec: {claimRef: {namespace: default, name: other}, ", false),
        ("spec: {", "spec: {claimRef: {namespace: default, name: c, uid: old}, ", false),
        ("spec: {", "spec: {claimRef: {namespace: default, name: c}, ", true),
    ] {
        let volume = FITS.replace(from, to);
        let verdicts = cluster(&[&volume, &claim("c", "5", CLAIM)]).verdicts(&pod(&["c"]));
        assert_eq!(verdicts == "n1\nn2\n", fits, "{to}: {verdicts}");
    }
}

#[test]
fn only_the_prebound_volume_is_chosen() {
    let own = "storageClassName: found, claimRef: {namespace: default, name: c, uid: c}";
    // For a volume that is reserved for the claim, phase and access modes are not checked.
    let own = volume("own", "a", "9", own).replace("Available", "Bound").replace("ReadWriteOnce", "ReadOnlyMany");
    check(
        &[own, volume("other", "b", "5", "storageClassName: found"), claim("c", "5", "storageClassName: found")],
        &["c"],
        expect![[r#"
            n1
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
        "#]],
    );
}

#[test]
fn volumes_are_provisioned_in_allowed_topologies() {
    check(&[claim("c", "5", "storageClassName: made")], &["c"], expect!["n1\nn2\n"]);
    check(
        &[claim("c", "5", "storageClassName: local")],
        &["c"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
            n2
        "#]],
    );
    let selected = claim("c", "5", "storageClassName: made")
        .replace("bind-completed", "x")
        .replace("pv.kubernetes.io/x: ''", "volume.kubernetes.io/selected-node: n2");
    check(
        &[selected],
        &["c"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) didn't find available persistent volumes to bind
            n2
        "#]],
    );
}

#[test]
fn volumes_are_provisioned_with_enough_capacity() {
    let capacity = |name: &str, zone: &str, size: &str| {
        format!(
            "{{kind: CSIStorageCapacity, metadata: {{name: {name}}}, storageClassName: tight, nodeTopology: {{matchLabels: {{zone: {zone}}}}}, {size}}}"
        )
    };
    check(
        &[
            claim("c", "5", "storageClassName: tight"),
            capacity("r1", "a", "capacity: 9, maximumVolumeSize: 4"),
            capacity("r2", "b", "capacity: 4500m"),
        ],
        &["c"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) did not have enough free storage
            n2
        "#]],
    );
    let unreachable = "{kind: CSIStorageCapacity, metadata: {name: x}, storageClassName: tight, capacity: 9}";
    check(
        &[claim("c", "5", "storageClassName: tight"), unreachable.into()],
        &["c"],
        expect![[r#"
            n1: UnschedulableAndUnresolvable VolumeBinding: node(s) did not have enough free storage
            n2: UnschedulableAndUnresolvable VolumeBinding: node(s) did not have enough free storage
        "#]],
    );
}

#[test]
fn unusable_claims_reject_the_pod() {
    let ephemeral = "metadata: {name: p, uid: u}\nspec: {volumes: [{name: v, ephemeral: {}}]}";
    let named = pod(&["c"]);
    for (object, pod, expected) in [
        ("metadata: {name: other}", &*named, "persistentvolumeclaim \"c\" not found"),
        ("metadata: {name: c}", &named, "pod has unbound immediate PersistentVolumeClaims"),
        ("metadata: {name: c}, spec: {volumeName: v}", &named, "pod has unbound immediate PersistentVolumeClaims"),
        (
            "metadata: {name: c}, spec: {volumeName: v, storageClassName: made}",
            &named,
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            "metadata: {name: c}, spec: {volumeName: v}, status: {phase: Lost}",
            &named,
            "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\"",
        ),
        (
            "metadata: {name: c, deletionTimestamp: '2024-01-01T00:00:00Z'}",
            &named,
            "persistentvolumeclaim \"c\" is being deleted",
        ),
        (
            "metadata: {name: other}",
            ephemeral,
            "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"",
        ),
        (
            "metadata: {name: p-v, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]}",
            ephemeral,
            "PVC default/p-v was not created for pod default/p (pod is not owner)",
        ),
        (
            "metadata: {name: p-v, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}",
            ephemeral,
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ] {
        let object = format!("{{kind: PersistentVolumeClaim, {object}}}");
        let message = cluster(&[&object]).decide(pod);
        assert_eq!(message.trim(), format!("0/2 nodes are available: {expected}."), "{object}");
    }
}

#[test]
fn invalid_classes_and_selectors_are_errors() {
    let class = "{kind: StorageClass, metadata: {name: odd}, provisioner: p}";
    let message = cluster(&[class, &claim("c", "1", "storageClassName: odd")]).decide(&pod(&["c"]));
    assert_eq!(
        message,
        "running PreFilter plugin \"VolumeBinding\": VolumeBindingMode not set for StorageClass \"odd\""
    );
    let selector = "storageClassName: made, selector: {matchExpressions: [{key: a, operator: Near}]}";
    let message = cluster(&[&claim("c", "1", selector)]).decide(&pod(&["c"]));
    assert_eq!(
        message,
        "running \"VolumeBinding\" filter plugin: error creating internal label selector for claim: default/c: \
         \"Near\" is not a valid label selector operator"
    );
}
