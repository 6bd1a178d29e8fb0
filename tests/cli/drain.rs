//! `schedc drain`

use serde_json::json;

use crate::cli::harness::{Folder, Run};

/// Three nodes; the pods of `web` have a budget for one disruption, and a pod on `n2` has no controller.
const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, uid: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-a, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-b, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: single}, spec: {nodeName: n2, containers: [{name: c}]}}
";

fn drain(args: &[&str]) -> Run {
    Folder::with(&[("cluster.yaml", CLUSTER)]).schedc(&[&["drain"], args, &["cluster.yaml"]].concat())
}

#[test]
fn a_plan_has_all_evictions() {
    let text = drain(&["n1"]).ok();
    assert!(text.contains("  cordon n1\n") && text.contains("default/web allows 1"), "{text}");
    assert!(text.ends_with("1 of 1 node can be emptied, in this order: n1; 2 evictions\n"), "{text}");
}

#[test]
fn a_node_that_cannot_be_emptied_is_exit_code_1() {
    let Run { code, stdout, .. } = drain(&["n1,n2"]);
    assert_eq!(code, Some(1));
    let obstacle = "  n2\n    default/single has no controller that creates it again (--force deletes it)\n";
    assert!(stdout.contains(obstacle), "{stdout}");
    assert!(stdout.contains("1 of 2 nodes can be emptied, in this order: n1; 2 evictions\n"), "{stdout}");
}

#[test]
fn pods_without_a_controller_are_deleted_with_force() {
    let plan = drain(&["n2", "--force", "-o", "json"]).json();
    let step = json!({"node": "n2", "evict": "default/single", "replacement": null, "budget": null});
    assert_eq!((&plan["emptied"], &plan["steps"][0]), (&json!(["n2"]), &step));
}

#[test]
fn unknown_nodes_are_exit_code_2() {
    let Run { code, stdout, stderr } = drain(&["n1,n4"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("there is no node `n4` in the input"), "{stderr}");
}
