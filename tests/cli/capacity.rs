//! `schedc capacity`

use expect_test::expect;
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
    expect![[r#""#]].assert_eq(&folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml"]).ok());
}

#[test]
fn pools_have_their_capacity() {
    let run = folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml", "--pool-label", "zone"]);
    expect![[r#""#]].assert_eq(&run.ok());
}

#[test]
fn json_has_the_same_answer() {
    let found = folder().schedc(&["capacity", "-f", "web.yaml", "cluster.yaml", "-o", "json"]).json();
    assert_eq!(found["workloads"], json!([{"workload": "Deployment default/web", "ratio": 1, "pods": 6}]));
    assert_eq!((&found["pods"], &found["nodes"]), (&json!(6), &json!({"n1": 4, "n2": 2})));
    let next = json!({
        "workload": "Deployment default/web",
        "message": "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
        "reasons": [{"reason": "Insufficient cpu", "nodes": 2}],
    });
    assert_eq!(found["next"], next);
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
    expect![[r#""#]].assert_eq(&folder.schedc(&args).ok());
}

#[test]
fn the_maximum_ends_the_search() {
    let run = folder().schedc(&["capacity", "-f", "web.yaml", "--max", "3", "cluster.yaml"]);
    expect![[r#""#]].assert_eq(&run.ok());
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
    let files = ["daemon", "empty", "wrong", "job", "class", "other", "bound", "list", "twice", "missing"];
    let mut errors: String = files.map(|file| error(&["-f", &format!("{file}.yaml")])).concat();
    errors += &error(&["-f", "web.yaml", "--ratio", "1:2"]);
    expect![[r#""#]].assert_eq(&errors);
}

#[test]
fn example_of_the_page() {
    let run = schedc(&["capacity", "-f", "examples/workloads/storefront.yaml", EXAMPLE]);
    assert!(run.ok().contains("of Deployment shop/storefront"));
}
