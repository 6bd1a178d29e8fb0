//! HTTP versions, and all requests except reads.

use std::time::Duration;

use crate::support::{Client, Http, MERGE, STRATEGIC, TIMEOUT, fill, server};
use schedc_fake_apiserver::{Server, Version};
use serde_json::{Value, from_str, json};

#[tokio::test]
async fn both_versions_of_http_work_with_and_without_tls() {
    for tls in [false, true] {
        let server = fill(if tls { Server::start_tls() } else { Server::start() }, 0);
        assert_eq!(server.authority().is_some(), tls);
        for (http, version) in [(Http::One, Version::HTTP_11), (Http::Two, Version::HTTP_2)] {
            let mut client = Client::new(&server, http).await;
            for _ in 0..2 {
                assert_eq!(client.get("/api/v1/nodes/n").await.unwrap().body["metadata"]["name"], "n");
            }
            assert_eq!(server.requests().last().unwrap().version, version);
        }
    }
}

#[test]
fn a_kubeconfig_has_the_address_and_the_authority() {
    let plain = Server::start();
    let config: Value = from_str(&plain.kubeconfig()).unwrap();
    assert_eq!(config["clusters"][0]["cluster"], json!({"server": plain.url()}));
    let config: Value = from_str(&plain.kubeconfig_with_token("t")).unwrap();
    assert_eq!(config["users"][0]["user"], json!({"token": "t"}));
    let tls = Server::start_tls();
    let config: Value = from_str(&tls.kubeconfig()).unwrap();
    assert!(config["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap().starts_with("LS0tLS1C"));
}

#[tokio::test]
async fn many_requests_are_served_at_once() {
    let server = server(0);
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::new(&server, Http::Two).await);
    }
    let tasks: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(at, mut client)| {
            tokio::spawn(async move {
                for pod in 0..50 {
                    let pod = json!({"metadata": {"name": format!("p{at}-{pod}")}});
                    assert_eq!(client.post("/api/v1/namespaces/a/pods", pod).await.unwrap().code, 201);
                }
            })
        })
        .collect();
    assert!(server.until(TIMEOUT, |server| server.count("/api/v1/namespaces/a/pods", |_| true) == 400).await);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(server.version(), 401);
    assert_eq!(server.writes().len(), 400);
}

#[tokio::test]
async fn a_victim_gets_its_condition_and_its_kubelet_ends_it() {
    let server = server(1);
    server.pods_end_after(Duration::from_millis(50));
    let mut client = Client::new(&server, Http::Two).await;
    assert_eq!(client.bind("p0", "n").await.unwrap().code, 201);
    let path = "/api/v1/namespaces/default/pods/p0";
    let patch = json!({"status": {
        "$setElementOrder/conditions": [{"type": "PodScheduled"}, {"type": "DisruptionTarget"}],
        "conditions": [{"lastProbeTime": null, "type": "DisruptionTarget", "status": "True", "observedGeneration": 1}]
    }});
    let patched = client.call("PATCH", &format!("{path}/status"), Some(patch), STRATEGIC).await.unwrap();
    assert_eq!((patched.code, &patched.body["status"]["conditions"][1]["type"]), (200, &json!("DisruptionTarget")));
    let uid = patched.body["metadata"]["uid"].clone();
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}});
    let deleted = client.call("DELETE", path, Some(options), "application/json").await.unwrap();
    assert_eq!((deleted.code, &deleted.body["metadata"]["deletionGracePeriodSeconds"]), (200, &json!(30)));
    assert!(server.get(path).is_some());
    assert!(server.until(TIMEOUT, |server| server.get(path).is_none()).await);
}

#[tokio::test]
async fn an_event_becomes_a_series() {
    let server = server(0);
    let mut client = Client::new(&server, Http::Two).await;
    let events = "/apis/events.k8s.io/v1/namespaces/a/events";
    let event = json!({
        "metadata": {"name": "p.1"}, "eventTime": "2026-11-21T11:15:17.575367Z", "type": "Normal", "note": "n",
        "reportingController": "c", "reportingInstance": "i", "action": "Binding", "reason": "Scheduled"
    });
    assert_eq!(client.post(events, event).await.unwrap().code, 201);
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-11-21T11:15:18.575367Z"}});
    let patched = client.call("PATCH", &format!("{events}/p.1"), Some(series), STRATEGIC).await.unwrap();
    assert_eq!(patched.body["series"]["count"], 2);
    let absent = client.call("PATCH", &format!("{events}/p.2"), Some(json!({})), MERGE).await.unwrap();
    assert_eq!((absent.code, &absent.body["message"]), (404, &json!("events.events.k8s.io \"p.2\" not found")));
}

#[tokio::test]
async fn registered_tokens_and_permissions_are_accepted() {
    let server = server(0);
    server.token("secret", "joe", &["readers"]);
    server.allow("joe", "get", "/metrics");
    let mut client = Client::new(&server, Http::Two).await;
    let review = json!({"spec": {"token": "secret"}});
    let reviewed = client.post("/apis/authentication.k8s.io/v1/tokenreviews", review).await.unwrap();
    assert_eq!((reviewed.code, &reviewed.body["status"]["user"]["username"]), (201, &json!("joe")));
    let review = json!({"spec": {"user": "joe", "nonResourceAttributes": {"verb": "get", "path": "/metrics"}}});
    let reviewed = client.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review).await.unwrap();
    assert_eq!(reviewed.body["status"], json!({"allowed": true}));
}

#[tokio::test]
async fn requests_are_recorded_in_the_format_of_recordings() {
    let server = server(1);
    let mut client = Client::new(&server, Http::One).await;
    server.scenario("a pod is bound");
    client.get("/api/v1/nodes?limit=5&timeoutSeconds=7").await.unwrap();
    client.bind("p0", "n").await.unwrap();
    server.scenario("elsewhere");
    client.get("/api/v1/gizmos?timeout=5s").await.unwrap();
    let lines: Vec<Value> = server.requests().iter().map(|request| request.to_json()).collect();
    let binding = json!({"metadata": {"name": "p0"}, "target": {"kind": "Node", "name": "n"}});
    let path = "/api/v1/namespaces/default/pods/p0/binding";
    let expected = [
        json!({"scenario": "a pod is bound", "verb": "list", "path": "/api/v1/nodes?limit=5", "code": 200}),
        json!({"scenario": "a pod is bound", "verb": "create", "path": path, "code": 201, "body": binding}),
        json!({"scenario": "elsewhere", "verb": "get", "path": "/api/v1/gizmos", "code": 404}),
    ];
    assert_eq!(lines, expected);
    assert_eq!(server.writes().len(), 1);
}

#[tokio::test]
async fn missing_objects_are_not_found() {
    let server = server(0);
    let mut client = Client::new(&server, Http::Two).await;
    let rows = [
        ("GET", "/readyz", 200),
        ("GET", "/version", 200),
        ("GET", "/apis/events.k8s.io/v1", 200),
        ("GET", "/api/v1/gizmos", 404),
        ("GET", "/api/v1/nodes/n/log", 404),
        ("POST", "/api/v1/nodes/n", 405),
        ("POST", "/api/v1/pods", 405),
        ("DELETE", "/api/v1/nodes", 405),
    ];
    for (method, path, code) in rows {
        let body = (method != "GET").then(|| json!({"metadata": {"name": "x"}}));
        assert_eq!(client.call(method, path, body, "application/json").await.unwrap().code, code, "{method} {path}");
    }
}

#[tokio::test]
async fn a_claim_with_a_selected_node_gets_a_volume() {
    let server = server(0);
    server.bind_volumes();
    server.create(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
        "provisioner": "disks.example.com"
    }));
    server.create(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": "fast"}
    }));
    let path = "/api/v1/namespaces/default/persistentvolumeclaims/data";
    let mut client = Client::new(&server, Http::Two).await;
    assert_ne!(client.get(path).await.unwrap().body["status"]["phase"], "Bound");
    let selected = json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n"}}});
    client.call("PATCH", path, Some(selected), "application/merge-patch+json").await.unwrap();
    assert_eq!(client.get(path).await.unwrap().body["status"]["phase"], "Bound");
}
