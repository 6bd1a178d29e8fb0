//! Pods that get devices for their claims and for extended resources.

use expect_test::expect;

use crate::simulation::{nodes, outcome};

const NODES: [(&str, &str); 2] = [("n1", "a"), ("n2", "a")];

/// Returns a slice with the devices of a node.
fn devices(node: &str, names: &[&str]) -> String {
    let devices: String = names.iter().map(|name| format!("{{name: {name}}},")).collect();
    format!(
        "---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: slice-{node}}}
spec:
  driver: gpu.example.com
  nodeName: {node}
  pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}
  devices: [{devices}]
"
    )
}

const CLASS: &str = "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {extendedResourceName: example.com/gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
";

fn pod(name: &str, spec: &str) -> String {
    format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

const TEMPLATE: &str = "containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}], \
                        resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]";
const EXTENDED: &str =
    "containers: [{name: c, image: i, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]";

#[test]
fn pods_of_a_template_get_devices_until_none_is_left() {
    let pods: String = ["a", "b", "c", "d"].map(|name| pod(name, TEMPLATE)).concat();
    let cluster = nodes(&NODES) + CLASS + &devices("n1", &["gpu-0", "gpu-1"]) + &devices("n2", &["gpu-0"]) + &pods;
    let outcome = outcome(&cluster);
    assert_eq!(outcome.matches(" on n1").count(), 2, "{outcome}");
    assert_eq!(outcome.matches(" on n2").count(), 1, "{outcome}");
    let rejected = "default/d: 0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: \
                    0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert!(outcome.contains(rejected), "{outcome}");
}

#[test]
fn devices_serve_extended_resources_of_nodes_that_do_not_have_them() {
    let pods: String = ["a", "b"].map(|name| pod(name, EXTENDED)).concat();
    let cluster = nodes(&NODES) + CLASS + &devices("n2", &["gpu-0"]) + &pods;
    expect![[r#"
        default/a on n2
        default/b: 0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
    "#]]
    .assert_eq(&outcome(&cluster));
}

#[test]
fn pods_share_a_claim_on_one_node() {
    let claim = "---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
";
    let spec = "containers: [{name: c, image: i}], resourceClaims: [{name: gpu, resourceClaimName: shared}]";
    let pods: String = ["a", "b", "c"].map(|name| pod(name, spec)).concat();
    let cluster = nodes(&NODES) + CLASS + claim + &devices("n2", &["gpu-0"]) + &pods;
    expect![[r#"
        default/a on n2
        default/b on n2
        default/c on n2
    "#]]
    .assert_eq(&outcome(&cluster));
}
