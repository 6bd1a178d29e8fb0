//! Values that exclude each other, and values that API servers reject.

use expect_test::expect;

use super::{check, node, pod};

/// Returns a pod with a container and these fields in its spec.
fn spec(fields: &str) -> String {
    format!("spec: {{containers: [{{name: c}}], {fields}}}")
}

/// Returns a pod whose container has these resources.
fn resources(fields: &str) -> String {
    format!("spec: {{containers: [{{name: c, resources: {{{fields}}}}}]}}")
}

#[test]
fn a_volume_has_one_source() {
    pod(
        &spec("volumes: [{name: v, emptyDir: {}, hostPath: {path: /data}}]"),
        expect![
            "a.yaml:4: Pod default/a: spec.volumes[0]: has the sources `emptyDir` and `hostPath`; keep one of them"
        ],
    );
    pod(
        &spec("volumes: [{name: v, persistentVolumeClaim: {claimName: data}, emptyDir: {}, csi: {driver: d}}]"),
        expect![
            "a.yaml:4: Pod default/a: spec.volumes[0]: has the sources `csi`, `emptyDir` and `persistentVolumeClaim`; keep one of them"
        ],
    );
    pod(
        &spec("volumes: [{name: v, csi: {}}]"),
        expect!["a.yaml:4: Pod default/a: spec.volumes[0].csi.driver: is missing; give the name of the CSI driver"],
    );
    let volume = |sources: &str| {
        format!(
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: v}}\nspec:\n  accessModes: [ReadWriteOnce]\n  \
             capacity: {{storage: 1Gi}}\n  {sources}"
        )
    };
    check(
        &volume("csi: {driver: d, volumeHandle: h}\n  nfs: {server: s, path: /}"),
        expect!["a.yaml:4: PersistentVolume v: spec: has the sources `csi` and `nfs`; keep one of them"],
    );
    check(&volume("csi: {driver: d}"), expect!["a.yaml:7: PersistentVolume v: spec.csi.volumeHandle: is missing"]);
}

#[test]
fn the_claim_of_an_ephemeral_volume_is_complete() {
    let claim = "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOne], resources: {requests: {}}}}}";
    pod(
        &spec(&format!("volumes: [{{name: v, {claim}}}]")),
        expect![[r#"
        a.yaml:4: Pod default/a: spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes[0]: is `ReadWriteOne`, but must be one of `ReadWriteOnce`, `ReadOnlyMany`, `ReadWriteMany`, `ReadWriteOncePod`
        a.yaml:4: Pod default/a: spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: is missing; give the number of bytes"#]],
    );
}

#[test]
fn requests_that_cannot_be_overcommitted_equal_their_limits() {
    pod(
        &resources("requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}"),
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.requests[example.com/gpu]: is 1, but must be equal to the limit of 2"
        ],
    );
    pod(
        &resources("requests: {hugepages-2Mi: 2Mi, cpu: 1}, limits: {hugepages-2Mi: 4Mi, cpu: 2}"),
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.requests[hugepages-2Mi]: is 2Mi, but must be equal to the limit of 4Mi"
        ],
    );
}

#[test]
fn unsupported_resources_are_errors() {
    pod(
        &resources("requests: {requests.example.com/gpu: 1}"),
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].resources.requests[requests.example.com/gpu]: must not begin with `requests.`, which is for quotas"
        ],
    );
    pod(
        &spec("resources: {requests: {example.com/gpu: 1, ephemeral-storage: 1Gi}}"),
        expect![[r#"
        a.yaml:4: Pod default/a: spec.resources.requests[ephemeral-storage]: is not a pod-level resource (those are cpu, memory and hugepages-...); request it in a container
        a.yaml:4: Pod default/a: spec.resources.requests[example.com/gpu]: is not a pod-level resource (those are cpu, memory and hugepages-...); request it in a container"#]],
    );
    node(
        "status: {allocatable: {pods: 1500m}}",
        expect!["a.yaml:4: Node a: status.allocatable[pods]: is 1500m, but the number of pods must be a whole number"],
    );
}

#[test]
fn containers_request_no_more_than_their_pod() {
    pod(
        "spec: {resources: {requests: {cpu: 1}}, containers: [{name: a, resources: {requests: {cpu: 700m}}}, \
         {name: b, resources: {requests: {cpu: 700m}}}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.resources.requests[cpu]: is 1, but must not be less than the 1400m that the containers request"
        ],
    );
}

#[test]
fn ports_in_the_host_network_are_ports_of_the_host() {
    pod(
        "spec: {hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]}",
        expect![
            "a.yaml:4: Pod default/a: spec.containers[0].ports[0].hostPort: is 8080, but with hostNetwork it must equal the containerPort 80; leave it out"
        ],
    );
}

#[test]
fn a_pod_has_the_preemption_policy_of_its_class() {
    check(
        "apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: polite}
value: 100
preemptionPolicy: Never
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {priorityClassName: polite, preemptionPolicy: PreemptLowerPriority, containers: [{name: c}]}",
        expect![
            "a.yaml:10: Pod default/a: spec.preemptionPolicy: is `PreemptLowerPriority`, but its PriorityClass `polite` has `Never`; leave spec.preemptionPolicy out"
        ],
    );
}

#[test]
fn device_tolerations_and_attributes_are_complete() {
    let claim = |devices: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: a}}\nspec:\n  devices:\n    {devices}"
        )
    };
    check(
        &claim(
            "requests: [{name: r, exactly: {deviceClassName: gpu, tolerations: [{key: a, operator: Exists, value: b}]}}]",
        ),
        expect![
            "a.yaml:6: ResourceClaim default/a: spec.devices.requests[0].exactly.tolerations[0].value: must be left out where the operator is `Exists`"
        ],
    );
    check(
        &claim(
            "requests: [{name: r, exactly: {deviceClassName: gpu}}]\n    constraints: [{requests: [r], matchAttribute: model}]",
        ),
        expect![
            "a.yaml:7: ResourceClaim default/a: spec.devices.constraints[0].matchAttribute: is `model`, but must have a domain, such as `gpu.example.com/model`"
        ],
    );
}
