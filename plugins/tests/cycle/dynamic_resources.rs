//! Decisions for pods with resource claims, and DynamicResources' part of the message of an unschedulable pod.

use expect_test::{Expect, expect};

use crate::cycle::scheduler::claims::Pipeline;
use crate::cycle::test_cluster::TestCluster;

fn check(spec: &str, expected: Expect) {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("{metadata: {name: n1}}");
    cluster.node("{metadata: {name: n2}, spec: {unschedulable: true}}");
    expected.assert_eq(&cluster.decide(&format!("spec: {spec}")));
}

#[test]
fn the_plugin_skips_pods_without_claims() {
    check("{}", expect!["n1"]);
    check(
        "{nodeSelector: {zone: a}}",
        expect![
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable. no new claims to deallocate"
        ],
    );
}

#[test]
fn a_pod_without_its_claim_is_rejected() {
    check(
        "{resourceClaims: [{name: gpu, resourceClaimName: mine}]}",
        expect![[
            r#"0/2 nodes are available: could not find ResourceClaim "default/mine". no new claims to deallocate"#
        ]],
    );
}

/// Returns a cluster with two nodes, of which n1 has a device.
fn with_device() -> TestCluster<Pipeline> {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("{metadata: {name: n1}}");
    cluster.node("{metadata: {name: n2}}");
    cluster.object("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}");
    cluster.object(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: a}, spec: {driver: d, nodeName: n1,
          pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}",
    );
    cluster
}

const REQUEST: &str =
    "devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}";

fn claim(name: &str, status: &str) -> String {
    format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {name}}}, spec: {{{REQUEST}}},
          status: {{{status}}}}}"
    )
}

fn pod_with_claim(name: &str) -> String {
    format!("spec: {{resourceClaims: [{{name: gpu, resourceClaimName: {name}}}]}}")
}

const ALLOCATED: &str = "allocation: {devices: {results: [{request: r, driver: d, pool: n1, device: gpu-0}]}}";

#[test]
fn cached_answers_follow_allocations() {
    let mut cluster = with_device();
    cluster.object(&claim("mine", ""));
    cluster.object(&claim("other", ""));
    // The third pod with this signature has a cached answer.
    for _ in 0..4 {
        assert_eq!(cluster.decide(&pod_with_claim("mine")), "n1");
    }
    cluster.object(&claim("other", ALLOCATED));
    let rejected = "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable";
    for _ in 0..4 {
        assert_eq!(cluster.decide(&pod_with_claim("mine")), rejected);
    }
    cluster.object(&claim("other", ""));
    assert_eq!(cluster.decide(&pod_with_claim("mine")), "n1");
}

#[test]
fn cached_answers_follow_slices() {
    let mut cluster = with_device();
    cluster.object(&claim("mine", ""));
    for _ in 0..4 {
        assert_eq!(cluster.decide(&pod_with_claim("mine")), "n1");
    }
    cluster.object(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: a}, spec: {driver: d, nodeName: n2,
          pool: {name: n1, generation: 2, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}",
    );
    assert_eq!(cluster.decide(&pod_with_claim("mine")), "n2");
}

#[test]
fn an_unused_claim_on_other_nodes_is_deallocated() {
    let mut cluster = with_device();
    let nodes =
        "nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n3]}]}]}";
    cluster.object(&claim("mine", &ALLOCATED.replace("}]}}", &format!("}}]}}, {nodes}}}"))));
    assert_eq!(
        cluster.decide(&pod_with_claim("mine")),
        "0/2 nodes are available: 2 resourceclaim not available on the node. deallocation of ResourceClaim completed"
    );
}

#[test]
fn an_earlier_unresolvable_rejection_leaves_no_state() {
    let name = |name: &str| format!("{{key: metadata.name, operator: In, values: [{name}]}}");
    let term = format!("{{matchFields: [{}, {}]}}", name("n1"), name("n2"));
    let required = format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}");
    check(
        &format!("{{affinity: {{nodeAffinity: {{{required}}}}}}}"),
        expect!["0/2 nodes are available: pod affinity terms conflict. not found"],
    );
}
