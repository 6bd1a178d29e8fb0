//! Misspelt fields and kinds.

use expect_test::expect;

use super::{check, node, pod};

#[test]
fn misspelt_fields_of_pods_are_errors() {
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
fn misspelt_fields_of_nodes_are_errors() {
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
fn misspelt_fields_of_other_objects_are_errors() {
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
fn misspelt_kinds_and_apis_are_errors() {
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
