//! Real extenders at a fake API server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use schedc_extender::Extender;
use schedc_fake_apiserver::{RecordedRequest, Server};
use schedc_kubernetes::driver::StopReason;
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::table::Endpoint;
use schedc_kubernetes::metrics::{Metrics, MetricsHooks, MetricsSettings};
use schedc_kubernetes::transport::{ApiRequest, Http, RequestClass, Transport, Verb};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::scheduler::cluster::{
    check_bindings, failures, is_binding, node, node_of, path, pod, until, wait_for_failure, wait_until_all_are_bound,
};
use crate::scheduler::extender::{Reply, Server as Webhook};
use crate::scheduler::extender_replica::replica;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

/// Returns an extender without verbs.
fn at(url: &str) -> Extender {
    Extender {
        url_prefix: String::leak(url.to_owned()),
        filter_verb: None,
        prioritize_verb: None,
        preempt_verb: None,
        bind_verb: None,
        unreserve_verb: None,
        weight: 1,
        enable_https: false,
        tls: None,
        http_timeout: Duration::from_secs(30),
        node_cache_capable: true,
        managed_resources: &[],
        ignorable: false,
    }
}

fn filters(url: &str) -> Extender {
    Extender { filter_verb: Some("filter"), ..at(url) }
}

/// Starts an API server with nodes of four CPUs.
fn cluster(nodes: &[&str]) -> Server {
    let server = Server::start();
    nodes.iter().for_each(|name| drop(server.create(node(name, 4))));
    server
}

/// Returns an object in the form that extenders receive.
fn without_type(mut object: Value) -> Value {
    let members = object.as_object_mut().unwrap();
    ["apiVersion", "kind"].iter().for_each(|key| drop(members.remove(*key)));
    object
}

fn metrics() -> Metrics {
    Metrics::new(MetricsSettings {
        profiles: vec!["default-scheduler"],
        host: "host".into(),
        lease: None,
        health: Health::new(None),
        disabled: BTreeSet::new(),
    })
}

/// Returns the number of calls of an extender, as the metrics report it.
fn calls(metrics: &Metrics, extender: &str, result: &str, verb: &str) -> u64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let text = runtime.block_on(metrics.render(Endpoint::Metrics));
    let of = format!(
        r#"scheduler_extender_call_duration_seconds_count{{extender="{extender}",result="{result}",verb="{verb}"}} "#
    );
    text.lines().find_map(|line| line.strip_prefix(&of)).map_or(0, |count| count.parse().unwrap())
}

#[test]
fn extenders_receive_originals_and_filter() {
    let server = cluster(&["n1", "n2", "n3", "n4"]);
    let whole = Webhook::start(|_, request| {
        let is_left = |node: &&Value| node["metadata"]["name"] != "n1";
        let left: Vec<&Value> = request["Nodes"]["items"].as_array().unwrap().iter().filter(is_left).collect();
        Reply::Json(json!({"Nodes": {"items": left}, "FailedNodes": {"n1": "no"}}).to_string())
    });
    let names = Webhook::start(|path, request| match path {
        "/x/filter" => {
            let is_left = |name: &&Value| **name != "n2";
            let left: Vec<&Value> = request["NodeNames"].as_array().unwrap().iter().filter(is_left).collect();
            Reply::Json(json!({"NodeNames": left}).to_string())
        }
        _ => Reply::Json(json!([{"Host": "n3", "Score": 1}, {"Host": "n4", "Score": 10}]).to_string()),
    });
    let metrics = metrics();
    let extenders = vec![
        Extender { node_cache_capable: false, ..filters(&whole.url) },
        Extender { prioritize_verb: Some("prioritize"), ..filters(&names.url) },
    ];
    let _replica = replica(&server, false, extenders, MetricsHooks::new(metrics.clone()));
    let created = without_type(server.create(pod("p", 1)));
    wait_until_all_are_bound(&server, 1);
    assert_eq!(node_of(&server, "p").as_deref(), Some("n4"));

    let (path, body) = whole.take_requests().remove(0);
    assert_eq!((path.as_str(), &body["Pod"], &body["NodeNames"]), ("/x/filter", &created, &Value::Null));
    let mut nodes: Vec<Value> = body["Nodes"]["items"].as_array().unwrap().clone();
    nodes.sort_by_key(|node| node["metadata"]["name"].to_string());
    assert_eq!(nodes, server.list("/api/v1/nodes").into_iter().map(without_type).collect::<Vec<_>>());
    let requests: Vec<(String, usize)> = names
        .take_requests()
        .into_iter()
        .map(|(path, body)| (path, body["NodeNames"].as_array().unwrap().len()))
        .collect();
    assert_eq!(requests, [("/x/filter".to_owned(), 3), ("/x/prioritize".to_owned(), 2)]);

    for (extender, verb) in [(&whole, "filter"), (&names, "filter"), (&names, "prioritize")] {
        assert_eq!(calls(&metrics, &extender.url, "success", verb), 1, "{verb}");
    }
}

#[test]
fn a_rejected_pod_gets_the_reason_and_is_bound_after_a_change() {
    let server = cluster(&["n1", "n2"]);
    let is_full = Arc::new(AtomicBool::new(true));
    let full = is_full.clone();
    let webhook = Webhook::start(move |_, request| {
        let answer = match full.load(Ordering::Relaxed) {
            true => json!({"NodeNames": [], "FailedNodes": {"n1": "no GPU", "n2": "no GPU"}}),
            false => json!({"NodeNames": request["NodeNames"]}),
        };
        Reply::Json(answer.to_string())
    });
    let _replica = replica(&server, false, vec![filters(&webhook.url)], ());
    server.create(pod("p", 1));
    wait_for_failure(&server, "p", "0/2 nodes are available: 2 no GPU.");
    is_full.store(false, Ordering::Relaxed);
    // Any event retries the pod.
    server.merge("/api/v1/nodes/n1", json!({"metadata": {"labels": {"gpu": "free"}}}));
    wait_until_all_are_bound(&server, 1);
}

/// Returns a handler that binds pods as an extender does, with a separate client.
fn binds(server: &Server) -> impl Fn(&Value) -> Reply + Send + Sync + 'static {
    let url = server.url();
    move |request| {
        let http = Http::new(&url.parse().unwrap(), None);
        http.set_authorization(Some("Bearer webhook".parse().unwrap()));
        let (namespace, name) = (request["PodNamespace"].as_str().unwrap(), request["PodName"].as_str().unwrap());
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"namespace": namespace, "name": name, "uid": request["PodUID"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": request["Node"]},
        });
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/binding");
        let call = ApiRequest { verb: Verb::Create, path, body: binding.to_string().into() };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(http.call(RequestClass::Bind, call)).unwrap();
        assert_eq!(answer.code, 201);
        Reply::Json("{}".to_owned())
    }
}

#[test]
fn extenders_bind_and_are_notified_of_unreserve() {
    let server = cluster(&["n1"]);
    let (bind, has_refused) = (binds(&server), AtomicBool::new(false));
    let webhook = Webhook::start(move |path, request| match path {
        "/x/bind" if request["PodName"] == "p0" && !has_refused.swap(true, Ordering::Relaxed) => {
            Reply::Json(r#"{"Error":"not yet"}"#.to_owned())
        }
        "/x/bind" => bind(request),
        _ => Reply::Json(String::new()),
    });
    let metrics = metrics();
    let extenders = vec![Extender { bind_verb: Some("bind"), unreserve_verb: Some("unreserve"), ..at(&webhook.url) }];
    let _replica = replica(&server, false, extenders, MetricsHooks::new(metrics.clone()));
    (0..4).for_each(|number| drop(server.create(pod(&format!("p{number}"), 1))));
    wait_until_all_are_bound(&server, 4);
    wait_for_failure(&server, "p0", "not yet");
    let is_ours = |request: &RecordedRequest| is_binding(request) && request.token != "webhook";
    assert_eq!(server.count_requests(is_ours), 0);
    // Pods that the extender bound use the capacity of their node.
    server.create(pod("late", 1));
    wait_for_failure(&server, "late", "0/1 nodes are available: 1 Insufficient cpu.");
    let mut requests = webhook.take_requests();
    requests.retain(|(path, _)| path == "/x/unreserve");
    let uid = server.get(&path("p0")).unwrap()["metadata"]["uid"].clone();
    let undone = json!({"PodName": "p0", "PodNamespace": "default", "PodUID": uid, "Node": "n1"});
    assert_eq!(requests, [("/x/unreserve".to_owned(), undone)]);
    assert_eq!(calls(&metrics, &webhook.url, "error", "bind"), 1);
    assert_eq!(calls(&metrics, &webhook.url, "success", "bind"), 4);
}

#[test]
fn a_pod_stays_bound_after_a_late_response_of_an_extender() {
    let server = cluster(&["n1"]);
    let bind = binds(&server);
    let webhook = Webhook::start(move |path, request| match path {
        "/x/bind" => Reply::Late(Duration::from_secs(6), Box::new(bind(request))),
        _ => Reply::Json(String::new()),
    });
    let metrics = metrics();
    let extender = Extender {
        bind_verb: Some("bind"),
        unreserve_verb: Some("unreserve"),
        http_timeout: Duration::from_secs(3),
        ..at(&webhook.url)
    };
    let _replica = replica(&server, false, vec![extender], MetricsHooks::new(metrics.clone()));
    server.create(pod("p", 3));
    until(&server, "the call has timed out", |_| calls(&metrics, &webhook.url, "error", "bind") > 0);
    // The pod keeps its resources, is not retried, and no unreserve is sent.
    server.create(pod("late", 2));
    wait_for_failure(&server, "late", "0/1 nodes are available: 1 Insufficient cpu.");
    let paths: Vec<String> = webhook.take_requests().into_iter().map(|(path, _)| path).collect();
    assert_eq!((node_of(&server, "p").as_deref(), &paths[..]), (Some("n1"), &["/x/bind".to_owned()][..]));
    check_bindings(&server);
}

#[test]
fn victims_named_by_extenders_are_evicted() {
    let server = cluster(&["n1"]);
    let on_node = |name: &str| {
        let mut pod = pod(name, 2);
        pod["spec"]["nodeName"] = json!("n1");
        server.create(pod)["metadata"]["uid"].clone()
    };
    let uids = ["a", "b"].map(on_node);
    // The extender names the victim that the scheduler did not propose; either is valid.
    let webhook = Webhook::start(move |_, request| {
        let proposed = &request["NodeNameToVictims"]["n1"]["Pods"][0]["metadata"]["uid"];
        let other = uids.iter().find(|uid| *uid != proposed);
        Reply::Json(json!({"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": other}]}}}).to_string())
    });
    let extender = Extender { preempt_verb: Some("preempt"), node_cache_capable: false, ..at(&webhook.url) };
    let _replica = replica(&server, false, vec![extender], ());
    let mut strong = pod("strong", 2);
    strong["spec"]["priority"] = json!(10);
    server.create(strong);
    let is_eviction = |request: &RecordedRequest| request.verb == "delete" && request.path.starts_with(&path(""));
    until(&server, "a pod is evicted", |server| server.count_requests(is_eviction) > 0);
    let (at, request) = webhook.take_requests().remove(0);
    let proposed = &request["NodeNameToVictims"]["n1"]["Pods"];
    assert_eq!(
        (at.as_str(), proposed.as_array().unwrap().len(), &proposed[0]["spec"]["nodeName"]),
        ("/x/preempt", 1, &json!("n1"))
    );
    let kept = path(proposed[0]["metadata"]["name"].as_str().unwrap());
    let evicted: Vec<String> = server.requests().into_iter().filter(is_eviction).map(|request| request.path).collect();
    assert!(evicted.iter().all(|path| *path != kept), "{evicted:?}");
}

#[test]
fn a_slow_extender_does_not_block_lease_renewal() {
    let server = cluster(&["n1"]);
    // The response takes longer than the lease duration, by the test's clock.
    let webhook = Webhook::start(|_, request| {
        let answer = json!({"NodeNames": request["NodeNames"]}).to_string();
        Reply::Late(Duration::from_secs(5), Box::new(Reply::Json(answer)))
    });
    let replica = replica(&server, true, vec![filters(&webhook.url)], ());
    server.create(pod("p", 1));
    until(&server, "the extender is asked", |_| !webhook.take_requests().is_empty());
    let before = server.requests().len();
    wait_until_all_are_bound(&server, 1);
    let requests = server.requests();
    let meanwhile = requests[before..].iter().take_while(|request| !is_binding(request));
    let is_renewal =
        |request: &&RecordedRequest| request.path == LEASE && request.verb == "update" && request.code == 200;
    let renewals = meanwhile.filter(is_renewal).count();
    assert!(renewals >= 3, "the lease was renewed {renewals} times");
    assert_eq!(replica.stop(), Some(StopReason::Stopped));
}

#[test]
fn an_unreachable_extender_is_reported_unless_ignorable() {
    const UNREACHABLE: &str = "http://127.0.0.1:1/x";
    const WHY: &str = "extender http://127.0.0.1:1/x: filter: connection refused";
    let server = cluster(&["n1"]);
    let metrics = metrics();
    let needed = replica(&server, false, vec![filters(UNREACHABLE)], MetricsHooks::new(metrics.clone()));
    server.create(pod("p", 1));
    wait_for_failure(&server, "p", WHY);
    assert!(failures(&server, "p").iter().all(|failure| failure == WHY));
    let condition = |server: &Server| server.get(&path("p")).unwrap()["status"]["conditions"][0].clone();
    until(&server, "the reason is in the pod's condition", |server| condition(server)["message"] == WHY);
    let condition = condition(&server);
    let fields = ["type", "status", "reason"].map(|key| condition[key].as_str().unwrap());
    assert_eq!(fields, ["PodScheduled", "False", "SchedulerError"]);
    until(&server, "it is tried again", |_| calls(&metrics, UNREACHABLE, "error", "filter") > 1);
    needed.kill();
    assert_eq!(node_of(&server, "p"), None);

    let ignorable = Extender { ignorable: true, ..filters(UNREACHABLE) };
    let _replica = replica(&server, false, vec![ignorable], ());
    wait_until_all_are_bound(&server, 1);
}
