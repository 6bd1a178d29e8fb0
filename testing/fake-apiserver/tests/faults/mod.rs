//! Effects of injected faults.

use std::time::{Duration, Instant};

use crate::support::{Client, ConnectionError, Http, fill, server};
use schedc_fake_apiserver::{Fault, FaultRule};
use serde_json::json;

const NODES: &str = "/api/v1/nodes";
const POD: &str = "/api/v1/namespaces/default/pods/p0";

#[tokio::test]
async fn refusals_have_a_retry_time_and_change_nothing() {
    let server = server(1);
    server.rule(FaultRule::new(Fault::Respond(429, Some(3))).path("*/binding").times(1));
    let mut client = Client::new(&server, Http::Two).await;
    let refused = client.bind("p0", "n").await.unwrap();
    assert_eq!((refused.code, refused.retry_after.as_deref()), (429, Some("3")));
    assert_eq!((&refused.body["kind"], &refused.body["reason"]), (&json!("Status"), &json!("TooManyRequests")));
    assert_eq!(server.get(POD).unwrap()["spec"].get("nodeName"), None);
    assert_eq!(client.bind("p0", "n").await.unwrap().code, 201);
}

#[tokio::test]
async fn a_lost_response_follows_an_executed_request() {
    for http in [Http::One, Http::Two] {
        let server = server(1);
        server.rule(FaultRule::new(Fault::LoseResponse).verb("create").path("*/binding").times(1));
        let mut client = Client::new(&server, http).await;
        assert_eq!(client.bind("p0", "n").await, Err(ConnectionError));
        assert_eq!(server.get(POD).unwrap()["spec"]["nodeName"], "n");
        let requests = server.requests();
        assert_eq!((requests[0].code, &requests[0].fault), (201, &Some(Fault::LoseResponse)));
        // Over HTTP/2 only this request is lost.
        assert_eq!(client.get(POD).await.is_ok(), http == Http::Two);
    }
}

#[tokio::test]
async fn a_cut_connection_executes_nothing() {
    for http in [Http::One, Http::Two] {
        let server = server(1);
        server.rule(FaultRule::new(Fault::Cut).verb("create").times(1));
        let mut client = Client::new(&server, http).await;
        assert_eq!(client.bind("p0", "n").await, Err(ConnectionError));
        assert_eq!(server.get(POD).unwrap()["spec"].get("nodeName"), None);
        assert_eq!(client.get(POD).await, Err(ConnectionError), "the connection is closed");
        assert_eq!(server.requests()[0].code, 0);
        assert_eq!(Client::new(&server, http).await.get(POD).await.unwrap().code, 200);
    }
}

#[tokio::test]
async fn responses_are_delayed() {
    let server = server(0);
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(80))).path(NODES));
    let mut client = Client::new(&server, Http::Two).await;
    let start = Instant::now();
    assert_eq!(client.get(NODES).await.unwrap().code, 200);
    assert!(start.elapsed() >= Duration::from_millis(80));
    server.clear_rules();
}

#[tokio::test]
async fn injected_faults_break_or_end_or_expire_watches() {
    for http in [Http::One, Http::Two] {
        let server = server(0);
        for (fault, last) in [
            (Fault::CutStream(1), Some(Err(ConnectionError))),
            (Fault::EndStream(1), None),
            (Fault::GoneStream(1), Some(Ok(410))),
        ] {
            server.clear_rules();
            server.rule(FaultRule::new(fault.clone()).verb("watch"));
            let mut client = Client::new(&server, http).await;
            let mut watch = client.watch("/api/v1/nodes?watch=true&allowWatchBookmarks=true").await;
            assert_eq!(watch.next().await.unwrap().unwrap()["type"], "ADDED");
            let next = watch.next().await;
            let code = next.map(|event| event.map(|event| event["object"]["code"].as_u64().unwrap()));
            assert_eq!(code, last, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn one_of_two_clients_can_be_cut_off() {
    let server = server(0);
    server.rule(FaultRule::new(Fault::Cut).token("a"));
    let mut other = Client::new(&server, Http::Two).await.with_token("b");
    for _ in 0..2 {
        let mut client = Client::new(&server, Http::Two).await.with_token("a");
        assert_eq!(client.get(NODES).await, Err(ConnectionError));
        assert_eq!(other.get(NODES).await.unwrap().code, 200);
    }
    let tokens: Vec<_> = server.requests().into_iter().map(|request| request.token).collect();
    assert_eq!(tokens, ["a", "b", "a", "b"]);
    server.clear_rules();
    assert_eq!(Client::new(&server, Http::Two).await.with_token("a").get(NODES).await.unwrap().code, 200);
}

#[tokio::test]
async fn all_connections_can_be_cut() {
    let server = server(0);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=1").await;
    server.cut_connections();
    assert_eq!(watch.next().await, Some(Err(ConnectionError)));
    assert_eq!(Client::new(&server, Http::Two).await.get(NODES).await.unwrap().code, 200);
}

#[tokio::test]
async fn a_resumed_server_keeps_its_state() {
    let mut server = server(1);
    let url = server.url();
    let mut client = Client::new(&server, Http::Two).await;
    server.stop();
    assert_eq!(client.get(NODES).await, Err(ConnectionError));
    server.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}}));
    server.resume();
    assert_eq!(server.url(), url);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=2").await;
    assert_eq!(watch.next_events(1).await, ["ADDED late 3"]);
}

#[tokio::test]
async fn a_restarted_server_rejects_old_versions() {
    let mut server = server(1);
    server.restart();
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=2").await;
    let error = watch.next().await.unwrap().unwrap();
    assert_eq!(error["object"]["message"], "too old resource version: 2 (3)");
    let list = client.get(NODES).await.unwrap().body;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["metadata"]["resourceVersion"]), (1, &json!("3")));
}

/// The client retries, and the server keeps the results of requests whose response was lost.
#[tokio::test]
async fn every_pod_is_bound_once_despite_random_faults() {
    let server = fill(schedc_fake_apiserver::Server::start(), 40);
    server.rule(FaultRule::random(7, 400).path("*/pods/*"));
    let mut client = Client::new(&server, Http::Two).await;
    for pod in 0..40 {
        let name = format!("p{pod}");
        let mut attempts = 0;
        loop {
            attempts += 1;
            assert!(attempts < 50);
            match client.bind(&name, "n").await.map(|answer| answer.code) {
                Ok(201 | 409) => break,
                Ok(429 | 500 | 503) => {}
                Ok(code) => panic!("{code}"),
                Err(ConnectionError) => client = Client::new(&server, Http::Two).await,
            }
        }
    }
    assert_eq!(server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"] == "n"), 40);
    assert_eq!(server.count_requests(|request| request.code == 201), 40);
    let faults = server.count_requests(|request| request.fault.is_some());
    assert!(faults > 5, "{faults} of {}", server.requests().len());
}
