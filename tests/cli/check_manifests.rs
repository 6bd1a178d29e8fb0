//! `schedc check -f`

use expect_test::expect;
use serde_json::json;

use crate::cli::harness::{Folder, Run, schedc};

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, pods: 10}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
{apiVersion: v1, kind: Pod, metadata: {name: batch}, spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
";

/// Returns a Deployment with this number of replicas of one CPU each.
fn web(replicas: u32, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{{spec}containers: [{{name: c, image: c, resources: {{requests: {{cpu: 1}}}}}}]}}
"
    )
}

fn check(manifest: &str, args: &[&str]) -> Run {
    let folder = Folder::with(&[("cluster.yaml", CLUSTER), ("web.yaml", manifest)]);
    folder.schedc(&[&["check", "-f", "web.yaml", "cluster.yaml"], args].concat())
}

#[track_caller]
fn assert_output(run: Run, code: i32, expected: &str) {
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn pods_that_all_run_are_exit_code_0() {
    assert_output(check(&web(3, ""), &[]), 0, "3 pods: 3 run, 0 wait; 0 preempted\n");
}

#[test]
fn waiting_pods_are_exit_code_1() {
    assert_output(check(&web(5, ""), &[]), 1, "5 pods: 4 run, 1 wait; 0 preempted\n");
}

#[test]
fn preemption_is_exit_code_1_on_request() {
    let manifest = web(6, "priorityClassName: high, ");
    assert_output(check(&manifest, &[]), 0, "6 pods: 6 run, 0 wait; 1 preempted\n");
    assert_eq!(check(&manifest, &["--fail-on-preemption"]).code, Some(1));
}

#[test]
fn wrong_input_is_exit_code_2() {
    let error = |run: Run| {
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
        run.stderr
    };
    let found = error(check(&web(1, "nodeSelecter: {}, "), &[]));
    assert!(found.contains("nodeSelecter: unknown field"), "{found}");
    let found = error(check(&web(1, "priorityClassName: none, "), &[]));
    assert!(found.contains("there is no such PriorityClass"), "{found}");
    let found = error(check(&web(1, "schedulerName: none, "), &[]));
    assert!(found.contains("schedulerName is `none`"), "{found}");
    let found = error(schedc(&["check", "-f", "web.yaml"]));
    assert!(found.contains("no file or folder is given"), "{found}");
}

#[test]
fn json_has_every_pod() {
    let run = check(&web(5, ""), &["-o", "json"]);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let summary = json!({"pods": 5, "running": 4, "waiting": 1, "preempted": 0, "stillPending": 0});
    assert_eq!(found["summary"], summary);
    assert_eq!(
        (found["running"][0]["node"].as_str(), found["waiting"].as_array().map(Vec::len)),
        (Some("n1"), Some(1))
    );
    assert_eq!(found["workloads"][0]["nodes"], json!({"n1": 4}));
}

#[test]
fn sarif_has_a_finding_for_each_reason() {
    let run = check(&web(5, ""), &["-o", "sarif"]);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((run.code, &found["version"]), (Some(1), &json!("2.1.0")));
    let result = &found["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("pod-waits"), &json!("error")));
    let location = json!({"artifactLocation": {"uri": "web.yaml"}, "region": {"startLine": 1}});
    assert_eq!(result["locations"][0]["physicalLocation"], location);
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.starts_with("1 of 5 pods of Deployment default/web would wait: 0/2 nodes are available"), "{text}");
}

#[test]
fn sarif_of_profiles_has_their_errors() {
    let folder = Folder::with(&[("wrong.toml", "scheduler-nam = \"x\"\n")]);
    let run = folder.schedc(&["check", "wrong.toml", "-o", "sarif"]);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let result = &found["runs"][0]["results"][0];
    let location = json!({"artifactLocation": {"uri": "wrong.toml"}, "region": {"startLine": 1, "startColumn": 1}});
    assert_eq!((run.code, &result["locations"][0]["physicalLocation"]), (Some(1), &location));
}

#[test]
fn a_manifest_without_its_flag_is_named() {
    let folder = Folder::with(&[("web.yaml", &web(1, ""))]);
    expect![[r#"
        error: web.yaml has Kubernetes objects and is not a profile; give the manifests to check with -f: schedc check -f MANIFEST FILE|FOLDER...
    "#]]
    .assert_eq(&folder.schedc(&["check", "web.yaml"]).refused());
}
