//! What goes wrong on purpose goes wrong as it should.

use std::time::{Duration, Instant};

use crate::support::{Broken, Client, Http, fill, server};
use schedc_double::{Fault, Rule};
use serde_json::json;

const NODES: &str = "/api/v1/nodes";
const POD: &str = "/api/v1/namespaces/default/pods/p0";

#[tokio::test]
async fn refusals_come_with_their_time_and_change_nothing() {
    let server = server(1);
    server.rule(Rule::new(Fault::Answer(429, Some(3))).path("*/binding").times(1));
    let mut client = Client::new(&server, Http::Two).await;
    let refused = client.bind("p0", "n").await.unwrap();
    assert_eq!((refused.code, refused.retry_after.as_deref()), (429, Some("3")));
    assert_eq!((&refused.body["kind"], &refused.body["reason"]), (&json!("Status"), &json!("TooManyRequests")));
    assert_eq!(server.get(POD).unwrap()["spec"].get("nodeName"), None);
    assert_eq!(client.bind("p0", "n").await.unwrap().code, 201);
}

#[tokio::test]
async fn a_lost_answer_is_of_something_that_happened() {
    for http in [Http::One, Http::Two] {
        let server = server(1);
        server.rule(Rule::new(Fault::LoseAnswer).verb("create").path("*/binding").times(1));
        let mut client = Client::new(&server, http).await;
        assert_eq!(client.bind("p0", "n").await, Err(Broken));
        assert_eq!(server.get(POD).unwrap()["spec"]["nodeName"], "n");
        let asked = server.requests();
        assert_eq!((asked[0].code, &asked[0].fault), (201, &Some(Fault::LoseAnswer)));
        // Over HTTP/2 only that request is lost.
        assert_eq!(client.get(POD).await.is_ok(), http == Http::Two);
    }
}

#[tokio::test]
async fn a_cut_connection_is_of_something_that_did_not_happen() {
    for http in [Http::One, Http::Two] {
        let server = server(1);
        server.rule(Rule::new(Fault::Cut).verb("create").times(1));
        let mut client = Client::new(&server, http).await;
        assert_eq!(client.bind("p0", "n").await, Err(Broken));
        assert_eq!(server.get(POD).unwrap()["spec"].get("nodeName"), None);
        assert_eq!(client.get(POD).await, Err(Broken), "the connection is gone");
        assert_eq!(server.requests()[0].code, 0);
        assert_eq!(Client::new(&server, http).await.get(POD).await.unwrap().code, 200);
    }
}

#[tokio::test]
async fn slow_answers() {
    let server = server(0);
    server.rule(Rule::new(Fault::Delay(Duration::from_millis(80))).path(NODES));
    let mut client = Client::new(&server, Http::Two).await;
    let start = Instant::now();
    assert_eq!(client.get(NODES).await.unwrap().code, 200);
    assert!(start.elapsed() >= Duration::from_millis(80));
    server.no_rules();
}

#[tokio::test]
async fn watches_break_end_and_expire() {
    for http in [Http::One, Http::Two] {
        let server = server(0);
        for (fault, last) in [
            (Fault::CutStream(1), Some(Err(Broken))),
            (Fault::EndStream(1), None),
            (Fault::GoneStream(1), Some(Ok(410))),
        ] {
            server.no_rules();
            server.rule(Rule::new(fault.clone()).verb("watch"));
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
    server.rule(Rule::new(Fault::Cut).token("a"));
    let mut other = Client::new(&server, Http::Two).await.with_token("b");
    for _ in 0..2 {
        let mut client = Client::new(&server, Http::Two).await.with_token("a");
        assert_eq!(client.get(NODES).await, Err(Broken));
        assert_eq!(other.get(NODES).await.unwrap().code, 200);
    }
    let tokens: Vec<_> = server.requests().into_iter().map(|asked| asked.token).collect();
    assert_eq!(tokens, ["a", "b", "a", "b"]);
    server.no_rules();
    assert_eq!(Client::new(&server, Http::Two).await.with_token("a").get(NODES).await.unwrap().code, 200);
}

#[tokio::test]
async fn all_connections_can_be_cut() {
    let server = server(0);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=1").await;
    server.cut_connections();
    assert_eq!(watch.next().await, Some(Err(Broken)));
    assert_eq!(Client::new(&server, Http::Two).await.get(NODES).await.unwrap().code, 200);
}

#[tokio::test]
async fn a_server_comes_back_as_it_was() {
    let mut server = server(1);
    let url = server.url();
    let mut client = Client::new(&server, Http::Two).await;
    server.stop();
    assert_eq!(client.get(NODES).await, Err(Broken));
    server.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}}));
    server.resume();
    assert_eq!(server.url(), url);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=2").await;
    assert_eq!(watch.told(1).await, ["ADDED late 3"]);
}

#[tokio::test]
async fn a_server_that_is_started_anew_knows_no_version_from_before() {
    let mut server = server(1);
    server.restart();
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=2").await;
    let error = watch.next().await.unwrap().unwrap();
    assert_eq!(error["object"]["message"], "too old resource version: 2 (3)");
    let list = client.get(NODES).await.unwrap().body;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["metadata"]["resourceVersion"]), (1, &json!("3")));
}

/// Every pod is bound once in the end, whatever a seed brings: the client asks again, and the server knows.
#[tokio::test]
async fn a_random_mix() {
    let server = fill(schedc_double::Server::start(), 40);
    server.rule(Rule::random(7, 400).path("*/pods/*"));
    let mut client = Client::new(&server, Http::Two).await;
    for pod in 0..40 {
        let name = format!("p{pod}");
        let mut tries = 0;
        loop {
            tries += 1;
            assert!(tries < 50);
            match client.bind(&name, "n").await.map(|answer| answer.code) {
                Ok(201 | 409) => break,
                Ok(429 | 500 | 503) => {}
                Ok(code) => panic!("{code}"),
                Err(Broken) => client = Client::new(&server, Http::Two).await,
            }
        }
    }
    assert_eq!(server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"] == "n"), 40);
    assert_eq!(server.count_requests(|asked| asked.code == 201), 40);
    let faults = server.count_requests(|asked| asked.fault.is_some());
    assert!(faults > 5, "{faults} of {}", server.requests().len());
}
