//! Pods that follow their volumes.

use expect_test::expect;

use crate::simulation::{nodes, outcome};

const NODES: [(&str, &str); 3] = [("n1", "a"), ("n2", "a"), ("n3", "b")];

/// Returns a pod of the StatefulSet `db`, and its claim.
fn replica(ordinal: u32, claim: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data-db-{ordinal}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 10Gi}}}}, {claim}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: db-{ordinal}
  labels: {{app: db}}
  ownerReferences: [{{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: '1', controller: true}}]
spec:
  containers: [{{name: db, image: postgres}}]
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: data-db-{ordinal}}}}}]
"
    )
}

/// Returns a volume of 10 GiB for nodes with this label.
fn volume(name: &str, label: &str, value: &str, more: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: 10Gi}}
  accessModes: [ReadWriteOnce]
  csi: {{driver: csi.example.com, volumeHandle: {name}}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [
    {{matchExpressions: [{{key: {label}, operator: In, values: [{value}]}}]}}]}}}}
  {more}
"
    )
}

/// Returns a storage class, which is the default one.
fn class(name: &str, provisioner: &str, more: &str) -> String {
    format!(
        "---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {name}, annotations: {{storageclass.kubernetes.io/is-default-class: 'true'}}}}
provisioner: {provisioner}
{more}
"
    )
}

#[test]
fn a_pod_follows_its_zonal_volume() {
    let volume = volume("pv-b", "topology.kubernetes.io/zone", "b", "");
    let replica = replica(0, "storageClassName: '', volumeName: pv-b");
    expect![[r#"
        default/db-0 on n3
    "#]]
    .assert_eq(&outcome(&(nodes(&NODES) + &volume + &replica)));
    expect![[r#"
        default/db-0: 0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
    "#]].assert_eq(&outcome(&(nodes(&NODES[..2]) + &volume + &replica)));
}

#[test]
fn each_local_volume_is_bound_once() {
    let class = class("local", "kubernetes.io/no-provisioner", "volumeBindingMode: WaitForFirstConsumer");
    let local = |name: &str, node: &str| volume(name, "kubernetes.io/hostname", node, "storageClassName: local");
    let replicas: String = (0..3).map(|ordinal| replica(ordinal, "")).collect();
    let manifests = nodes(&NODES) + &class + &local("pv-1", "n1") + &local("pv-3", "n3") + &replicas;
    expect![[r#"
        default/db-0 on n3
        default/db-1 on n1
        default/db-2: 0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn volumes_are_provisioned_in_allowed_topologies() {
    // The claim has no class and gets the default one.
    let allowed = "volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]";
    let manifests = nodes(&NODES) + &class("fast", "csi.example.com", allowed) + &replica(0, "");
    expect![[r#"
        default/db-0 on n3
    "#]]
    .assert_eq(&outcome(&manifests));
}

#[test]
fn immediate_claims_must_be_bound() {
    // `Immediate` is the default binding mode.
    let without_provisioner = nodes(&NODES) + &class("slow", "kubernetes.io/no-provisioner", "") + &replica(0, "");
    expect![[r#"
        default/db-0: 0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found
    "#]]
    .assert_eq(&outcome(&without_provisioner));
    let with_provisioner = nodes(&NODES) + &class("fast", "csi.example.com", "") + &replica(0, "");
    expect![[r#"
        default/db-0 on n3
    "#]]
    .assert_eq(&outcome(&with_provisioner));
}

#[test]
fn a_missing_claim_is_an_error() {
    let pod = replica(0, "").split_once("\n---\n").unwrap().1.to_owned();
    expect![[r#"
        default/db-0: 0/3 nodes are available: persistentvolumeclaim "data-db-0" not found. not found
    "#]]
    .assert_eq(&outcome(&(nodes(&NODES) + "---\n" + &pod)));
}
