//! Recorded exchanges of kube-scheduler with an extender, compared with this scheduler in the same cluster. The
//! requests must be equal except for times, uids, versions and the order of nodes, which is random in kube-scheduler.
//!
//! The URL of the extender comes from the environment, as in a real scheduler. Therefore each test starts its own
//! executable again.

use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use schedc_core::profile::Bundle;
use schedc_in_memory::simulator::{Options, Simulator};
use schedc_objects::AnyObject;
use serde_json::{Value, json};

use crate::server::{Reply, Server};

mod full_nodes {
    schedc_macros::profile!("tests/recorded/profiles/full-nodes.toml");
}
mod cached {
    schedc_macros::profile!("tests/recorded/profiles/cached.toml");
}
mod managed {
    schedc_macros::profile!("tests/recorded/profiles/managed.toml");
}

/// Recorded request and its response.
struct Exchange {
    path: String,
    body: Value,
    answer: Value,
}

fn recorded(name: &str) -> Vec<Exchange> {
    let file = format!("{}/tests/recorded/exchanges/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(file).expect("it is there");
    let line = |line: &str| -> Exchange {
        let mut line: Value = serde_json::from_str(line).expect("it is JSON");
        let path = line["path"].as_str().expect("a path").to_owned();
        Exchange { path, body: line["body"].take(), answer: line["answer"].take() }
    };
    text.lines().map(line).collect()
}

/// Removes fields that differ between runs, and sorts lists.
fn comparable(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            for key in [
                "uid",
                "UID",
                "PodUID",
                "resourceVersion",
                "generation",
                "creationTimestamp",
                "lastTransitionTime",
                "time",
            ] {
                members.remove(key);
            }
            // Fields of conditions that depend on their writer: Go writes `lastProbeTime` as `null`, and
            // `observedGeneration` is a version.
            members.remove("lastProbeTime");
            members.remove("observedGeneration");
            members.values_mut().for_each(|member| *member = comparable(member.take()));
        }
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| *element = comparable(element.take()));
            elements.sort_by_key(ToString::to_string);
        }
        _ => {}
    }
    value
}

/// Starts the test `test` again in a second process, which runs the simulation. The first process compares the requests
/// with the recorded ones.
fn replay<B: Bundle>(name: &str, test: &str) {
    const URL: &str = "SCHEDC_EXTENDER_URL_PREFIX";
    let exchanges = recorded(name);
    if env::var(URL).is_ok() {
        return simulate::<B>(&exchanges);
    }
    let (expected, responses): (Vec<_>, Vec<_>) = exchanges
        .into_iter()
        .map(|exchange| ((exchange.path, comparable(exchange.body)), exchange.answer.to_string()))
        .unzip();
    let next = AtomicUsize::new(0);
    let server = Server::start(move |_, _| match responses.get(next.fetch_add(1, Ordering::Relaxed)) {
        Some(answer) => Reply::Json(answer.clone()),
        None => Reply::Code(500),
    });
    let test = format!("recorded::{test}");
    let mut command = Command::new(env::current_exe().expect("it has a name"));
    let output = command.args(["--exact", &test, "--nocapture"]).env(URL, &server.url).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let requests = server.take_requests().into_iter().map(|(path, body)| (path, comparable(body)));
    let requests: Vec<_> = requests.take(expected.len()).collect();
    for (request, expected) in requests.iter().zip(&expected) {
        assert_eq!(request, expected);
    }
    assert_eq!(requests.len(), expected.len());
}

/// Creates the nodes of the recording, and its pods one after the other.
fn simulate<B: Bundle>(exchanges: &[Exchange]) {
    let mut simulator = Simulator::of::<B>(Options::default()).expect("the profile is valid");
    let object = |kind: &str, value: &Value| -> AnyObject {
        let value = value.clone();
        match kind {
            "Node" => AnyObject::Node(Box::new(serde_json::from_value(value).expect("a node"))),
            _ => AnyObject::Pod(Box::new(serde_json::from_value(value).expect("a pod"))),
        }
    };
    // All recordings were made with the same nodes. Only the recording `full-nodes` contains full nodes.
    let full = recorded("full-nodes");
    for node in full[0].body["Nodes"]["items"].as_array().expect("nodes") {
        simulator.add(object("Node", node)).expect("it has a name");
    }
    let mut names = Vec::new();
    for pod in exchanges.iter().map(|exchange| &exchange.body["Pod"]).filter(|pod| pod.is_object()) {
        if !names.contains(&&pod["metadata"]["name"]) {
            names.push(&pod["metadata"]["name"]);
            simulator.add(object("Pod", pod)).expect("it has a name");
            simulator.run();
        }
    }
    assert_ne!(json!(names), json!([]));
}

#[test]
fn requests_with_full_nodes_equal_those_of_kube_scheduler() {
    replay::<full_nodes::Profiles>("full-nodes", "requests_with_full_nodes_equal_those_of_kube_scheduler");
}

#[test]
fn requests_with_node_names_equal_those_of_kube_scheduler() {
    replay::<cached::Profiles>("cached", "requests_with_node_names_equal_those_of_kube_scheduler");
}

#[test]
fn requests_with_managed_resources_equal_those_of_kube_scheduler() {
    replay::<managed::Profiles>("managed", "requests_with_managed_resources_equal_those_of_kube_scheduler");
}
