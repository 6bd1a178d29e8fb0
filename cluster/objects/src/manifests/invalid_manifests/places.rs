//! Fields in wrong places.

use expect_test::expect;

use super::{check, node, pod};
use crate::manifests::Manifests;

#[test]
fn misplaced_fields_of_pods_are_errors() {
    pod(
        "nodeSelector: {pool: gpu}",
        expect!["a.yaml:4: Pod default/a: nodeSelector: unknown field; `nodeSelector` belongs in `spec`"],
    );
    pod(
        "labels: {app: web}",
        expect!["a.yaml:4: Pod default/a: labels: unknown field; `labels` belongs in `metadata`"],
    );
    pod(
        "metadata: {name: a, schedulerName: edge}",
        expect!["a.yaml:3: Pod default/a: metadata.schedulerName: unknown field; `schedulerName` belongs in `spec`"],
    );
    pod(
        "spec: {labels: {app: web}}",
        expect!["a.yaml:4: Pod default/a: spec.labels: unknown field; `labels` belongs in `metadata`"],
    );
    pod(
        "spec: {nodeAffinity: {}}",
        expect!["a.yaml:4: Pod default/a: spec.nodeAffinity: unknown field; `nodeAffinity` belongs in `spec.affinity`"],
    );
    pod(
        "spec: {affinity: {nodeAffinity: {nodeSelectorTerms: []}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.nodeAffinity.nodeSelectorTerms: unknown field; `nodeSelectorTerms` belongs in `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution`"
        ],
    );
    pod(
        "spec: {matchExpressions: []}",
        expect![
            "a.yaml:4: Pod default/a: spec.matchExpressions: unknown field; `matchExpressions` belongs in `spec.topologySpreadConstraints.labelSelector`"
        ],
    );
    pod(
        "spec: {containers: [{name: c, tolerations: []}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].tolerations: unknown field; `tolerations` belongs in `spec`"
        ],
    );
    pod(
        "spec: {containers: [{name: c, requests: {cpu: 1}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].requests: unknown field; `requests` belongs in `spec.containers.resources`"
        ],
    );
    pod(
        "spec: {containers: [{name: c, resources: {cpu: 1}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.cpu: unknown field; the fields here are claims, limits, requests"
        ],
    );
    pod(
        "spec: {containers: [{name: c, hostPort: 80}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].hostPort: unknown field; `hostPort` belongs in `spec.containers.ports`"
        ],
    );
    pod(
        "spec: {image: nginx}",
        expect!["a.yaml:4: Pod default/a: spec.image: unknown field; did you mean `imagePullSecrets`?"],
    );
    pod(
        "spec: {taints: []}",
        expect!["a.yaml:4: Pod default/a: spec.taints: unknown field; no field here has a similar name"],
    );
}

#[test]
fn misplaced_fields_of_nodes_are_errors() {
    node(
        "spec: {allocatable: {cpu: 4}}",
        expect!["a.yaml:4: Node a: spec.allocatable: unknown field; `allocatable` belongs in `status`"],
    );
    node("status: {taints: []}", expect!["a.yaml:4: Node a: status.taints: unknown field; `taints` belongs in `spec`"]);
    node("taints: []", expect!["a.yaml:4: Node a: taints: unknown field; `taints` belongs in `spec`"]);
    node(
        "metadata: {name: n1, unschedulable: true}",
        expect!["a.yaml:3: Node n1: metadata.unschedulable: unknown field; `unschedulable` belongs in `spec`"],
    );
}

#[test]
fn misspelt_fields_of_objects_of_a_cluster_are_not_read() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}, spec: {containers: [], nodeSelecter: [5]}}";
    let manifests = Manifests::parse("a.yaml", text).unwrap();
    assert_eq!(manifests.pods[0].object.spec.as_ref().unwrap().node_selector, None);
}

#[test]
fn misplaced_fields_of_other_objects_are_errors() {
    check(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, minAvailable: 1}",
        expect![
            "a.yaml:1: PodDisruptionBudget default/b: minAvailable: unknown field; `minAvailable` belongs in `spec`"
        ],
    );
    check(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {matchLabels: {app: web}}}",
        expect![
            "a.yaml:1: PodDisruptionBudget default/b: spec.matchLabels: unknown field; `matchLabels` belongs in `spec.selector`"
        ],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {requests: {storage: 1Gi}}}",
        expect![
            "a.yaml:1: PersistentVolumeClaim default/c: spec.requests: unknown field; `requests` belongs in `spec.resources`"
        ],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, spec: {provisioner: a}}",
        expect![
            "a.yaml:1: StorageClass s: spec: unknown field; the fields here are apiVersion, kind, allowVolumeExpansion, allowedTopologies, metadata, mountOptions, parameters, provisioner, reclaimPolicy, volumeBindingMode"
        ],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s, volumeBindingMode: Immediate}, provisioner: a}",
        expect![
            "a.yaml:1: StorageClass s: metadata.volumeBindingMode: unknown field; `volumeBindingMode` is a field of the object itself, next to `metadata`"
        ],
    );
    check(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, spec: {value: 5}}",
        expect![
            "a.yaml:1: PriorityClass p: spec: unknown field; the fields here are apiVersion, kind, description, globalDefault, metadata, preemptionPolicy, value"
        ],
    );
    check(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {matchLabels: {app: web}}}",
        expect![
            "a.yaml:1: ReplicaSet default/r: spec.matchLabels: unknown field; `matchLabels` belongs in `spec.selector`"
        ],
    );
}
