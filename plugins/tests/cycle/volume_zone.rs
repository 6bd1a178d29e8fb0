//! Volumes and nodes in zones.

use crate::cycle::scheduler::zones::Pipeline;
use crate::cycle::test_cluster::TestCluster;

const POD: &str = "spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}";

#[test]
fn volumes_keep_pods_in_their_zones() {
    const ZONE: &str = "topology.kubernetes.io/zone";
    const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
    const REGION: &str = "topology.kubernetes.io/region";
    for (volume, node, fits) in [
        (format!("{ZONE}: a"), format!("{ZONE}: a"), true),
        (format!("{ZONE}: a"), format!("{ZONE}: b"), false),
        (format!("{ZONE}: a__b"), format!("{ZONE}: b"), true),
        (format!("{ZONE}: a__"), format!("{ZONE}: b"), true),
        (format!("{ZONE}: a, {REGION}: r"), format!("{ZONE}: a, {REGION}: s"), false),
        (format!("{ZONE}: a"), format!("{REGION}: r"), false),
        (format!("{ZONE}: a"), "other: b".into(), true),
        (format!("{BETA_ZONE}: a"), format!("{ZONE}: a"), true),
        (format!("{BETA_ZONE}: a"), format!("{ZONE}: a, {BETA_ZONE}: b"), false),
        (format!("{ZONE}: a"), format!("{BETA_ZONE}: a"), false),
    ] {
        let mut cluster = TestCluster::<Pipeline>::new();
        cluster.node(&format!("metadata: {{name: n1, labels: {{{node}}}}}"));
        cluster.object(&format!("{{kind: PersistentVolume, metadata: {{name: v, labels: {{{volume}}}}}}}"));
        cluster.object("{kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: v}}");
        let reason = ": UnschedulableAndUnresolvable VolumeZone: node(s) had no available volume zone";
        let expected = format!("n1{}\n", if fits { "" } else { reason });
        assert_eq!(cluster.verdicts(POD), expected, "volume {volume}, node {node}");
    }
}

#[test]
fn claims_without_a_volume_reject_the_pod_unless_they_wait_for_it() {
    const CLASSES: [&str; 3] = [
        "{kind: StorageClass, metadata: {name: late}, provisioner: p, volumeBindingMode: WaitForFirstConsumer}",
        "{kind: StorageClass, metadata: {name: now}, provisioner: p, volumeBindingMode: Immediate}",
        "{kind: StorageClass, metadata: {name: odd}, provisioner: p}",
    ];
    for (claim, expected) in [
        ("metadata: {name: c}, spec: {storageClassName: late}", None),
        ("metadata: {name: other}", Some("persistentvolumeclaim \"c\" not found")),
        ("metadata: {name: c}", Some("PersistentVolumeClaim had no pv name and storageClass name")),
        ("metadata: {name: c}, spec: {storageClassName: x}", Some("storageclass.storage.k8s.io \"x\" not found")),
        ("metadata: {name: c}, spec: {storageClassName: now}", Some("PersistentVolume had no name")),
        (
            "metadata: {name: c}, spec: {storageClassName: odd}",
            Some("VolumeBindingMode not set for StorageClass \"odd\""),
        ),
        ("metadata: {name: c}, spec: {volumeName: v}", Some("persistentvolume \"v\" not found")),
    ] {
        let mut cluster = TestCluster::<Pipeline>::new();
        cluster.node("metadata: {name: n1}");
        CLASSES.iter().for_each(|class| cluster.object(class));
        cluster.object(&format!("{{kind: PersistentVolumeClaim, {claim}}}"));
        let expected = expected.map_or("n1".into(), |reason| format!("0/1 nodes are available: {reason}."));
        assert_eq!(cluster.decide(POD).trim(), expected, "{claim}");
    }
}
