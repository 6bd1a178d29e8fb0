//! Requests in JSON.

use expect_test::expect;
use schedc_api::Cluster;
use serde_json::{Value, json};

use crate::default_profile;

fn answers(requests: &str) -> String {
    let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
    String::from_utf8(cluster.requests(requests.as_bytes())).unwrap()
}

fn node(name: &str, cpu: &str) -> Value {
    let status = json!({"allocatable": {"cpu": cpu, "pods": "10"}});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
}

fn pod(name: &str, cpu: &str) -> Value {
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}})
}

fn lines(requests: &[Value]) -> String {
    requests.iter().map(|request| format!("{request}\n")).collect()
}

#[test]
fn each_line_has_a_line_of_answers() {
    let requests = [
        json!({"op": "apply", "objects": [node("a", "2"), node("b", "1"), pod("p", "2"), pod("q", "1")]}),
        json!({"op": "nodes"}),
        json!({"op": "fork"}),
        json!({"op": "schedule", "pod": "p", "node": "a"}),
        json!({"op": "pods"}),
        json!({"op": "check-nodes", "pod": "q"}),
        json!({"op": "schedule-on-any", "pod": "q", "nodes": ["a", "b"]}),
        json!({"op": "unschedule", "pod": "q"}),
        json!({"op": "delete", "kind": "Node", "name": "b"}),
        json!({"op": "commit"}),
        json!({"op": "revert"}),
        json!({"op": "forks"}),
        json!({"op": "check", "pod": "q", "node": "a"}),
        json!({"op": "estimate", "template": [node("group", "4")], "pods": ["q", "p"], "max-nodes": 3}),
        json!({"op": "clear"}),
        json!({"op": "apply-columns", "template": pod("", "1"), "columns": {"/metadata/name": ["x", "y"]}}),
        json!({"op": "pods"}),
    ];
    expect![[r#"
        {"result":{"nodes":2,"pods":2,"others":0,"skipped":{}}}
        {"result":["a","b"]}
        {"result":1}
        {"result":{"code":"Success"}}
        {"result":{"default/p":"a","default/q":null}}
        {"result":{"a":{"code":"Unschedulable","plugin":"NodeResourcesFit","reasons":["Insufficient cpu"]},"b":{"code":"Success"}}}
        {"result":{"node":"b"}}
        {"result":true}
        {"result":true}
        {"result":0}
        {"result":0}
        {"result":0}
        {"result":{"code":"Unschedulable","plugin":"NodeResourcesFit","reasons":["Insufficient cpu"]}}
        {"result":{"nodes":1,"placed":["default/q"],"left":[{"pod":"default/p","rejection":{"code":"Error","reasons":["the pod has a node already"]}}]}}
        {"result":null}
        {"result":{"nodes":0,"pods":2,"others":0,"skipped":{}}}
        {"result":{"default/x":null,"default/y":null}}
    "#]]
    .assert_eq(&answers(&lines(&requests)));
}

#[test]
fn an_error_does_not_prevent_the_requests_after_it() {
    let requests = "7\n\n{\"op\": \"forget\"}\n{\"op\": \"check\", \"pod\": \"p\", \"node\": \"a\"}\n\
                    {\"op\": \"apply\", \"objects\": [{}]}\n{\"op\": \"fork\", \"name\": \"x\"}\n{\"op\": \"fork\"}";
    expect![[r#"
        {"error":{"code":"invalid-request","message":"not a request: invalid type: integer `7`, expected a JSON object with `op` at line 1 column 1"}}
        {"error":{"code":"invalid-request","message":"not a request: unknown variant `forget`, expected one of `apply`, `apply-columns`, `delete`, `clear`, `fork`, `commit`, `revert`, `forks`, `nodes`, `pods`, `check`, `check-nodes`, `schedule`, `schedule-on-any`, `unschedule`, `decide`, `estimate` at line 1 column 15"}}
        {"error":{"code":"unknown-pod","message":"there is no pod `p`; add it to the cluster first"}}
        {"error":{"code":"invalid-objects","message":"objects items[0]: is not a Kubernetes object: there is no `apiVersion` and no `kind`"}}
        {"error":{"code":"invalid-request","message":"not a request: unknown field `name`, there are no fields"}}
        {"result":1}
    "#]].assert_eq(&answers(requests));
}

#[test]
fn a_decision_has_the_bytes_of_evaluate() {
    let apply = json!({"op": "apply", "objects": [node("a", "2"), pod("p", "2")]});
    let answers = answers(&lines(&[apply, json!({"op": "decide", "pod": "p"})]));
    let scenario =
        json!({"id": "s", "profile": "default", "objects": [node("a", "2")], "steps": [{"schedule": pod("p", "2")}]});
    let mut evaluator = schedc_api::Evaluator::new(&default_profile()).unwrap();
    let line = evaluator.evaluate(scenario.to_string().as_bytes()).unwrap();
    let decision = answers.lines().last().unwrap().strip_prefix(r#"{"result":"#).unwrap().strip_suffix('}').unwrap();
    assert_eq!(line, format!(r#"{{"id":"s","profile":"default","results":[{decision}]}}"#));
}
