//! `schedc capacity`

use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: north}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: south}}, status: {allocatable: {cpu: 2, pods: 10}}}
";

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]
";

fn folder() -> Folder {
    Folder::with(&[("cluster.yaml", CLUSTER), ("web.yaml", WEB)])
}

#[test]
fn the_number_and_the_reasons_of_the_next_pod_are_shown() {
    let text = folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml"]).ok();
    let expected = "6 more pods of Deployment default/web fit\nthe next pod waits:\n  0/2 nodes are available: 2 Insufficient cpu.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn pools_have_their_capacity() {
    let run = folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml", "--pool-label", "zone"]);
    let text = run.ok();
    assert!(text.contains("Pools by zone") && text.contains("  north") && text.contains("  south"), "{text}");
}

#[test]
fn json_has_the_same_answer() {
    let found = folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml", "-o", "json"]).json();
    assert_eq!(found["workloads"], json!([{"workload": "Deployment default/web", "ratio": 1, "pods": 6}]));
    assert_eq!((&found["pods"], &found["nodes"]), (&json!(6), &json!({"n1": 4, "n2": 2})));
    assert_eq!(found["next"]["reasons"], json!([{"reason": "Insufficient cpu", "nodes": 2}]));
}

#[test]
fn a_mix_has_a_ratio() {
    let folder = Folder::with(&[
        ("cluster.yaml", CLUSTER),
        ("web.yaml", WEB),
        (
            "db.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: db}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 2}}}]}}",
        ),
    ]);
    let args = ["capacity", "-f", "web.yaml", "-f", "db.yaml", "--ratio", "2:1", "cluster.yaml"];
    let text = folder.schedc(&args).ok();
    assert!(text.contains("of Deployment default/web (2 in a round)"), "{text}");
    assert!(text.contains("of Pod default/db (1 in a round)"), "{text}");
}

#[test]
fn the_maximum_ends_the_search() {
    let run = folder().schedc(&["capacity", "-f", "web.yaml", "--max", "3", "cluster.yaml"]);
    let text = run.ok();
    assert!(text.contains("at least 3 more pods of Deployment default/web fit\n  the maximum is reached"), "{text}");
}

#[test]
fn wrong_input_is_reported() {
    let folder = Folder::with(&[
        ("cluster.yaml", CLUSTER),
        ("web.yaml", WEB),
        ("daemon.yaml", &WEB.replace("Deployment", "DaemonSet").replace("  replicas: 2\n", "")),
        ("empty.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"),
        ("wrong.yaml", &WEB.replace("image: c,", "imag: c,").replace("replicas: 2", "replicas: many")),
        (
            "job.yaml",
            "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: -1, template: {spec: {nodeSelecter: {}, containers: [{name: c}]}}}}",
        ),
        ("class.yaml", &WEB.replace("containers:", "priorityClassName: none\n      containers:")),
        ("other.yaml", &WEB.replace("containers:", "schedulerName: none\n      containers:")),
        (
            "bound.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, containers: [{name: c}]}}",
        ),
        ("list.yaml", "{apiVersion: v1, kind: List, items: [7, {kind: Pod}]}"),
        ("twice.yaml", &format!("{WEB}---{WEB}")),
    ]);
    let error = |args: &[&str]| {
        let args = [&["capacity", "cluster.yaml"], args].concat();
        folder.schedc(&args).refused()
    };
    let expected = [
        ("daemon", "a DaemonSet has one pod on each node"),
        ("empty", "the manifests have no pod and no workload"),
        ("wrong", "wrong.yaml:"),
        ("job", "spec.template.spec.nodeSelecter: unknown field"),
        ("class", "there is no such PriorityClass"),
        ("other", "schedulerName is `none`, which is none of the profiles"),
        ("bound", "spec.nodeName: is set: the pod would skip the scheduler"),
        ("list", "is not a Kubernetes object: there are no fields"),
        ("twice", "is in the manifests twice"),
        ("missing", "missing.yaml"),
    ];
    for (file, message) in expected {
        let found = error(&["-f", &format!("{file}.yaml")]);
        assert!(found.contains(message), "{file}: {found}");
    }
    assert!(error(&["-f", "web.yaml", "--ratio", "1:2"]).contains("the ratio has 2 numbers for 1 workloads"));
}

#[test]
fn the_example_of_the_documentation_has_an_answer() {
    let run = schedc(&["capacity", "-f", "examples/workloads/storefront.yaml", EXAMPLE]);
    assert!(run.ok().contains("of Deployment shop/storefront"));
}
