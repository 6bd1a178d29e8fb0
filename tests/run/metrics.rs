//! `/metrics` of `schedc run`.

use std::fs;
use std::net::TcpListener;

use schedc_fake_apiserver::Server;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::transport::{ApiRequest, RequestClass, Transport, Verb};
use serde_json::json;

use super::process::Scheduler;
use super::{bound, create_pods, server, wait_until};

/// Returns the body of a successful response at a path of the scheduler's HTTPS server.
fn get(scheduler: &Scheduler, port: u16, path: &str) -> Option<String> {
    let cluster = json!({"server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true});
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    let file = scheduler.file("metrics");
    fs::write(&file, kubeconfig.to_string()).expect("a file for the test");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let response = runtime.block_on(async {
        let (http, _) = Target::new(Some(&file), None).expect("a kubeconfig").http().await.expect("no credentials");
        let request = ApiRequest { verb: Verb::Get, path: path.to_owned(), body: "".into() };
        http.call(RequestClass::Review, request).await
    });
    let body = response.ok().filter(|response| response.code == 200)?.body;
    Some(String::from_utf8_lossy(&body).into_owned())
}

/// Returns the value of a series without labels.
fn value(metrics: &str, name: &str) -> f64 {
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is missing in {metrics}"))
}

#[test]
fn the_time_from_a_watch_event_to_its_binding_is_a_metric() {
    const PODS: usize = 3;
    let server: Server = server();
    create_pods(&server, 0..1);
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let flags = [
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--authorization-always-allow-paths=/metrics,/readyz",
        &format!("--secure-port={port}"),
    ];
    let mut scheduler = Scheduler::start(&server, &flags);
    wait_until(&server, &mut scheduler, "the pod of the first list is bound", |server| bound(server) == 1);
    let histogram = |name: &str, scheduler: &Scheduler| {
        let metrics = get(scheduler, port, "/metrics").expect("metrics are served");
        value(&metrics, &format!("scheduler_watch_to_bind_duration_seconds_{name}"))
    };
    assert_eq!(histogram("count", &scheduler), 0.0, "a pod of the first list has no watch event");
    create_pods(&server, 1..1 + PODS);
    wait_until(&server, &mut scheduler, "the new pods are bound", |server| bound(server) == 1 + PODS);
    assert_eq!(histogram("count", &scheduler), PODS as f64);
    let sum = histogram("sum", &scheduler);
    assert!(sum > 0.0 && sum < 60.0, "{sum} s");
}
