use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use k8s_openapi::jiff::Timestamp;
use tokio::sync::mpsc;

use super::*;
use crate::transport::Transport;
use crate::watch::reachability::Reachability;

/// Server with scripted responses, and its clock.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    answers: VecDeque<Result<Written, ApiResponse>>,
    requests: Vec<String>,
    clock: Duration,
}

/// Chunks, and whether the connection breaks after them.
#[derive(Clone)]
struct Written(VecDeque<Bytes>, bool);

impl Chunks for Written {
    async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        match self.0.pop_front() {
            Some(bytes) => Some(Ok(bytes)),
            None => std::mem::take(&mut self.1).then(|| Err(TransportError::Lost("cut".into()))),
        }
    }
}

impl Script {
    fn ask(&self, path: String) -> Option<Result<Written, ApiResponse>> {
        let mut state = self.0.lock().unwrap();
        let (resource, query) = path.split_once('?').unwrap();
        let query: Vec<_> = query.split('&').filter(|part| !part.starts_with("timeoutSeconds")).collect();
        let clock = state.clock.as_millis();
        state.requests.push(format!("{clock} {resource} {}", query.join(" ")));
        state.answers.pop_front()
    }
}

impl Transport for Script {
    async fn call(&self, _: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        match self.ask(call.path) {
            Some(Ok(Written(bits, _))) => Ok(ApiResponse { code: 200, retry_after: None, body: bits[0].clone() }),
            Some(Err(answer)) => Ok(answer),
            None => Err(TransportError::NotSent("the end".into())),
        }
    }
    async fn sleep(&self, time: Duration) {
        self.0.lock().unwrap().clock += time;
        tokio::task::yield_now().await;
    }
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn clock(&self) -> Duration {
        self.0.lock().unwrap().clock
    }
}

impl StreamingTransport for Script {
    type Chunks = Written;

    async fn open(&self, path: String, _: Format) -> Result<Result<Written, ApiResponse>, TransportError> {
        self.ask(path).ok_or_else(|| TransportError::NotSent("the end".into()))
    }
}

fn stream(text: &str, is_cut: bool) -> Result<Written, ApiResponse> {
    // Chunks end anywhere.
    let bits = text.as_bytes().chunks(7).map(|bits| Bytes::from(bits.to_vec())).collect();
    Ok(Written(bits, is_cut))
}

fn status_error(code: u16) -> Result<Written, ApiResponse> {
    Err(ApiResponse { code, retry_after: None, body: Bytes::new() })
}

fn node(of_type: &str, name: &str, version: u32) -> String {
    format!(
        "{{\"type\":\"{of_type}\",\"object\":{{\"metadata\":{{\"name\":\"{name}\",\"resourceVersion\":\"{version}\"}}}}}}\n"
    )
}

fn end_of_list(version: u32) -> String {
    format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"{version}\",\"annotations\":\
         {{\"k8s.io/initial-events-end\":\"true\"}}}}}}}}\n"
    )
}

/// Returns the reachability of a single reflector.
fn alone() -> ReachabilityMember {
    Reachability::default().member(true)
}

fn options(rounds: watch::Receiver<u32>) -> ReflectorOptions {
    ReflectorOptions { resource: Resource::of("Node").unwrap(), originals: None, seed: 0, rounds, member: alone() }
}

/// Returns the events until the script ends, and the requests with their times.
async fn follows(answers: impl IntoIterator<Item = Result<Written, ApiResponse>>) -> (Vec<String>, Vec<String>) {
    let script = Script::default();
    script.0.lock().unwrap().answers.extend(answers);
    let (sender, mut events) = mpsc::channel(1);
    let (_rounds, round) = watch::channel(7);
    let follower = tokio::spawn(run_reflector(script.clone(), options(round), sender));
    let mut received = Vec::new();
    loop {
        received.push(match events.recv().await.unwrap() {
            InformerEvent::Upsert(object, arrival) | InformerEvent::UpsertWithOriginal(object, arrival, _) => {
                format!("{} {}", object.name(), arrival.epoch)
            }
            InformerEvent::Removal(object) => format!("no {}", object.name()),
            InformerEvent::ListComplete { epoch, round: 7, .. } => format!("all {epoch}"),
            InformerEvent::ListComplete { round, .. } => format!("round {round}"),
            InformerEvent::Error(_, why) if why == "the end" => break,
            InformerEvent::Error(_, why) => why,
        });
    }
    drop(events);
    follower.await.unwrap();
    let requests = std::mem::take(&mut script.0.lock().unwrap().requests);
    (received, requests)
}

const STREAM: &str =
    "/api/v1/nodes allowWatchBookmarks=true resourceVersionMatch=NotOlderThan sendInitialEvents=true watch=true";

#[tokio::test]
async fn a_stream_a_cut_connection_and_an_expired_version() {
    let first = [node("ADDED", "a", 3), node("ADDED", "b", 2), end_of_list(5), node("DELETED", "b", 6)].concat();
    let second =
        [node("MODIFIED", "a", 7), node("ADDED", "c", 8), "{\"type\":\"ADDED\",\"object\":7}\n".into()].concat();
    let forgot = "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n";
    let again = [node("ADDED", "c", 8), end_of_list(20)].concat();
    let answers = [stream(&first, true), stream(&second, true), stream(forgot, false), stream(&again, false)];
    let (events, requests) = follows(answers).await;
    let expected = [
        "a 1",
        "b 1",
        "all 1",
        "no b",
        "cut",
        "a 1",
        "c 1",
        "a change cannot be read: invalid type: integer `7`, expected an object at line 1 column 1",
        "cut",
        "c 2",
        "all 2",
    ];
    assert_eq!(events, expected);
    let watch = |version: u32| format!("/api/v1/nodes allowWatchBookmarks=true resourceVersion={version} watch=true");
    let requests: Vec<_> = requests.iter().map(|line| line.split_once(' ').unwrap()).collect();
    let paths: Vec<_> = requests.iter().map(|(_, path)| (*path).to_owned()).collect();
    assert_eq!(paths[..4], [STREAM.to_owned(), watch(6), watch(8), STREAM.to_owned()]);
    // After the first broken connection, the next request follows at once; after the second one, there is a pause.
    assert_eq!((requests[1].0, requests[2].0 != "0"), ("0", true));
}

#[tokio::test]
async fn a_server_without_list_streams() {
    let page = |text: &str| Ok(Written(VecDeque::from([Bytes::from(text.to_owned())]), false));
    let answers = [
        status_error(422),
        page(r#"{"metadata":{"resourceVersion":"5","continue":"x"},"items":[{"metadata":{"name":"a"}}]}"#),
        page(r#"{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"b"}}]}"#),
        status_error(403),
        stream(&node("DELETED", "a", 6), true),
    ];
    let (events, requests) = follows(answers).await;
    let no = |code: u16| format!("the server answered with status code {code}");
    assert_eq!(events, [no(422), "a 2".into(), "b 2".into(), "all 2".into(), no(403), "no a".into(), "cut".into()]);
    let paths: Vec<_> = requests.iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
    let watch = "/api/v1/nodes allowWatchBookmarks=true resourceVersion=5 watch=true";
    let pages = ["/api/v1/nodes limit=500", "/api/v1/nodes continue=x limit=500"];
    assert_eq!(paths[..5], [STREAM, pages[0], pages[1], watch, watch]);
}

#[tokio::test]
async fn a_server_whose_storage_cannot_stream_lists() {
    let page = r#"{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]}"#;
    let error = "{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"RequestWatchProgress is disabled\"}}\n";
    let timeout = "{\"type\":\"ERROR\",\"object\":{\"code\":504,\"message\":\"too large resource version\"}}\n";
    let page = Ok(Written(VecDeque::from([Bytes::from(page)]), false));
    let (events, requests) = follows([stream(timeout, false), stream(error, false), page]).await;
    assert_eq!(events, ["a watch ended: too large resource version", "a 3", "all 3"]);
    let paths: Vec<_> = requests.iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
    assert_eq!(paths[..3], [STREAM, STREAM, "/api/v1/nodes limit=500"]);
}

#[tokio::test]
async fn an_unknown_kind_has_no_objects() {
    let all = [node("ADDED", "a", 3), end_of_list(5)].concat();
    let (events, _) = follows([status_error(404), status_error(404), stream(&all, true)]).await;
    let none =
        "the server answered with status code 404: the kind counts as having no objects until the server serves it";
    assert_eq!(events, [none, "all 1", "all 2", "a 3", "all 3", "cut"]);
}

#[tokio::test]
async fn a_new_round_relists() {
    let script = Script::default();
    let all = |version: u32| stream(&[node("ADDED", "a", 3), end_of_list(version)].concat(), false);
    let (sender, mut events) = mpsc::channel(1);
    let (rounds, round) = watch::channel(0);
    script.0.lock().unwrap().answers.extend([all(5), all(9)]);
    let follower = tokio::spawn(run_reflector(script.clone(), options(round), sender));
    let mut complete = Vec::new();
    while let Some(events) = events.recv().await {
        match events {
            InformerEvent::Upsert(..) if complete.is_empty() => drop(rounds.send_replace(1)),
            InformerEvent::ListComplete { epoch, round, .. } => complete.push((epoch, round)),
            InformerEvent::Error(..) => break,
            _ => {}
        }
    }
    drop(events);
    follower.await.unwrap();
    // The first list may have completed before the relist request was read.
    assert!(complete == [(1, 0), (2, 1)] || complete == [(2, 1)], "{complete:?}");
}
