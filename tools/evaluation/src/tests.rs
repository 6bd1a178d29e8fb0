//! Tests of the effects of a scenario's steps.

use default_profile::with_edge::Profiles;
use serde_json::{Value, json};

use super::{Decision, Evaluator, Scenario};

/// Returns a node with two CPUs.
fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "2", "pods": "10"}},
    })
}

/// Returns a pod that requests two CPUs, with these fields in its spec and status.
fn pod(name: &str, mut spec: Value, status: Value) -> Value {
    spec["containers"] = json!([{"name": "c", "resources": {"requests": {"cpu": "2"}}}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec, "status": status})
}

fn bound(name: &str, node: &str) -> Value {
    pod(name, json!({"nodeName": node}), json!({}))
}

fn pending(name: &str) -> Value {
    pod(name, json!({}), json!({}))
}

fn schedule(name: &str) -> Value {
    json!({"schedule": pending(name)})
}

fn delete(kind: &str, name: &str) -> Value {
    json!({"delete": {"kind": kind, "name": name}})
}

fn results(profile: &str, objects: &[Value], steps: &[Value]) -> Vec<Decision> {
    let scenario = json!({"id": "test", "profile": profile, "objects": objects, "steps": steps}).to_string();
    let scenario = Scenario::read(scenario.as_bytes()).unwrap();
    Evaluator::of::<Profiles>().unwrap().evaluate(scenario).unwrap().results
}

/// Returns the chosen node or the message of each scheduled pod.
fn evaluate(profile: &str, objects: &[Value], steps: &[Value]) -> Vec<String> {
    results(profile, objects, steps)
        .into_iter()
        .map(|result| result.chosen.or(result.message).unwrap_or("not attempted".into()))
        .collect()
}

fn check(objects: &[Value], steps: &[Value], outcomes: &[&str]) {
    assert_eq!(evaluate("edge", objects, steps), outcomes);
}

const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu.";

#[test]
fn a_placed_pod_uses_resources() {
    check(
        &[node("a"), node("b")],
        &[schedule("p"), schedule("q"), schedule("r")],
        &["a", "b", "0/2 nodes are available: 2 Insufficient cpu."],
    );
}

#[test]
fn a_deleted_pod_frees_its_resources() {
    check(&[node("a"), bound("p", "a")], &[schedule("q"), delete("Pod", "p"), schedule("q")], &[FULL, "a"]);
    check(&[node("a")], &[schedule("p"), delete("Pod", "p"), delete("Pod", "p"), schedule("q")], &["a", "a"]);
}

#[test]
fn a_finished_pod_does_not_exist() {
    let finished = |phase: &str| pod("p", json!({"nodeName": "a"}), json!({"phase": phase}));
    check(&[node("a"), finished("Succeeded")], &[schedule("q")], &["a"]);
    for phase in ["Succeeded", "Failed"] {
        let steps = [json!({"update": finished(phase)}), schedule("q")];
        check(&[node("a"), bound("p", "a")], &steps, &["a"]);
    }
}

#[test]
fn an_update_of_a_pod_keeps_its_node_and_creates_no_pod() {
    let update = json!({"update": pending("p")});
    check(&[node("a"), bound("p", "a")], &[update.clone(), schedule("q")], &[FULL]);
    check(&[node("a")], &[schedule("p"), update.clone(), schedule("q")], &["a", FULL]);
    check(&[node("a")], &[json!({"update": bound("p", "a")}), schedule("q")], &["a"]);
    let moved = json!({"update": bound("p", "b")});
    check(&[node("a"), node("b"), bound("p", "a")], &[moved, schedule("q")], &["a"]);
}

#[test]
fn a_pod_on_a_missing_node_uses_resources_when_the_node_is_created() {
    check(&[bound("p", "a")], &[json!({"create": node("a")}), schedule("q")], &[FULL]);
    let back = json!({"create": node("a")});
    let steps = [delete("Node", "a"), schedule("q"), back, schedule("q"), delete("Node", "b")];
    check(&[node("a"), bound("p", "a")], &steps, &["no nodes available to schedule pods", FULL]);
}

#[test]
fn a_node_can_change() {
    let mut cordoned = node("a");
    cordoned["spec"] = json!({"unschedulable": true});
    let steps = [json!({"update": cordoned}), schedule("p"), json!({"update": node("a")}), schedule("p")];
    check(&[node("a")], &steps, &["0/1 nodes are available: 1 node(s) were unschedulable.", "a"]);
}

#[test]
fn resources_are_reserved_for_a_nominated_pod_unless_it_is_gated() {
    let nominated = |name, spec| pod(name, spec, json!({"nominatedNodeName": "a"}));
    check(&[node("a"), nominated("p", json!({}))], &[schedule("q")], &[FULL]);
    check(&[node("a"), nominated("p", json!({}))], &[schedule("p")], &["a"]);
    check(&[node("a"), nominated("p", json!({"priority": -1}))], &[schedule("q")], &["a"]);
    let held = nominated("p", json!({"schedulingGates": [{"name": "approval"}]}));
    assert_eq!(evaluate("default", &[node("a"), held.clone()], &[schedule("q")]), ["a"]);
    check(&[node("a"), held], &[schedule("q")], &[FULL]);
}

#[test]
fn the_node_name_of_a_scheduled_pod_only_restricts_its_nodes() {
    let named = json!({"schedule": bound("p", "b")});
    check(&[node("a"), node("b")], &[named.clone(), schedule("q")], &["b", "a"]);
    check(&[node("a")], &[named], &["0/1 nodes are available: 1 node(s) didn't match the requested node name."]);
}

#[test]
fn nodes_named_by_a_pod_are_listed_once() {
    let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]});
    let terms = json!({"nodeSelectorTerms": [term, term]});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
    let step = json!({"schedule": pod("p", json!({"affinity": affinity}), json!({}))});
    let results = results("edge", &[node("a")], &[step]);
    assert_eq!(results[0].pre_filter.as_ref().unwrap().nodes, Some(vec!["gone".to_owned()]));
}

#[test]
fn a_gated_or_terminating_pod_is_not_attempted() {
    let gated = pod("p", json!({"schedulingGates": [{"name": "approval"}]}), json!({}));
    assert_eq!(evaluate("default", &[node("a")], &[json!({"schedule": gated})]), ["not attempted"]);
    let mut deleted = pending("p");
    deleted["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z".into();
    check(&[node("a")], &[json!({"schedule": deleted}), schedule("q")], &["not attempted", "a"]);
}

#[test]
fn pods_may_be_placed_elsewhere() {
    let scenario = json!({"id": "test", "objects": [node("a"), node("b")], "steps": [schedule("p"), schedule("q")]});
    let mut evaluator = Evaluator::of::<Profiles>().unwrap();
    evaluator.use_profile("edge").unwrap();
    let scenario = Scenario::read(scenario.to_string().as_bytes()).unwrap();
    let elsewhere = evaluator.evaluate_placing(scenario, |at, _| (at == 0).then(|| "b".to_owned())).unwrap();
    let chosen: Vec<_> = elsewhere.results.iter().map(|result| result.chosen.as_deref()).collect();
    assert_eq!(chosen, [Some("a"), Some("a")], "the first pod would be placed on a, but is on b");
}

#[test]
fn errors_are_reported_with_their_position() {
    let errors = |objects: Value, steps: Value| {
        let scenario = json!({"id": "test", "profile": "edge", "objects": objects, "steps": steps}).to_string();
        let scenario = Scenario::read(scenario.as_bytes()).unwrap();
        Evaluator::of::<Profiles>().unwrap().evaluate(scenario).unwrap_err().to_string()
    };
    for (objects, steps, error) in [
        (json!([{}]), json!([]), "objects[0]: the object has no `kind`"),
        (
            json!([node("a"), {"apiVersion": "apps/v1", "kind": "DaemonSet"}]),
            json!([]),
            "objects[1]: scheduling ignores objects of kind `DaemonSet` of `apps/v1`",
        ),
        (json!([]), json!([schedule("p"), {"create": {"kind": "Node"}}]), "steps[1]: the object has no `apiVersion`"),
        (json!([]), json!([delete("Nodes", "a")]), "steps[0]: scheduling ignores objects of kind `Nodes`"),
        (json!([]), json!([{"schedule": node("a")}]), "steps[0]: a Node cannot be scheduled"),
        (
            json!([]),
            json!([{"schedule": {"metadata": {"name": "p"}, "spec": {"containers": "nginx"}}}]),
            "steps[0]: Pod default/p: spec.containers: is string \"nginx\", but must be a list",
        ),
    ] {
        assert_eq!(errors(objects, steps), error);
    }
}
