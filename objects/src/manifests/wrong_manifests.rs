//! Manifests with one mistake each, which no scheduler may get to see, and what is said of them.

use expect_test::{Expect, expect};

use super::Manifests;
use crate::{Objects, Options};

/// Reads a manifest as `simulate` does.
fn check(manifest: &str, expected: Expect) {
    let objects =
        Manifests::parse("a.yaml", manifest).and_then(|manifests| Objects::new(manifests, Options::default()));
    match objects {
        Ok(_) => panic!("nothing is said of {manifest}"),
        Err(error) => expected.assert_eq(&error.to_string()),
    }
}

/// Fields of a Pod. It has a name unless they say so.
fn pod(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Pod\n{}", block(fields)), expected);
}

/// Fields of a Node.
fn node(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Node\n{}", block(fields)), expected);
}

/// Fields in the third line, with a name before if it is missing.
fn block(fields: &str) -> String {
    if fields.starts_with("metadata:") { fields.to_owned() } else { format!("metadata: {{name: a}}\n{fields}") }
}

#[test]
fn misspelt_fields_of_pods() {
    pod(
        "metadata: {name: a, lables: {app: web}}",
        expect!["a.yaml:3: Pod default/a: metadata.lables: unknown field; did you mean `labels`?"],
    );
    pod(
        "metadata: {name: a, namespce: shop}",
        expect!["a.yaml:3: Pod default/a: metadata.namespce: unknown field; did you mean `namespace`?"],
    );
    pod(
        "metadata: {name: a, ownerReference: [{kind: ReplicaSet, name: web}]}",
        expect!["a.yaml:3: Pod default/a: metadata.ownerReference: unknown field; did you mean `ownerReferences`?"],
    );
    pod(
        "metadata: {name: a, ownerReferences: [{kind: ReplicaSet, nam: web}]}",
        expect!["a.yaml:3: Pod default/a: metadata.ownerReferences[0].nam: unknown field; did you mean `name`?"],
    );
    pod(
        "metadata: {name: a, deletionTimestmp: 2026-01-31T12:00:00Z}",
        expect!["a.yaml:3: Pod default/a: metadata.deletionTimestmp: unknown field; did you mean `deletionTimestamp`?"],
    );
    pod("spce: {}", expect!["a.yaml:4: Pod default/a: spce: unknown field; did you mean `spec`?"]);
    pod(
        "spec: {nodeSelecter: {pool: gpu}}",
        expect!["a.yaml:4: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?"],
    );
    pod(
        "spec: {nodeNmae: n1}",
        expect!["a.yaml:4: Pod default/a: spec.nodeNmae: unknown field; did you mean `nodeName`?"],
    );
    pod(
        "spec: {schedulerNam: edge}",
        expect!["a.yaml:4: Pod default/a: spec.schedulerNam: unknown field; did you mean `schedulerName`?"],
    );
    pod(
        "spec: {priorityClass: high}",
        expect!["a.yaml:4: Pod default/a: spec.priorityClass: unknown field; did you mean `priorityClassName`?"],
    );
    pod(
        "spec: {preemtionPolicy: Never}",
        expect!["a.yaml:4: Pod default/a: spec.preemtionPolicy: unknown field; did you mean `preemptionPolicy`?"],
    );
    pod(
        "spec: {schedulingGate: [{name: quota}]}",
        expect!["a.yaml:4: Pod default/a: spec.schedulingGate: unknown field; did you mean `schedulingGates`?"],
    );
    pod(
        "spec: {hostnetwork: true}",
        expect!["a.yaml:4: Pod default/a: spec.hostnetwork: unknown field; did you mean `hostNetwork`?"],
    );
    pod(
        "spec: {overhed: {cpu: 1}}",
        expect!["a.yaml:4: Pod default/a: spec.overhed: unknown field; did you mean `overhead`?"],
    );
    pod(
        "spec: {toleration: [{operator: Exists}]}",
        expect!["a.yaml:4: Pod default/a: spec.toleration: unknown field; did you mean `tolerations`?"],
    );
    pod(
        "spec: {tolerations: [{key: a, efect: NoSchedule}]}",
        expect!["a.yaml:4: Pod default/a: spec.tolerations[0].efect: unknown field; did you mean `effect`?"],
    );
    pod(
        "spec: {tolerations: [{key: a, opertor: Exists}]}",
        expect!["a.yaml:4: Pod default/a: spec.tolerations[0].opertor: unknown field; did you mean `operator`?"],
    );
    pod(
        "spec: {tolerations: [{key: a, operator: Exists, tolerationsSeconds: 5}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.tolerations[0].tolerationsSeconds: unknown field; did you mean `tolerationSeconds`?"
        ],
    );
    pod(
        "spec: {afinity: {}}",
        expect!["a.yaml:4: Pod default/a: spec.afinity: unknown field; did you mean `affinity`?"],
    );
    pod(
        "spec: {affinity: {nodeAfinity: {}}}",
        expect!["a.yaml:4: Pod default/a: spec.affinity.nodeAfinity: unknown field; did you mean `nodeAffinity`?"],
    );
    pod(
        "spec: {affinity: {nodeAffinity: {requiredDuringScheduling: {}}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.nodeAffinity.requiredDuringScheduling: unknown field; did you mean `requiredDuringSchedulingIgnoredDuringExecution`?"
        ],
    );
    pod(
        "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerm: []}}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerm: unknown field; did you mean `nodeSelectorTerms`?"
        ],
    );
    pod(
        "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpresions: []}]}}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpresions: unknown field; did you mean `matchExpressions`?"
        ],
    );
    pod(
        "spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preferences: {}}]}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preferences: unknown field; did you mean `preference`?"
        ],
    );
    pod(
        "spec: {affinity: {podAntiAfinity: {}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.podAntiAfinity: unknown field; did you mean `podAntiAffinity`?"
        ],
    );
    pod(
        "spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topolgyKey: zone}]}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topolgyKey: unknown field; did you mean `topologyKey`?"
        ],
    );
    pod(
        "spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelecter: {}}]}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelecter: unknown field; did you mean `labelSelector`?"
        ],
    );
    pod(
        "spec: {affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityterms: {}}]}}}",
        expect![
            "a.yaml:4: Pod default/a: spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityterms: unknown field; did you mean `podAffinityTerm`?"
        ],
    );
    pod(
        "spec: {topologySpreadConstraint: []}",
        expect![
            "a.yaml:4: Pod default/a: spec.topologySpreadConstraint: unknown field; did you mean `topologySpreadConstraints`?"
        ],
    );
    pod(
        "spec: {topologySpreadConstraints: [{maxScew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.topologySpreadConstraints[0].maxScew: unknown field; did you mean `maxSkew`?"
        ],
    );
    pod(
        "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfyable: DoNotSchedule}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.topologySpreadConstraints[0].whenUnsatisfyable: unknown field; did you mean `whenUnsatisfiable`?"
        ],
    );
    pod(
        "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomain: 3}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.topologySpreadConstraints[0].minDomain: unknown field; did you mean `minDomains`?"
        ],
    );
    pod(
        "spec: {container: [{name: c}]}",
        expect!["a.yaml:4: Pod default/a: spec.container: unknown field; did you mean `containers`?"],
    );
    pod(
        "spec: {containers: [{name: c, imag: nginx}]}",
        expect!["a.yaml:4: Pod default/a: spec.containers[0].imag: unknown field; did you mean `image`?"],
    );
    pod(
        "spec: {containers: [{name: c, resource: {}}]}",
        expect!["a.yaml:4: Pod default/a: spec.containers[0].resource: unknown field; did you mean `resources`?"],
    );
    pod(
        "spec: {containers: [{name: c}, {name: d, resources: {request: {cpu: 1}}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[1].resources.request: unknown field; did you mean `requests`?"
        ],
    );
    pod(
        "spec: {containers: [{name: c, ports: [{containerPort: 80, hostport: 80}]}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].ports[0].hostport: unknown field; did you mean `hostPort`?"
        ],
    );
    pod(
        "spec: {containers: [], initContainer: []}",
        expect!["a.yaml:4: Pod default/a: spec.initContainer: unknown field; did you mean `initContainers`?"],
    );
    pod(
        "spec: {containers: [], volumes: [{name: v, persistentVolumeClaims: {claimName: data}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.volumes[0].persistentVolumeClaims: unknown field; did you mean `persistentVolumeClaim`?"
        ],
    );
    pod(
        "spec: {containers: [], volumes: [{name: v, persistentVolumeClaim: {claim: data}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.volumes[0].persistentVolumeClaim.claim: unknown field; did you mean `claimName`?"
        ],
    );
    pod(
        "spec: {containers: [], resourceClaim: []}",
        expect!["a.yaml:4: Pod default/a: spec.resourceClaim: unknown field; did you mean `resourceClaims`?"],
    );
}

#[test]
fn misspelt_fields_of_nodes() {
    node(
        "metadata: {name: n1, label: {zone: a}}",
        expect!["a.yaml:3: Node n1: metadata.label: unknown field; did you mean `labels`?"],
    );
    node(
        "spec: {taint: [{key: a, effect: NoSchedule}]}",
        expect!["a.yaml:4: Node a: spec.taint: unknown field; did you mean `taints`?"],
    );
    node(
        "spec: {taints: [{key: a, affect: NoSchedule}]}",
        expect!["a.yaml:4: Node a: spec.taints[0].affect: unknown field; did you mean `effect`?"],
    );
    node(
        "spec: {unschedulabel: true}",
        expect!["a.yaml:4: Node a: spec.unschedulabel: unknown field; did you mean `unschedulable`?"],
    );
    node(
        "status: {allocatible: {cpu: 4}}",
        expect!["a.yaml:4: Node a: status.allocatible: unknown field; did you mean `allocatable`?"],
    );
    node(
        "status: {capacty: {cpu: 4}}",
        expect!["a.yaml:4: Node a: status.capacty: unknown field; did you mean `capacity`?"],
    );
    node(
        "status: {image: [{names: [nginx], sizeBytes: 1}]}",
        expect!["a.yaml:4: Node a: status.image: unknown field; did you mean `images`?"],
    );
    node(
        "status: {images: [{names: [nginx], sizeByte: 1}]}",
        expect!["a.yaml:4: Node a: status.images[0].sizeByte: unknown field; did you mean `sizeBytes`?"],
    );
}

#[test]
fn misspelt_fields_of_other_objects() {
    check(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {storageClass: fast}}",
        expect![
            "a.yaml:1: PersistentVolumeClaim default/c: spec.storageClass: unknown field; did you mean `storageClassName`?"
        ],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {resources: {request: {storage: 1Gi}}}}",
        expect![
            "a.yaml:1: PersistentVolumeClaim default/c: spec.resources.request: unknown field; did you mean `requests`?"
        ],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {nodeAfinity: {}}}",
        expect!["a.yaml:1: PersistentVolume v: spec.nodeAfinity: unknown field; did you mean `nodeAffinity`?"],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: a, volumeBindMode: Immediate}",
        expect!["a.yaml:1: StorageClass s: volumeBindMode: unknown field; did you mean `volumeBindingMode`?"],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: s}, spec: {drivers: [{name: a, nodeID: n1, allocatible: {count: 5}}]}}",
        expect!["a.yaml:1: CSINode s: spec.drivers[0].allocatible: unknown field; did you mean `allocatable`?"],
    );
    check(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {minAvailble: 1}}",
        expect![
            "a.yaml:1: PodDisruptionBudget default/b: spec.minAvailble: unknown field; did you mean `minAvailable`?"
        ],
    );
    check(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, vaule: 5}",
        expect!["a.yaml:1: PriorityClass p: vaule: unknown field; did you mean `value`?"],
    );
    check(
        "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selectors: {app: web}}}",
        expect!["a.yaml:1: Service default/s: spec.selectors: unknown field; did you mean `selector`?"],
    );
    check(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {selector: {matchLabel: {app: web}}}}",
        expect!["a.yaml:1: ReplicaSet default/r: spec.selector.matchLabel: unknown field; did you mean `matchLabels`?"],
    );
    check(
        "{apiVersion: v1, kind: PodList, item: [{metadata: {name: a}}]}",
        expect!["a.yaml:1: PodList: item: unknown field; did you mean `items`?"],
    );
}

#[test]
fn misspelt_kinds_and_apis() {
    check(
        "{apiVersion: v1, kind: pod, metadata: {name: a}}",
        expect!["a.yaml:1: pod a: kind: there is no `pod` in `v1`; did you mean `Pod`?"],
    );
    check(
        "{apiVersion: v1, kind: Nodes, metadata: {name: a}}",
        expect!["a.yaml:1: Nodes a: kind: there is no `Nodes` in `v1`; did you mean `Node`?"],
    );
    check(
        "{apiVersion: v1, kind: ReplicaSet, metadata: {name: a}}",
        expect!["a.yaml:1: ReplicaSet default/a: apiVersion: is `v1`, but a ReplicaSet is `apps/v1`"],
    );
    check(
        "{apiVersion: apps/v1, kind: Pod, metadata: {name: a}}",
        expect!["a.yaml:1: Pod default/a: apiVersion: is `apps/v1`, but a Pod is `v1`"],
    );
    check(
        "{apiVersion: v1, kind: PodDisruptionBuget, metadata: {name: a}}",
        expect![
            "a.yaml:1: PodDisruptionBuget a: kind: there is no such kind in `v1`; did you mean `PodDisruptionBudget` of `policy/v1`?"
        ],
    );
    check(
        "{apiVersion: app/v1, kind: ReplicaSet, metadata: {name: a}}",
        expect!["a.yaml:1: ReplicaSet default/a: apiVersion: is `app/v1`, but a ReplicaSet is `apps/v1`"],
    );
    check(
        "{apiVersion: storage.k8s.oi/v1, kind: StorageClass, metadata: {name: a}}",
        expect![
            "a.yaml:1: StorageClass a: apiVersion: is `storage.k8s.oi/v1`, but a StorageClass is `storage.k8s.io/v1`"
        ],
    );
    check(
        "{apiversion: v1, kind: Pod, metadata: {name: a}}",
        expect!["a.yaml:1: is not a Kubernetes object: there is no `apiVersion`"],
    );
}

#[test]
fn wrong_types() {
    pod(
        "metadata: {name: a, labels: {version: 2}}",
        expect!["a.yaml:3: Pod default/a: metadata.labels.version: is integer `2`, but must be text; put it in quotes"],
    );
    pod(
        "metadata: {name: a, labels: [app]}",
        expect!["a.yaml:3: Pod default/a: metadata.labels: is a list, but must be fields"],
    );
    pod(
        "spec: {nodeSelector: [pool]}",
        expect!["a.yaml:4: Pod default/a: spec.nodeSelector: is a list, but must be fields"],
    );
    pod(
        "spec: {nodeSelector: {ssd: true}}",
        expect![
            "a.yaml:4: Pod default/a: spec.nodeSelector.ssd: is boolean `true`, but must be text; put it in quotes, also if it is `y`, `n`, `yes`, `no`, `on` or `off`"
        ],
    );
    pod(
        "spec: {tolerations: {key: a}}",
        expect!["a.yaml:4: Pod default/a: spec.tolerations: is fields, but must be a list"],
    );
    pod(
        "spec: {tolerations: [{key: a, tolerationSeconds: 5s}]}",
        expect![[
            r#"a.yaml:4: Pod default/a: spec.tolerations[0].tolerationSeconds: is string "5s", but must be a whole number"#
        ]],
    );
    pod(
        "spec: {containers: {name: c}}",
        expect!["a.yaml:4: Pod default/a: spec.containers: is fields, but must be a list"],
    );
    pod(
        "spec: {containers: [{name: c, resources: {requests: [cpu]}}]}",
        expect!["a.yaml:4: Pod default/a: spec.containers[0].resources.requests: is a list, but must be fields"],
    );
    pod(
        "spec: {containers: [{name: c, resources: {requests: {cpu: [1]}}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.requests.cpu: is a list, but must be a quantity such as `500m` or `1Gi`"
        ],
    );
    pod(
        "spec: {containers: [{name: c, resources: {requests: {memory: 1GB}}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.requests[memory]: `1GB` is not a quantity; did you mean `1G` or `1Gi`?"
        ],
    );
    pod(
        "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: http}]}]}",
        expect![[
            r#"a.yaml:4: Pod default/a: spec.containers[0].ports[0].hostPort: is string "http", but must be a whole number"#
        ]],
    );
    pod(
        "spec: {priority: high}",
        expect![[r#"a.yaml:4: Pod default/a: spec.priority: is string "high", but must be a whole number"#]],
    );
    pod(
        "spec: {hostNetwork: 'true'}",
        expect![[r#"a.yaml:4: Pod default/a: spec.hostNetwork: is string "true", but must be true or false"#]],
    );
    pod(
        "spec: {affinity: nodeAffinity}",
        expect![[r#"a.yaml:4: Pod default/a: spec.affinity: is string "nodeAffinity", but must be fields"#]],
    );
    pod(
        "spec: {topologySpreadConstraints: [{maxSkew: one, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}",
        expect![[
            r#"a.yaml:4: Pod default/a: spec.topologySpreadConstraints[0].maxSkew: is string "one", but must be a whole number"#
        ]],
    );
    pod(
        "spec: {schedulingGates: [quota]}",
        expect![[r#"a.yaml:4: Pod default/a: spec.schedulingGates[0]: is string "quota", but must be fields"#]],
    );
}

#[test]
fn wrong_places() {
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
fn wrong_places_in_nodes() {
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
fn all_mistakes_of_an_object_are_reported() {
    // Below an unknown field.
    pod(
        "spec: {containers: [{name: c, resource: {request: {cpu: 1GHz}, limits: {cpu: [2], memory: 1GB}}}]}",
        expect![[r#"
            a.yaml:4: Pod default/a: spec.containers[0].resource: unknown field; did you mean `resources`?
            a.yaml:4: Pod default/a: spec.containers[0].resource.request: unknown field; did you mean `requests`?
            a.yaml:4: Pod default/a: spec.containers[0].resource.limits.cpu: is a list, but must be a quantity such as `500m` or `1Gi`
            a.yaml:4: Pod default/a: spec.containers[0].resource.limits[memory]: `1GB` is not a quantity; did you mean `1G` or `1Gi`?
            a.yaml:4: Pod default/a: spec.containers[0].resource.request[cpu]: `1GHz` is not a quantity: there is no unit `GHz`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei"#]],
    );
    // In one map.
    pod(
        "spec: {containers: [{name: c, resources: {requests: {cpu: 2cores, memory: 1GB, example.com/gpu: one}}}]}",
        expect![[r#"
            a.yaml:4: Pod default/a: spec.containers[0].resources.requests[cpu]: `2cores` is not a quantity; did you mean `2`?
            a.yaml:4: Pod default/a: spec.containers[0].resources.requests[example.com/gpu]: `one` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`
            a.yaml:4: Pod default/a: spec.containers[0].resources.requests[memory]: `1GB` is not a quantity; did you mean `1G` or `1Gi`?"#]],
    );
    // Values of wrong types.
    pod(
        "spec: {hostNetwork: 'true', priority: high, tolerations: [key, {key: a, efect: NoSchedule}, 5], nodeSelector: {a: 1, b: true}}",
        expect![[r#"
            a.yaml:4: Pod default/a: spec.tolerations[1].efect: unknown field; did you mean `effect`?
            a.yaml:4: Pod default/a: spec.hostNetwork: is string "true", but must be true or false
            a.yaml:4: Pod default/a: spec.nodeSelector.a: is integer `1`, but must be text; put it in quotes
            a.yaml:4: Pod default/a: spec.nodeSelector.b: is boolean `true`, but must be text; put it in quotes, also if it is `y`, `n`, `yes`, `no`, `on` or `off`
            a.yaml:4: Pod default/a: spec.priority: is string "high", but must be a whole number
            a.yaml:4: Pod default/a: spec.tolerations[0]: is string "key", but must be fields
            a.yaml:4: Pod default/a: spec.tolerations[2]: is integer `5`, but must be fields"#]],
    );
    // A field that is misspelt twice, or beside the right one, is read once.
    node(
        "status: {allocatible: {cpu: one}, allocatabel: {cpu: two}, capacity: {cpu: 4}, capacty: {cpu: three}}",
        expect![[r#"
        a.yaml:4: Node a: status.allocatabel: unknown field; did you mean `allocatable`?
        a.yaml:4: Node a: status.allocatible: unknown field; did you mean `allocatable`?
        a.yaml:4: Node a: status.capacty: unknown field; did you mean `capacity`?
        a.yaml:4: Node a: status.allocatabel[cpu]: `two` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`"#]],
    );
    // Quantities in any field.
    pod(
        "spec: {containers: [], volumes: [{name: v, emptyDir: {sizeLimit: 1GB}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.volumes[0].emptyDir.sizeLimit: `1GB` is not a quantity; did you mean `1G` or `1Gi`?"
        ],
    );
}

#[test]
fn misspelt_fields_of_objects_of_a_cluster_are_not_read() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}, spec: {containers: [], nodeSelecter: [5]}}";
    let manifests = Manifests::parse("a.yaml", text).unwrap();
    assert_eq!(manifests.pods[0].object.spec.as_ref().unwrap().node_selector, None);
}

#[test]
fn values_of_objects_of_a_cluster_are_checked() {
    check(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}, spec: {containers: [], overhead: {cpu: 1GHz, memory: 1gb}}}",
        expect![[r#"
            a.yaml:1: Pod default/a: spec.overhead[cpu]: `1GHz` is not a quantity: there is no unit `GHz`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            a.yaml:1: Pod default/a: spec.overhead[memory]: `1gb` is not a quantity; did you mean `1G` or `1Gi`?"#]],
    );
}
