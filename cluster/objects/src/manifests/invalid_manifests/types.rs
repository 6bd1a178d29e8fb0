//! Values of wrong types.

use expect_test::expect;

use super::{check, node, pod};

#[test]
fn wrong_types_in_pods_are_errors() {
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
            "a.yaml:4: Pod default/a: spec.nodeSelector.ssd: is boolean `true`, but must be text; put it in quotes; `y`, `n`, `yes`, `no`, `on` and `off` are booleans too"
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
            a.yaml:4: Pod default/a: spec.nodeSelector.b: is boolean `true`, but must be text; put it in quotes; `y`, `n`, `yes`, `no`, `on` and `off` are booleans too
            a.yaml:4: Pod default/a: spec.priority: is string "high", but must be a whole number
            a.yaml:4: Pod default/a: spec.tolerations[0]: is string "key", but must be fields
            a.yaml:4: Pod default/a: spec.tolerations[2]: is integer `5`, but must be fields"#]],
    );
    // Of two fields that are misspelt forms of the same one, the first is read. Next to the correct field, none is
    // read.
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
fn values_of_objects_of_a_cluster_are_checked() {
    check(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u}, spec: {containers: [], overhead: {cpu: 1GHz, memory: 1gb}}}",
        expect![[r#"
            a.yaml:1: Pod default/a: spec.overhead[cpu]: `1GHz` is not a quantity: there is no unit `GHz`; decimal units are n, u, m, k, M, G, T, P and E, binary ones Ki, Mi, Gi, Ti, Pi and Ei
            a.yaml:1: Pod default/a: spec.overhead[memory]: `1gb` is not a quantity; did you mean `1G` or `1Gi`?"#]],
    );
}

#[test]
fn wrong_types_in_nodes_are_errors() {
    node(
        "spec: {unschedulable: 'true'}",
        expect![[r#"a.yaml:4: Node a: spec.unschedulable: is string "true", but must be true or false"#]],
    );
    node("spec: {taints: {key: a}}", expect!["a.yaml:4: Node a: spec.taints: is fields, but must be a list"]);
    node(
        "spec: {taints: [dedicated]}",
        expect![[r#"a.yaml:4: Node a: spec.taints[0]: is string "dedicated", but must be fields"#]],
    );
    node(
        "status: {allocatable: [cpu]}",
        expect!["a.yaml:4: Node a: status.allocatable: is a list, but must be fields"],
    );
    node(
        "status: {allocatable: {cpu: four}}",
        expect![
            "a.yaml:4: Node a: status.allocatable[cpu]: `four` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`"
        ],
    );
    node(
        "status: {capacity: {pods: [110]}}",
        expect!["a.yaml:4: Node a: status.capacity.pods: is a list, but must be a quantity such as `500m` or `1Gi`"],
    );
    node(
        "status: {images: nginx}",
        expect![[r#"a.yaml:4: Node a: status.images: is string "nginx", but must be a list"#]],
    );
    node(
        "status: {images: [{names: nginx, sizeBytes: 1}]}",
        expect![[r#"a.yaml:4: Node a: status.images[0].names: is string "nginx", but must be a list"#]],
    );
    node(
        "status: {images: [{names: [nginx], sizeBytes: 1Gi}]}",
        expect![[r#"a.yaml:4: Node a: status.images[0].sizeBytes: is string "1Gi", but must be a whole number"#]],
    );
}

#[test]
fn wrong_types_in_other_objects_are_errors() {
    check("{apiVersion: v1, kind: List, items: {}}", expect!["a.yaml:1: List: items: is fields, but must be a list"]);
    check(
        "{apiVersion: v1, kind: PodList, items: web}",
        expect![[r#"a.yaml:1: PodList: items: is string "web", but must be a list"#]],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: ReadWriteOnce}}",
        expect![[
            r#"a.yaml:1: PersistentVolumeClaim default/c: spec.accessModes: is string "ReadWriteOnce", but must be a list"#
        ]],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {resources: {requests: {storage: 1GB}}}}",
        expect![
            "a.yaml:1: PersistentVolumeClaim default/c: spec.resources.requests[storage]: `1GB` is not a quantity; did you mean `1G` or `1Gi`?"
        ],
    );
    check(
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: 10Gi}}",
        expect![[r#"a.yaml:1: PersistentVolume v: spec.capacity: is string "10Gi", but must be fields"#]],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: a, allowedTopologies: {}}",
        expect!["a.yaml:1: StorageClass s: allowedTopologies: is fields, but must be a list"],
    );
    check(
        "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: s}, spec: {drivers: [{name: a, nodeID: n1, allocatable: {count: many}}]}}",
        expect![[
            r#"a.yaml:1: CSINode s: spec.drivers[0].allocatable.count: is string "many", but must be a whole number"#
        ]],
    );
    check(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {minAvailable: [1]}}",
        expect![
            "a.yaml:1: PodDisruptionBudget default/b: spec.minAvailable: is a list, but must be a whole number or a text such as `50%`"
        ],
    );
    check(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: high}",
        expect![[r#"a.yaml:1: PriorityClass p: value: is string "high", but must be a whole number"#]],
    );
    check(
        "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: web}}",
        expect![[r#"a.yaml:1: Service default/s: spec.selector: is string "web", but must be fields"#]],
    );
    check(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: {replicas: three}}",
        expect![[r#"a.yaml:1: ReplicaSet default/r: spec.replicas: is string "three", but must be a whole number"#]],
    );
}
