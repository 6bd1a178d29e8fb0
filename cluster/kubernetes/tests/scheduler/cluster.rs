//! Cluster for tests. The tests act as all components of the cluster except the API server and the scheduler.

use std::collections::HashMap;
use std::time::Duration;

use schedc_fake_apiserver::{RecordedRequest, Server};
use serde_json::{Value, json};

/// Maximum wait of a test; a busy machine takes much longer than an idle one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a node with this number of CPUs.
pub(crate) fn node(name: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu.to_string(), "memory": "16Gi", "pods": "110"}},
    })
}

/// Returns a pod that requests this number of CPUs.
pub(crate) fn pod(name: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu.to_string()}}}]},
    })
}

pub(crate) fn path(name: &str) -> String {
    format!("/api/v1/namespaces/default/pods/{name}")
}

/// Returns the node of a pod, if it is bound.
pub(crate) fn node_of(server: &Server, pod: &str) -> Option<String> {
    server.get(&path(pod))?["spec"]["nodeName"].as_str().map(str::to_owned)
}

/// Returns the number of bound pods.
pub(crate) fn bound(server: &Server) -> usize {
    server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"].is_string())
}

/// Returns the notes of the FailedScheduling events of a pod.
pub(crate) fn failures(server: &Server, pod: &str) -> Vec<String> {
    let events = server.list("/apis/events.k8s.io/v1/namespaces/default/events");
    let failed = events.iter().filter(|it| it["reason"] == "FailedScheduling" && it["regarding"]["name"] == pod);
    failed.map(|event| event["note"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
pub(crate) fn wait_for_failure(server: &Server, pod: &str, why: &str) {
    until(server, why, |server| failures(server, pod).iter().any(|failure| failure.contains(why)));
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn until(server: &Server, what: &str, is_so: impl Fn(&Server) -> bool) {
    assert!(server.wait(PATIENCE, is_so), "not in time: {what}; so far {} pods are bound", bound(server));
}

/// Waits until this number of pods is bound, and checks the bindings.
#[track_caller]
pub(crate) fn wait_until_all_are_bound(server: &Server, pods: usize) {
    until(server, "all pods are bound", |server| bound(server) == pods);
    check_bindings(server);
}

/// Checks that each pod was bound at most once, and that no node exceeds its capacity.
#[track_caller]
pub(crate) fn check_bindings(server: &Server) {
    let mut times: HashMap<String, usize> = HashMap::new();
    for binding in server.requests().iter().filter(|request| is_binding(request) && request.code == 201) {
        let uid = binding.body.as_ref().unwrap()["metadata"]["uid"].as_str().unwrap();
        *times.entry(uid.to_owned()).or_default() += 1;
    }
    assert!(times.values().all(|times| *times == 1), "pods were bound more than once: {times:?}");
    let cpu = |quantity: &Value| quantity.as_str().unwrap().parse::<u32>().unwrap();
    let mut taken: HashMap<String, u32> = HashMap::new();
    for pod in server.list("/api/v1/pods") {
        if let Some(node) = pod["spec"]["nodeName"].as_str() {
            *taken.entry(node.to_owned()).or_default() +=
                cpu(&pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]);
        }
    }
    for node in server.list("/api/v1/nodes") {
        let allocatable = cpu(&node["status"]["allocatable"]["cpu"]);
        let taken = taken.get(node["metadata"]["name"].as_str().unwrap()).copied().unwrap_or_default();
        assert!(taken <= allocatable, "{taken} of {allocatable} CPUs are in use on {}", node["metadata"]["name"]);
    }
}

pub(crate) fn is_binding(request: &RecordedRequest) -> bool {
    request.verb == "create" && request.path.ends_with("/binding")
}
