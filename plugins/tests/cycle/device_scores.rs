//! Node scores that depend on how many of the devices behind an extended resource are in use.

use expect_test::{Expect, expect};

use crate::cycle::scheduler::device_scores::Pipeline;
use crate::cycle::test_cluster::TestCluster;

const API_VERSION: &str = "apiVersion: resource.k8s.io/v1";

/// Returns a cluster in which n1 has 4 devices of the class, n2 has 2, and n3 has the extended resource itself in its
/// allocatable resources.
fn cluster(selectors: &str) -> TestCluster<Pipeline> {
    let mut cluster = TestCluster::<Pipeline>::new();
    for (name, gpus) in [("n1", ""), ("n2", ", example.com/gpu: 0"), ("n3", ", example.com/gpu: 8")] {
        cluster.node(&format!("{{metadata: {{name: {name}}}, status: {{allocatable: {{cpu: 4, pods: 9{gpus}}}}}}}"));
    }
    cluster.object(&format!(
        "{{{API_VERSION}, kind: DeviceClass, metadata: {{name: gpu}},
          spec: {{extendedResourceName: example.com/gpu, {selectors}}}}}"
    ));
    slice(&mut cluster, "n1", 4);
    slice(&mut cluster, "n2", 2);
    cluster
}

/// Adds or replaces the slice of a node, with this number of GPUs.
fn slice(cluster: &mut TestCluster<Pipeline>, node: &str, gpus: usize) {
    let device = |at| format!("{{name: gpu-{at}, attributes: {{kind: {{string: gpu}}}}}},");
    let devices: String = (0..gpus).map(device).collect();
    cluster.object(&format!(
        "{{{API_VERSION}, kind: ResourceSlice, metadata: {{name: {node}}}, spec: {{driver: d, nodeName: {node},
          pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}, devices: [{devices}]}}}}"
    ));
}

/// Allocates GPUs of n1 for a claim.
fn allocate(cluster: &mut TestCluster<Pipeline>, gpus: &[usize]) {
    let result = |at: &usize| format!("{{request: r, driver: d, pool: n1, device: gpu-{at}}},");
    let results: String = gpus.iter().map(result).collect();
    let status =
        if gpus.is_empty() { String::new() } else { format!("allocation: {{devices: {{results: [{results}]}}}}") };
    cluster.object(&format!(
        "{{{API_VERSION}, kind: ResourceClaim, metadata: {{name: other}}, spec: {{}}, status: {{{status}}}}}"
    ));
}

const POD: &str = "spec: {containers: [{name: c, resources: {requests: {cpu: 1, example.com/gpu: 1}}}]}";

fn check(cluster: &mut TestCluster<Pipeline>, expected: Expect) {
    expected.assert_eq(&cluster.scores(POD));
}

#[test]
fn devices_are_scored_on_nodes_without_the_resource() {
    let mut cluster = cluster("");
    check(
        &mut cluster,
        expect![[r#"
            n1: NodeResourcesFit 25, DynamicResources 0, NodeResourcesBalancedAllocation 75
            n2: NodeResourcesFit 50, DynamicResources 0, NodeResourcesBalancedAllocation 68
            n3: NodeResourcesFit 12, DynamicResources 0, NodeResourcesBalancedAllocation 71
        "#]],
    );
    allocate(&mut cluster, &[0, 2]);
    check(
        &mut cluster,
        expect![[r#"
            n1: NodeResourcesFit 75, DynamicResources 0, NodeResourcesBalancedAllocation 75
            n2: NodeResourcesFit 50, DynamicResources 0, NodeResourcesBalancedAllocation 68
            n3: NodeResourcesFit 12, DynamicResources 0, NodeResourcesBalancedAllocation 71
        "#]],
    );
}

#[test]
fn only_devices_of_the_class_are_scored() {
    let mut cluster = cluster("selectors: [{cel: {expression: 'device.attributes[\"d\"].kind == \"gpu\"'}}]");
    cluster.object(&format!(
        "{{{API_VERSION}, kind: ResourceSlice, metadata: {{name: nic}}, spec: {{driver: d, nodeName: n1,
          pool: {{name: nic, generation: 1, resourceSliceCount: 1}},
          devices: [{{name: nic-0, attributes: {{kind: {{string: nic}}}}}}]}}}}"
    ));
    check(
        &mut cluster,
        expect![[r#"
            n1: NodeResourcesFit 25, DynamicResources 0, NodeResourcesBalancedAllocation 75
            n2: NodeResourcesFit 50, DynamicResources 0, NodeResourcesBalancedAllocation 68
            n3: NodeResourcesFit 12, DynamicResources 0, NodeResourcesBalancedAllocation 71
        "#]],
    );
}

#[test]
fn cached_scores_follow_devices() {
    let mut cluster = cluster("");
    // The third pod with this signature has a cached answer.
    for _ in 0..3 {
        assert_eq!(cluster.decide(POD), "n2");
    }
    allocate(&mut cluster, &[0, 2]);
    assert_eq!(cluster.decide(POD), "n1");
    slice(&mut cluster, "n1", 8);
    assert_eq!(cluster.decide(POD), "n2");
    allocate(&mut cluster, &[]);
    assert_eq!(cluster.decide(POD), "n2");
}
