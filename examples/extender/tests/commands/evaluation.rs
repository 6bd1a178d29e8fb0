//! `evaluate` sends the objects of scenarios to extenders.

use expect_test::expect;
use schedc::evaluation::{Evaluator, Scenario};
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::{Overrides, Setting};
use serde_json::{Value, json};

use crate::process::{finish, program};
use crate::webhook::{Reply, Server};

fn node(name: &str) -> Value {
    let amounts = json!({"cpu": "4", "pods": "10"});
    json!({
        "apiVersion": "v1", "kind": "Node", "status": {"allocatable": amounts},
        "metadata": {"name": name, "annotations": {"example.com/note": name}},
    })
}

fn pod(name: &str) -> Value {
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
    json!({"metadata": {"name": name, "annotations": {"example.com/note": name}}, "spec": {"containers": containers}})
}

/// Evaluates a scenario with the extender at a server.
fn evaluate(server: &Server, objects: &[Value], steps: &[Value]) -> Value {
    let scenario = json!({"id": "s", "profile": "gpu", "objects": objects, "steps": steps});
    let flags = ["evaluate", "--extender-url-prefix", &server.url];
    finish(&mut program(&flags), &scenario.to_string()).json()["results"].take()
}

fn without_type(mut object: Value) -> Value {
    let members = object.as_object_mut().unwrap();
    ["apiVersion", "kind"].iter().for_each(|key| drop(members.remove(*key)));
    object
}

/// Starts an extender that rejects one node.
fn all_but(left_out: &'static str) -> Server {
    Server::start(move |path, request| {
        let nodes = request["Nodes"]["items"].as_array().unwrap();
        let left: Vec<&Value> = nodes.iter().filter(|node| node["metadata"]["name"] != left_out).collect();
        Reply::Json(match path {
            "/x/filter" => json!({"Nodes": {"items": left}, "FailedNodes": {left_out: "no GPU"}}).to_string(),
            _ => json!([{"Host": "b", "Score": 1}, {"Host": "c", "Score": 9}]).to_string(),
        })
    })
}

#[test]
fn extenders_receive_original_objects_and_decide() {
    let server = all_but("a");
    let nodes = ["a", "b", "c"].map(node);
    let results = evaluate(&server, &nodes, &[json!({"schedule": pod("p")})]);
    let decision = &results[0];
    assert_eq!(
        (&decision["chosen"], &decision["feasible"], &decision["best"]),
        (&json!("c"), &json!(["b", "c"]), &json!(["c"]))
    );
    let rejected = json!({"code": "Unschedulable", "plugin": "Extender", "reasons": ["no GPU"]});
    assert_eq!(decision["nodes"]["a"], rejected);
    assert_eq!(decision["nodes"]["b"]["scores"]["Extender"], 10);
    assert_eq!(decision["nodes"]["c"]["scores"]["Extender"], 90);

    let requests = server.take_requests();
    let paths: Vec<&str> = requests.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/x/filter", "/x/prioritize"], "once each");
    assert_eq!(requests[0].1["Nodes"]["items"], json!(nodes.map(without_type)));
    assert_eq!(requests[0].1["Pod"]["metadata"]["annotations"], json!({"example.com/note": "p"}));
}

#[test]
fn extenders_receive_current_nodes() {
    let server = all_but("a");
    let mut changed = node("b");
    changed["metadata"]["annotations"] = json!({"example.com/note": "changed"});
    let steps =
        [json!({"update": changed}), json!({"delete": {"kind": "Node", "name": "c"}}), json!({"schedule": pod("p")})];
    let results = evaluate(&server, &["a", "b", "c"].map(node), &steps);
    assert_eq!(results[0]["chosen"], "b");
    let requests = server.take_requests();
    assert_eq!(requests.len(), 1, "the only node that is left needs no score");
    assert_eq!(requests[0].1["Nodes"]["items"], json!([without_type(node("a")), without_type(changed)]));
}

#[test]
fn preemption_considers_nodes_that_extenders_call_resolvable() {
    let server = Server::start(|_, _| {
        let unresolvable = json!({"a": "no GPU at all"});
        Reply::Json(
            json!({"FailedNodes": {"b": "no GPU left"}, "FailedAndUnresolvableNodes": unresolvable}).to_string(),
        )
    });
    let on_node = |name: &str, node: &str| {
        let mut pod = pod(name);
        pod["apiVersion"] = json!("v1");
        pod["kind"] = json!("Pod");
        pod["spec"]["nodeName"] = json!(node);
        pod
    };
    let mut strong = pod("strong");
    strong["spec"]["priority"] = json!(10);
    let objects = [node("a"), node("b"), on_node("on-a", "a"), on_node("on-b", "b")];
    let decision = evaluate(&server, &objects, &[json!({"schedule": strong})])[0].take();
    assert_eq!(decision["nodes"]["a"]["code"], "UnschedulableAndUnresolvable");
    // The pod fits on node b as it is, so preemption finds no victims there. That is an error, as in kube-scheduler.
    expect![[r#"0/2 nodes are available: 1 no GPU at all, 1 no GPU left. preemption: expected at least one victim pod on node "b""#]].assert_eq(decision["message"].as_str().unwrap());
}

#[test]
fn an_extender_failure_is_the_message_of_the_pod() {
    let server = Server::start(|_, _| Reply::Code(503));
    let decision = evaluate(&server, &["a", "b"].map(node), &[json!({"schedule": pod("p")})])[0].take();
    let message = format!("failed filter with extender at URL {}/filter, code 503", server.url);
    assert_eq!((&decision["message"], &decision["reason"]), (&json!(message), &json!("SchedulerError")));
}

#[test]
fn a_pod_rejected_by_an_extender_is_woken_by_any_event() {
    let event = json!({"old": null, "new": node("b")});
    let scenario =
        json!({"id": "s", "profile": "gpu", "objects": [], "pod": pod("p"), "plugins": ["Extender"], "event": event});
    let result = finish(&mut program(&["evaluate", "--hints"]), &scenario.to_string()).json();
    assert_eq!((&result["hints"], &result["registered"]), (&json!({"Extender": "Queue"}), &json!({"Extender": true})));
    assert_eq!(result["queue"], "backoff");
}

mod preempting {
    schedc::profile!("tests/commands/preempting.toml");
}

#[test]
fn extenders_receive_victims_with_their_node() {
    let server = Server::start(|_, request| {
        let victims = request["NodeNameToVictims"]["a"]["Pods"].as_array().unwrap();
        let left: Vec<Value> = victims.iter().map(|pod| json!({"UID": pod["metadata"]["uid"]})).collect();
        Reply::Json(json!({"NodeNameToMetaVictims": {"a": {"Pods": left}}}).to_string())
    });
    let with_cpu = |name: &str, priority: i32| {
        let mut pod = pod(name);
        pod["metadata"]["uid"] = json!(name);
        pod["spec"]["priority"] = json!(priority);
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("3");
        pod
    };
    let steps = [json!({"schedule": with_cpu("weak", 0)}), json!({"schedule": with_cpu("strong", 10)})];
    let scenario = json!({"id": "s", "profile": "preempting", "objects": [node("a")], "steps": steps}).to_string();
    let mut overrides = Overrides::default();
    overrides.add(Setting::UrlPrefix, server.url.clone());
    let mut evaluator = Evaluator::new(&AnyBundle::of::<preempting::Profiles>(), &overrides).unwrap();
    let results = evaluator.evaluate(Scenario::read(scenario.as_bytes()).unwrap()).unwrap().results;
    let outcomes = &results[1].preemption.as_ref().unwrap().outcomes;
    assert_eq!(outcomes[0].victims, ["default/weak"]);
    let victim = &server.take_requests()[0].1["NodeNameToVictims"]["a"]["Pods"][0];
    assert_eq!(victim["spec"]["nodeName"], "a");
    assert_eq!(victim["metadata"]["annotations"], json!({"example.com/note": "weak"}));
}
