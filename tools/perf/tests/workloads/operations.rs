//! Tests of every operation in a small workload.

use crate::harness::run_successfully;

const POD: &str = "
kind: Pod
metadata: {generateName: pod-, labels: {app: web}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
";

#[test]
fn nodes_and_pods_are_created() {
    let report = run_successfully(
        "
- {opcode: createNodes, countParam: $nodes}
- {opcode: createPods, countParam: $pods, skipWaitToCompletion: true}
- {opcode: barrier}
- {opcode: createPods, countParam: $pods, collectMetrics: true}
",
        "nodes: 5, pods: 10",
        &[],
    );
    assert_eq!(report.name, "case/small");
    assert!(report.decisions_per_s > report.pods_per_s && report.pods_per_s > 0.0, "{report:?}");
    let latency = report.latency_us;
    assert!(latency.p50 > 0.0 && latency.p50 <= latency.p999 && latency.p999 <= latency.max, "{report:?}");
    assert_eq!(report.allocations_per_decision, None, "this binary does not count allocations");
}

#[test]
fn nodes_get_labels_in_turn_or_unique_ones() {
    let node = "{kind: Node, metadata: {generateName: n-}, status: {capacity: {cpu: 4, memory: 8Gi, pods: 2}}}";
    let zone = "
kind: Pod
metadata: {generateName: pod-}
spec: {nodeSelector: {zone: b}, containers: [{name: c}]}
";
    // Two of five nodes are in zone b. Each allows two pods.
    run_successfully(
        "
- opcode: createNodes
  count: 5
  nodeTemplatePath: node.yaml
  labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}
- {opcode: createPods, count: 4, podTemplatePath: zone.yaml, collectMetrics: true}
",
        "",
        &[("node.yaml", node), ("zone.yaml", zone)],
    );
    // Every node is a separate rack.
    let apart = "
kind: Pod
metadata: {generateName: pod-, labels: {app: apart}}
spec:
  containers: [{name: c}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: rack, labelSelector: {matchLabels: {app: apart}}}]}}
";
    run_successfully(
        "
- {opcode: createNodes, count: 5, uniqueNodeLabelStrategy: {labelKey: rack}}
- {opcode: createPods, count: 5, podTemplatePath: apart.yaml, collectMetrics: true}
",
        "",
        &[("apart.yaml", apart)],
    );
}

#[test]
fn volumes_are_created_and_limited_per_node() {
    let volume = "
kind: PersistentVolume
spec: {accessModes: [ReadOnlyMany], capacity: {storage: 1Gi}, csi: {driver: ebs.csi.aws.com, volumeHandle: x}}
";
    let claim = "
kind: PersistentVolumeClaim
metadata: {annotations: {pv.kubernetes.io/bind-completed: 'true'}}
spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}
";
    let operations = |pods: u32| {
        format!(
            "
- opcode: createNodes
  count: 2
  nodeAllocatableStrategy:
    nodeAllocatable: {{attachable-volumes-csi-ebs.csi.aws.com: '3'}}
    csiNodeAllocatable: {{ebs.csi.aws.com: {{count: 3}}}}
    migratedPlugins: [kubernetes.io/aws-ebs]
- opcode: createPods
  count: {pods}
  persistentVolumeTemplatePath: volume.yaml
  persistentVolumeClaimTemplatePath: claim.yaml
  collectMetrics: true
"
        )
    };
    let files = [("volume.yaml", volume), ("claim.yaml", claim)];
    run_successfully(&operations(6), "", &files);
    let error = crate::harness::run_workload(&operations(7), "", &files).unwrap_err().to_string();
    assert!(error.contains("6 of 7 pods"), "{error}");
    assert!(error.contains("2 node(s) exceed max volume count"), "{error}");
}

#[test]
fn pod_sets_create_pods_in_each_namespace() {
    let namespace = "{kind: Namespace, metadata: {labels: {team: devops}}}";
    let near = "
kind: Pod
metadata: {generateName: pod-, labels: {color: blue}}
spec:
  containers: [{name: c}]
  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {color: blue}},
     namespaceSelector: {matchLabels: {team: devops}}}]}}
";
    run_successfully(
        "
- {opcode: createNodes, count: 3}
- {opcode: createNamespaces, prefix: init, countParam: $namespaces, namespaceTemplatePath: namespace.yaml}
- opcode: createPodSets
  countParam: $namespaces
  namespacePrefix: init
  createPodsOp: {opcode: createPods, countParam: $pods, podTemplatePath: near.yaml}
- {opcode: createPods, count: 2, namespace: init-0, podTemplatePath: near.yaml, collectMetrics: true}
",
        "namespaces: 2, pods: 3",
        &[("namespace.yaml", namespace), ("near.yaml", near)],
    );
}

#[test]
fn arbitrary_objects_are_created_and_updated() {
    let node = "
kind: Node
metadata: {name: 'node-{{ .Index }}'}
spec: {taints: [{key: closed, effect: NoSchedule}]}
status: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}
";
    let open = "
apiVersion: v1
kind: Node
metadata: {name: 'node-{{ .Index }}'}
status: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}
";
    // Scheduling ignores ConfigMaps.
    let other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: 's-{{.Index}}'}, spec: {selector: {app: web}}}";
    run_successfully(
        "
- {opcode: startCollectingMetrics, namespaces: [web]}
- {opcode: createAny, templatePath: service.yaml, namespace: web, countParam: $services}
- {opcode: createAny, templatePath: other.yaml, namespace: web}
- {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
- {opcode: createPods, count: 8, namespace: web, podTemplatePath: pod.yaml, skipWaitToCompletion: true}
- {opcode: barrier, stageRequirement: Attempted}
- {opcode: updateAny, templatePath: open.yaml, count: 2, updatePerSecond: 100}
- {opcode: barrier}
- {opcode: stopCollectingMetrics}
",
        "services: 3",
        &[
            ("node.yaml", node),
            ("open.yaml", open),
            ("pod.yaml", POD),
            ("other.yaml", other),
            ("service.yaml", service),
        ],
    );
}

#[test]
fn pods_change_and_lose_their_gates() {
    let gated = "
kind: Pod
metadata: {name: 'pod-{{.Index}}', labels: {type: gated}}
spec: {schedulingGates: [{name: example.com/hold}], containers: [{name: c}]}
";
    let free = "
apiVersion: v1
kind: Pod
metadata: {name: 'pod-{{.Index}}', labels: {type: gated}}
spec: {containers: [{name: c}]}
";
    run_successfully(
        "
- {opcode: createNodes, count: 1}
- {opcode: startCollectingMetrics, name: gated, namespaces: [held], labelSelector: {type: gated}}
- {opcode: createPods, count: 5, namespace: held, podTemplatePath: gated.yaml, skipWaitToCompletion: true}
- {opcode: barrier, stageRequirement: Attempted, labelSelector: {type: gated}}
- {opcode: updateAny, templatePath: free.yaml, count: 5, namespace: held, subresources: [resize]}
- {opcode: barrier, namespaces: [held], labelSelector: {type: gated}}
- {opcode: stopCollectingMetrics}
",
        "",
        &[("gated.yaml", gated), ("free.yaml", free)],
    );
}

/// The node has capacity for four pods. The last four pods are placed when the first four are deleted.
#[test]
fn pods_are_deleted_at_the_given_rate() {
    for pace in
        ["deletePodsPerSecond: 2, skipWaitToCompletion: true", "deletePodsPerSecond: 100", "labelSelector: {app: web}"]
    {
        run_successfully(
            &format!(
                "
- {{opcode: createNodes, count: 1}}
- {{opcode: createPods, count: 4, podTemplatePath: pod.yaml}}
- {{opcode: deletePods, namespace: namespace-1, {pace}}}
- {{opcode: createPods, count: 4, podTemplatePath: pod.yaml, collectMetrics: true}}
"
            ),
            "",
            &[("pod.yaml", POD)],
        );
    }
}

#[test]
fn pods_with_finalizers_are_deleted() {
    let pod =
        "{kind: Pod, metadata: {generateName: pod-, finalizers: [example.com/f]}, spec: {containers: [{name: c}]}}";
    run_successfully(
        "
- {opcode: createNodes, count: 2}
- {opcode: createPods, count: 6, podTemplatePath: pod.yaml, skipWaitToCompletion: true}
- {opcode: deletePods, namespace: namespace-1, deletePodsPerSecond: 100, skipWaitToCompletion: true}
- {opcode: createPods, count: 6, collectMetrics: true}
",
        "",
        &[("pod.yaml", pod)],
    );
}

/// Pods wait for nodes that a churn creates. In mode `recreate`, the churn also deletes the nodes.
#[test]
fn churn_creates_nodes_for_waiting_pods() {
    let node = "{apiVersion: v1, kind: Node, metadata: {generateName: churn-}, status: {capacity: {cpu: 4, memory: 8Gi, pods: 2}}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {generateName: churn-}, spec: {selector: {app: web}}}";
    for (mode, pods) in [("mode: create, number: 3", 6), ("mode: recreate, number: 2", 4)] {
        run_successfully(
            &format!(
                "
- {{opcode: churn, {mode}, intervalMilliseconds: 100, templatePaths: [node.yaml, service.yaml]}}
- {{opcode: createPods, count: {pods}, podTemplatePath: pod.yaml, collectMetrics: true}}
"
            ),
            "",
            &[("node.yaml", node), ("service.yaml", service), ("pod.yaml", POD)],
        );
    }
}

#[test]
fn time_is_virtual() {
    let begin = std::time::Instant::now();
    run_successfully(
        "
- {opcode: sleep, duration: 1h30m}
- {opcode: createNodes, count: 1}
- {opcode: sleep, durationParam: $time}
- {opcode: createPods, count: 1, collectMetrics: true}
",
        "time: 100h",
        &[],
    );
    assert!(begin.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn a_steady_state_creates_pods_repeatedly() {
    let report = run_successfully(
        "
- {opcode: createNodes, count: 2}
- {opcode: createPods, count: 3, steadyStateParam: $steady, durationParam: $time, podTemplatePath: pod.yaml, collectMetrics: true}
",
        "steady: true, time: 300ms",
        &[("pod.yaml", POD)],
    );
    assert!(report.pods_per_s > 0.0, "{report:?}");
}

#[test]
fn important_pods_preempt_others() {
    let important = "
kind: Pod
metadata: {generateName: important-}
spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: 3}}}]}
";
    run_successfully(
        "
- {opcode: createNodes, count: 3}
- {opcode: createPods, count: 12, podTemplatePath: pod.yaml}
- {opcode: createPods, count: 3, podTemplatePath: important.yaml, collectMetrics: true}
",
        "",
        &[("pod.yaml", POD), ("important.yaml", important)],
    );
}

/// Two nodes have ten devices each. Claims without pods hold all of these devices except one.
#[test]
fn claims_without_pods_hold_devices() {
    let node = "{kind: Node, metadata: {generateName: gpu-}, status: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}}";
    let class = "
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}]}
";
    let claim = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {generateName: claim-}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
";
    let template = "
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
";
    let pod = "
kind: Pod
metadata: {generateName: pod-}
spec: {containers: [{name: c}], resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]}
";
    let files = [
        ("node.yaml", node),
        ("class.yaml", class),
        ("claim.yaml", claim),
        ("template.yaml", template),
        ("pod.yaml", pod),
    ];
    let operations = |claims: u32, pods: &str| {
        format!(
            "
- {{opcode: createNodes, count: 3}}
- {{opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}}
- {{opcode: createResourceDriver, driverName: gpu.example.com, nodes: gpu-*, maxClaimsPerNodeParam: $devices}}
- {{opcode: createAny, templatePath: class.yaml}}
- {{opcode: createAny, templatePath: claim.yaml, count: {claims}, namespace: init}}
- {{opcode: allocResourceClaims, namespace: init}}
- {{opcode: createAny, templatePath: template.yaml, namespace: test}}
- {{opcode: createPods, {pods}, namespace: test, podTemplatePath: pod.yaml, collectMetrics: true}}
"
        )
    };
    run_successfully(&operations(19, "count: 1"), "devices: 10", &files);
    run_successfully(&operations(19, "count: 1, steadyState: true, duration: 50ms"), "devices: 10", &files);
    let fails =
        |operations: &str| crate::harness::run_workload(operations, "devices: 10", &files).unwrap_err().to_string();
    let error = fails(&operations(19, "count: 2"));
    assert!(error.contains("1 of 2 pods") && error.contains("5 cannot allocate all claims"), "{error}");
    let error = fails(&operations(21, "count: 1"));
    assert!(error.contains("op 5 (allocResourceClaims): no node has devices for claim init/claim-"), "{error}");
}
