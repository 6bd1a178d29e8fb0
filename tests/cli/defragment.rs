//! `schedc defragment`

use serde_json::{Value, json};

use crate::cli::harness::{Folder, Run};

/// Three nodes; `n3` has two GPUs, and the pod on `n2` has no controller.
const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 4, pods: 10, example.com/gpu: 2}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, uid: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-a, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-b, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}, spec: {nodeName: n3, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: single}, spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
";

const LARGE: &str = "
{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}}
";

fn defragment(args: &[&str]) -> Run {
    let folder = Folder::with(&[("cluster.yaml", CLUSTER), ("large.yaml", LARGE), ("empty.yaml", "")]);
    folder.schedc(&[&["defragment"], args, &["cluster.yaml"]].concat())
}

#[test]
fn a_plan_empties_most_nodes() {
    let text = defragment(&[]).ok();
    assert!(text.contains("  cordon n1, n3\n") || text.contains("  cordon n3, n1\n"), "{text}");
    assert!(text.contains("  n2\n    default/single has no controller that creates it again"), "{text}");
    assert!(text.contains("GPU fragmentation (example.com/gpu)\n"), "{text}");
    assert!(text.contains("2 nodes emptied with 2 evictions; already empty: 0 nodes\n"), "{text}");
    assert!(
        text.ends_with("the plan is optimal among plans that move only pods of emptied nodes, in one of the tried orders (1 set of nodes tried)\n"),
        "{text}"
    );
}

#[test]
fn other_profiles_of_the_binary_do_not_weaken_the_bound() {
    // The profile `features` ignores resources and has an extender, but serves none of these pods.
    let folder = Folder::with(&[("cluster.yaml", &CLUSTER.replace("cpu: 1", "cpu: 3"))]);
    let Run { stdout, .. } = folder.schedc(&["defragment", "cluster.yaml", "-o", "json"]);
    let plan: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(plan["emptying"]["atMost"], 0, "{plan}");
}

#[test]
fn only_the_given_nodes_are_emptied() {
    let plan = defragment(&["--nodes", "n3", "-o", "json"]).json();
    assert_eq!((&plan["emptying"]["emptied"], &plan["emptying"]["atMost"]), (&json!(["n3"]), &json!(1)));
    assert_eq!(plan["actions"][0], json!({"action": "cordon", "node": "n3"}));
    assert_eq!(plan["actions"][1]["pod"], "default/web-b");
}

#[test]
fn room_is_made_for_a_pod() {
    let text = defragment(&["--for", "large.yaml"]).ok();
    assert!(text.contains("default/large"), "{text}");
    assert!(text.ends_with("1 of 1 pod run, after 1 eviction; 1 set of evictions tried\n"), "{text}");
    let plan = defragment(&["--for", "large.yaml", "-o", "json"]).json();
    let actions: Vec<&str> = plan["actions"].as_array().unwrap().iter().filter_map(|a| a["action"].as_str()).collect();
    assert_eq!(actions, ["cordon", "evict", "uncordon", "create"]);
}

#[test]
fn a_pod_without_room_is_exit_code_1_and_wrong_input_2() {
    let Run { code, stdout, .. } = defragment(&["--for", "large.yaml", "--nodes", "n2"]);
    assert_eq!(code, Some(1));
    assert!(
        stdout.contains("Without room\n  default/large\n    0/3 nodes are available: 3 Insufficient cpu."),
        "{stdout}"
    );
    let Run { code, stderr, .. } = defragment(&["--nodes", "n7"]);
    assert_eq!((code, stderr.contains("there is no node `n7` in the input")), (Some(2), true), "{stderr}");
    let Run { code, stderr, .. } = defragment(&["--for", "empty.yaml"]);
    assert_eq!((code, stderr.contains("the manifests have no pod")), (Some(2), true), "{stderr}");
}
