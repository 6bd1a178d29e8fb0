//! Pods whose volumes are found or made while they wait.

use expect_test::expect;

use super::*;

fn class(provisioner: &str, mode: &str) -> String {
    format!(
        "---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: c}}
provisioner: {provisioner}
volumeBindingMode: {mode}
"
    )
}

const CLAIM: &str = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: c, resources: {requests: {storage: 10Gi}}}
";

const LOCAL: &str = "---
apiVersion: v1
kind: PersistentVolume
metadata: {name: local}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: c
  local: {path: /data}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}
";

const VOLUMES: &str = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]";

#[test]
fn a_volume_is_made_where_the_pod_goes() {
    let manifests = node("n1", 4) + &class("csi.example.com", "WaitForFirstConsumer") + CLAIM + &pod("db", 1, VOLUMES);
    let mut cluster = cluster(&manifests);
    assert_eq!(cluster.run(), End::Idle);
    assert_eq!(cluster.pods(), "default/db on n1\n");
    let volumes: Vec<_> = cluster.server.list("PersistentVolume").map(|volume| volume.name().to_owned()).collect();
    assert_eq!(volumes, ["pvc-default-data"]);
}

#[test]
fn a_pod_goes_where_its_volume_is() {
    let class = class("kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    let mut cluster = cluster(&(node("n1", 4) + &node("n2", 4) + &class + LOCAL + CLAIM + &pod("db", 1, VOLUMES)));
    cluster.run();
    assert_eq!(cluster.pods(), "default/db on n2\n");
    let claim = cluster.server.list("PersistentVolumeClaim").next().unwrap().to_json().unwrap();
    assert_eq!((&claim["spec"]["volumeName"], &claim["status"]["phase"]), (&"local".into(), &"Bound".into()));
}

#[test]
fn a_pod_waits_for_its_claim() {
    let mut cluster = cluster(&(node("n1", 4) + &class("csi.example.com", "Immediate") + &pod("db", 1, VOLUMES)));
    cluster.run();
    expect![[r#"
        default/db: Unschedulable: 0/1 nodes are available: persistentvolumeclaim "data" not found. not found
    "#]]
    .assert_eq(&cluster.pods());
    cluster.apply(CLAIM);
    cluster.run();
    assert_eq!(cluster.pods(), "default/db on n1\n");
}
