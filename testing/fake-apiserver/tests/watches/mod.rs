//! Watches and lists over HTTP.

use std::time::Duration;

use crate::support::{Client, Http, server};
use serde_json::json;

const STREAM: &str = "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";
const UNFINISHED: &str = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

#[tokio::test]
async fn a_streaming_list_sends_objects_then_a_bookmark_then_changes() {
    let server = server(2);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch(&format!("/api/v1/pods?{STREAM}")).await;
    assert_eq!(watch.next_events(2).await, ["ADDED p0 2", "ADDED p1 3"]);
    let bookmark = watch.next().await.unwrap().unwrap();
    let metadata = json!({"resourceVersion": "3", "annotations": {"k8s.io/initial-events-end": "true"}});
    let object =
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"containers": null}, "status": {}});
    assert_eq!(bookmark, json!({"type": "BOOKMARK", "object": object}));

    client.bind("p0", "n").await.unwrap();
    server.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}}));
    server.remove("/api/v1/namespaces/default/pods/p1");
    assert_eq!(watch.next_events(2).await, ["MODIFIED p0 4", "DELETED p1 6"]);
}

#[tokio::test]
async fn a_watch_from_a_version_misses_nothing() {
    let server = server(1);
    for label in 0..3 {
        server.merge("/api/v1/nodes/n", json!({"metadata": {"labels": {"l": label.to_string()}}}));
    }
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=3").await;
    assert_eq!(watch.next_events(2).await, ["MODIFIED n 4", "MODIFIED n 5"]);

    // A watch from a future version sends nothing until that version is reached.
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=6").await;
    for label in 3..6 {
        server.merge("/api/v1/nodes/n", json!({"metadata": {"labels": {"l": label.to_string()}}}));
    }
    assert_eq!(watch.next_events(2).await, ["MODIFIED n 7", "MODIFIED n 8"]);
}

#[tokio::test]
async fn deselected_objects_are_reported_as_deleted_in_their_last_matching_state() {
    let server = server(1);
    let mut client = Client::new(&server, Http::Two).await;
    let mut watch = client.watch(&format!("/api/v1/pods?{UNFINISHED}&{STREAM}")).await;
    assert_eq!(watch.next_events(2).await, ["ADDED p0 2", "BOOKMARK - 2"]);
    let path = "/api/v1/namespaces/default/pods/p0";
    server.merge(path, json!({"status": {"phase": "Succeeded"}}));
    let gone = watch.next().await.unwrap().unwrap();
    assert_eq!((&gone["type"], &gone["object"]["status"]["phase"]), (&json!("DELETED"), &json!("Pending")));
    assert_eq!(gone["object"]["metadata"]["resourceVersion"], "3");
    // Changes of an object that does not match are not sent, until it matches again.
    server.merge(path, json!({"metadata": {"labels": {"a": "b"}}}));
    server.merge(path, json!({"status": {"phase": "Running"}}));
    assert_eq!(watch.next_events(1).await, ["ADDED p0 5"]);

    let mut bound = client.watch("/api/v1/pods?watch=true&resourceVersion=5&fieldSelector=spec.nodeName%3Dn").await;
    client.bind("p0", "n").await.unwrap();
    assert_eq!(bound.next_events(1).await, ["ADDED p0 6"]);
}

#[tokio::test]
async fn after_compaction_old_versions_are_expired() {
    let server = server(2);
    let mut client = Client::new(&server, Http::Two).await;
    let page = client.get("/api/v1/pods?limit=1").await.unwrap();
    let mut open = client.watch("/api/v1/pods?watch=true&resourceVersion=3").await;
    server.compact();
    let mut old = client.watch("/api/v1/pods?watch=true&resourceVersion=2").await;
    let error = old.next().await.unwrap().unwrap();
    let object = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 2 (3)", "reason": "Expired", "code": 410
    });
    assert_eq!(error, json!({"type": "ERROR", "object": object}));
    assert_eq!(old.next().await, None);
    let rest = page.body["metadata"]["continue"].as_str().unwrap();
    assert_eq!(client.get(&format!("/api/v1/pods?limit=1&continue={rest}")).await.unwrap().code, 410);

    client.bind("p0", "n").await.unwrap();
    assert_eq!(open.next_events(1).await, ["MODIFIED p0 4"], "an open watch continues");
    let mut current = client.watch("/api/v1/pods?watch=true&resourceVersion=3").await;
    assert_eq!(current.next_events(1).await, ["MODIFIED p0 4"]);
}

#[tokio::test]
async fn the_watch_history_is_limited() {
    let server = server(1);
    server.keep_changes(2);
    for label in 0..4 {
        server.merge("/api/v1/nodes/n", json!({"metadata": {"labels": {"l": label.to_string()}}}));
    }
    let mut client = Client::new(&server, Http::Two).await;
    let mut old = client.watch("/api/v1/nodes?watch=true&resourceVersion=3").await;
    assert_eq!(old.next().await.unwrap().unwrap()["object"]["code"], 410);
    let mut kept = client.watch("/api/v1/nodes?watch=true&resourceVersion=4").await;
    assert_eq!(kept.next_events(2).await, ["MODIFIED n 5", "MODIFIED n 6"]);
}

#[tokio::test]
async fn a_watch_sends_bookmarks_and_ends_at_its_timeout() {
    let server = server(1);
    server.bookmark_every(Duration::from_millis(100));
    let mut client = Client::new(&server, Http::One).await;
    let path = "/api/v1/nodes?watch=true&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=1";
    let mut watch = client.watch(path).await;
    let mut bookmarks = 0;
    while let Some(event) = watch.next().await {
        assert_eq!(
            event.unwrap()["object"]["metadata"]["resourceVersion"],
            "2",
            "changes of other kinds advance the version of bookmarks"
        );
        bookmarks += 1;
    }
    assert!((1..20).contains(&bookmarks), "{bookmarks}");
    // Without the parameter, a watch gets no bookmarks.
    let mut watch = client.watch("/api/v1/nodes?watch=true&resourceVersion=1&timeoutSeconds=1").await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn a_streaming_list_needs_a_version_match() {
    let server = server(0);
    let mut client = Client::new(&server, Http::Two).await;
    let refused = client.get("/api/v1/pods?watch=true&sendInitialEvents=true").await.unwrap();
    assert_eq!(refused.code, 422);
    let message = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires \
                   setting resourceVersionMatch to NotOlderThan";
    assert_eq!(refused.body["message"], message);
}

#[tokio::test]
async fn all_pages_of_a_list_have_one_version() {
    let server = server(5);
    let mut client = Client::new(&server, Http::Two).await;
    let mut names = Vec::new();
    let mut path = "/api/v1/pods?limit=2".to_owned();
    loop {
        let page = client.get(&path).await.unwrap().body;
        assert_eq!((&page["kind"], &page["metadata"]["resourceVersion"]), (&json!("PodList"), &json!("6")));
        for pod in page["items"].as_array().unwrap() {
            assert_eq!(pod.get("kind"), None);
            names.push(pod["metadata"]["name"].as_str().unwrap().to_owned());
        }
        // The next pages do not contain this change.
        server.remove("/api/v1/namespaces/default/pods/p4");
        let Some(rest) = page["metadata"].get("continue") else { break };
        assert_eq!(page["metadata"]["remainingItemCount"], 5 - names.len());
        path = format!("/api/v1/pods?limit=2&continue={}", rest.as_str().unwrap());
    }
    assert_eq!(names, ["p0", "p1", "p2", "p3", "p4"]);
    assert_eq!(client.get("/api/v1/pods?continue=x").await.unwrap().code, 400);
}

#[tokio::test]
async fn lists_accept_any_known_version_and_reject_future_ones() {
    let server = server(3);
    let mut client = Client::new(&server, Http::Two).await;
    let whole = client.get("/api/v1/pods?limit=1&resourceVersion=0").await.unwrap();
    assert_eq!(whole.body["items"].as_array().unwrap().len(), 3);
    let refused = client.get("/api/v1/pods?resourceVersion=99").await.unwrap();
    assert_eq!((refused.code, refused.retry_after.as_deref()), (504, Some("1")));
    assert_eq!(refused.body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}
