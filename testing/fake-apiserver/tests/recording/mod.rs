//! Replays the writes of a kube-scheduler recording, and compares the responses with the recorded ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use crate::support::{Client, Http, STRATEGIC};
use schedc_fake_apiserver::{RecordedRequest, Server};
use serde_json::{Value, from_str, json};

const RECORDING: &str = include_str!("../../../../cluster/kubernetes/tests/recordings/requests.jsonl");

#[tokio::test]
async fn recorded_requests_get_the_recorded_responses() {
    let server = Server::start();
    let mut client = Client::new(&server, Http::Two).await;
    let mut recorded = Vec::new();
    for line in RECORDING.lines() {
        let mut request: Value = from_str(line).unwrap();
        let (verb, path) = (text(&request, "/verb"), text(&request, "/path"));
        let method = match verb.as_str() {
            "get" => "GET",
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" => "DELETE",
            _ => continue,
        };
        create_objects_of(&server, &verb, &path, &request);
        // Versions differ between runs.
        if verb == "update" {
            let version = server.get(&path).unwrap()["metadata"]["resourceVersion"].clone();
            request["body"]["metadata"]["resourceVersion"] = version;
        }
        server.scenario(&text(&request, "/scenario"));
        let content_type = if method == "PATCH" { STRATEGIC } else { "application/json" };
        let answer = client.call(method, &path, request.get("body").cloned(), content_type).await.unwrap();
        assert_eq!(answer.code, request["code"], "{request}: {}", answer.body);
        recorded.push(request);
    }
    assert!(recorded.len() > 60);
    assert_eq!(server.requests().iter().map(RecordedRequest::to_json).collect::<Vec<_>>(), recorded);
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Creates the objects that a request refers to, and that other clients created in the recording.
fn create_objects_of(server: &Server, verb: &str, path: &str, request: &Value) {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let &[.., "namespaces", namespace, "pods", pod] = without_subresource(&parts) else {
        if verb == "update" && server.get(path).is_none() {
            server.create(request["body"].clone());
        }
        // An object that this test created has another uid than in the recording.
        if verb == "update" {
            let uid = request["body"]["metadata"]["uid"].clone();
            let mut known = server.get(path).unwrap();
            if known["metadata"]["uid"] != uid {
                server.remove(path);
                known["metadata"]["uid"] = uid;
                server.create(known);
            }
        }
        return;
    };
    if server.get(&format!("/api/v1/namespaces/{namespace}/pods/{pod}")).is_some() {
        return;
    }
    let mut metadata = json!({"name": pod, "namespace": namespace});
    // The recording contains the uids of pods that are bound later.
    let bound = RECORDING
        .lines()
        .map(|line| from_str::<Value>(line).unwrap())
        .find(|other| text(other, "/path") == format!("/api/v1/namespaces/{namespace}/pods/{pod}/binding"));
    if let Some(bound) = bound {
        metadata["uid"] = bound["body"]["metadata"]["uid"].clone();
    }
    server.create(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}));
}

fn without_subresource<'a, 'b>(parts: &'a [&'b str]) -> &'a [&'b str] {
    match parts {
        [rest @ .., "binding" | "status"] => rest,
        parts => parts,
    }
}
