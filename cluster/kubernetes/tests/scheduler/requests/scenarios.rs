//! Scenarios of the recording.

use schedc_fake_apiserver::Server;
use serde_json::{Value, json};

use super::Request;
use crate::scheduler::cluster::until;

pub(super) const START: &str = "start: leader election, first lists";
pub(super) const STOP: &str = "graceful stop";

/// Scenario: its name, its actions, and its cleanup.
type Scenario = (&'static str, fn(&Server), fn(&Server));

pub(super) const ALL: &[Scenario] = &[
    (START, nothing, nothing),
    // The pod stays until a later scenario removes it. Until then, other pods are placed on other nodes if possible.
    ("plain pod is bound", |server| create_pod(server, "plain", "p", json!({})), nothing),
    (
        "pod too large for every node; a node that fits is added",
        |server| {
            create_pod(server, "large", "p", json!({"cpu": "16"}));
            wait_for_event(server, "large", "FailedScheduling", 1);
            create_node(server, "big", "32");
        },
        |server| {
            remove_pods(server, "large");
            server.remove("/api/v1/nodes/big");
        },
    ),
    (
        "no node matches; the node's label changes",
        |server| {
            create_pod(server, "label", "p", json!({"nodeSelector": {"disk": "ssd"}}));
            wait_for_event(server, "label", "FailedScheduling", 1);
            server.merge("/api/v1/nodes/n1", json!({"metadata": {"labels": {"disk": "ssd"}}}));
        },
        nothing,
    ),
    (
        "two reasons at once",
        |server| {
            let selector = json!({"cpu": "16", "nodeSelector": {"kubernetes.io/hostname": "n1"}});
            create_pod(server, "reasons", "p", selector);
        },
        |server| remove_pods(server, "reasons"),
    ),
    (
        "gated pod; the gate is removed",
        |server| {
            create_pod(server, "gated", "p", json!({"schedulingGates": [{"name": "example.com/gate"}]}));
            let is_seen = |server: &Server| condition(server, "gated", "p", "PodScheduled") == "False";
            until(server, "the gate is seen", is_seen);
            server.merge(&pod("gated", "p"), json!({"spec": {"schedulingGates": null}}));
        },
        |server| ["plain", "label", "gated"].iter().for_each(|namespace| remove_pods(server, namespace)),
    ),
    (
        "pending pod is deleted",
        |server| {
            create_pod(server, "deleted", "p", json!({"cpu": "16"}));
            wait_for_event(server, "deleted", "FailedScheduling", 1);
            remove_pods(server, "deleted");
        },
        nothing,
    ),
    (
        "preemption: victims deleted, preemptor nominated, then bound",
        |server| {
            create_low_pods(server, "preempt");
            server.pods_end_after(std::time::Duration::from_millis(500));
            create_pod(server, "preempt", "high", json!({"cpu": "3", "priority": 1000}));
            wait_for_event(server, "preempt", "Scheduled", 3);
        },
        |server| remove_pods(server, "preempt"),
    ),
    (
        "preemptionPolicy Never",
        |server| {
            create_low_pods(server, "never");
            let high = json!({"cpu": "3", "priority": 1000, "preemptionPolicy": "Never"});
            create_pod(server, "never", "high", high);
            wait_for_event(server, "never", "FailedScheduling", 1);
            // More capacity causes a retry, but the capacity is still not enough.
            server.merge("/api/v1/nodes/n2", json!({"status": {"allocatable": {"cpu": "5"}}}));
            wait_for_event(server, "never", "FailedScheduling", 2);
            server.remove(&pod("never", "low2"));
            wait_for_event(server, "never", "Scheduled", 3);
        },
        |server| {
            remove_pods(server, "never");
            server.merge("/api/v1/nodes/n2", json!({"status": {"allocatable": {"cpu": "4"}}}));
        },
    ),
    (
        "nominated by someone else",
        |server| {
            create_pod(server, "nominated", "p", json!({"cpu": "16"}));
            wait_for_event(server, "nominated", "FailedScheduling", 1);
            server.merge(&pod("nominated", "p"), json!({"status": {"nominatedNodeName": "n1"}}));
        },
        |server| remove_pods(server, "nominated"),
    ),
    (
        "static volume, WaitForFirstConsumer",
        |server| {
            server.bind_volumes();
            create_class(server, "local", "kubernetes.io/no-provisioner");
            let term = json!({"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]},
            ]});
            server.create(json!({
                "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv1"},
                "spec": {
                    "storageClassName": "local", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                    "local": {"path": "/x"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
                },
                "status": {"phase": "Available"},
            }));
            create_claim(server, "static", "local");
            pause();
            create_pod(server, "static", "p", with_claim());
        },
        |server| remove_pods(server, "static"),
    ),
    (
        "dynamic volume, WaitForFirstConsumer (selected-node annotation; the provisioner answers)",
        |server| {
            create_class(server, "csi", "example.com/csi");
            create_claim(server, "dynamic", "csi");
            pause();
            create_pod(server, "dynamic", "p", with_claim());
        },
        |server| remove_pods(server, "dynamic"),
    ),
    (
        "missing claim",
        |server| create_pod(server, "missing", "p", with_claim()),
        |server| remove_pods(server, "missing"),
    ),
    (
        "five pods at once",
        |server| (0..5).for_each(|number| create_pod(server, "many", &format!("p{number}"), json!({}))),
        nothing,
    ),
    (STOP, nothing, nothing),
];

/// Replaces node names where the choice between equally good nodes is random.
pub(super) fn forget_draws(scenario: &str, mut request: Request) -> Request {
    if scenario == "five pods at once" {
        let text = request.body.to_string().replace("n1", "n").replace("n2", "n");
        request.body = serde_json::from_str(&text).unwrap();
    }
    request
}

/// Creates two nodes without taints, and one with a taint.
pub(super) fn create_nodes(server: &Server) {
    ["n1", "n2", "n3"].iter().for_each(|name| create_node(server, name, "4"));
    let taint = json!({"key": "dedicated", "value": "x", "effect": "NoSchedule"});
    server.merge("/api/v1/nodes/n3", json!({"spec": {"taints": [taint]}}));
}

fn nothing(_: &Server) {}

/// Waits until the scheduler has probably observed everything: watches of different kinds are not synchronized.
pub(super) fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(300));
}

fn create_node(server: &Server, name: &str, cpu: &str) {
    server.create(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "32Gi", "pods": "110"}},
    }));
}

/// Creates a pod with this spec and one container, which requests `cpu`.
fn create_pod(server: &Server, namespace: &str, name: &str, mut spec: Value) {
    let cpu = spec.as_object_mut().and_then(|spec| spec.remove("cpu")).unwrap_or("100m".into());
    spec["containers"] = json!([{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]);
    let metadata = json!({"name": name, "namespace": namespace});
    server.create(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}));
}

/// Creates two pods, each of which leaves little capacity on its node. The victim is the first one.
fn create_low_pods(server: &Server, namespace: &str) {
    for (number, name) in [(1, "low1"), (2, "low2")] {
        create_pod(server, namespace, name, json!({"cpu": "3", "priority": number}));
        wait_for_event(server, namespace, "Scheduled", number);
    }
}

fn create_class(server: &Server, name: &str, provisioner: &str) {
    server.create(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer",
    }));
}

fn create_claim(server: &Server, namespace: &str, class: &str) {
    server.create(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": namespace},
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }));
}

fn with_claim() -> Value {
    json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]})
}

fn remove_pods(server: &Server, namespace: &str) {
    for there in server.list(&format!("/api/v1/namespaces/{namespace}/pods")) {
        server.remove(&pod(namespace, there["metadata"]["name"].as_str().unwrap()));
    }
}

fn pod(namespace: &str, name: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}

fn condition(server: &Server, namespace: &str, name: &str, kind: &str) -> String {
    let pod = server.get(&pod(namespace, name)).unwrap();
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let condition = conditions.iter().find(|condition| condition["type"] == kind);
    condition.and_then(|condition| condition["status"].as_str()).unwrap_or_default().to_owned()
}

/// Waits until a number of events with a reason were written about pods of a namespace.
fn wait_for_event(server: &Server, namespace: &str, reason: &str, times: usize) {
    let events = format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events");
    until(server, reason, |server| server.count(&events, |event| event["reason"] == reason) >= times);
}
