//! Watches of the objects of a kind.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use schedc_in_memory::store::ChangeKind;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use crate::disconnect::InjectedDisconnect;
use crate::faults::StreamFault;
use crate::kinds::Kind;
use crate::request::{ApiRequest, Target};
use crate::selector::Selector;
use crate::shared::{Encode, Shared, locked};
use crate::status_error::StatusError;
use crate::store::{Change, Store};

/// Annotation of the bookmark after the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Time between the last bookmark of a watch and its end.
const LAST_BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// Time for the delivery of events before their stream is broken.
const DELIVERY_TIME: Duration = Duration::from_millis(20);

/// A watch request.
#[derive(Debug)]
pub(crate) struct Watch {
    kind: &'static Kind,
    namespace: String,
    selector: Selector,
    /// Version up to which all changes are sent.
    version: u64,
    /// Objects that are sent before changes.
    initial: Vec<Arc<Value>>,
    /// Whether a bookmark marks the end of the initial events.
    sends_end: bool,
    bookmarks: bool,
    timeout: Duration,
    /// Error that is sent instead of events.
    error: Option<StatusError>,
}

impl Watch {
    /// Returns the watch for a request. A version that is too old causes an error event, not an error response.
    pub(crate) fn new(store: &Store, api_request: &ApiRequest, target: &Target) -> Result<Self, StatusError> {
        let initial = api_request.parameter("sendInitialEvents");
        if !initial.is_empty() && api_request.parameter("resourceVersionMatch") != "NotOlderThan" {
            let problem = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            return Err(StatusError::options("resourceVersionMatch", problem));
        }
        if initial.is_empty() && !api_request.parameter("resourceVersionMatch").is_empty() {
            let problem = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            return Err(StatusError::options("resourceVersionMatch", problem));
        }
        let selector = Selector::parse(
            target.kind,
            api_request.parameter("fieldSelector"),
            api_request.parameter("labelSelector"),
        )?;
        let from = api_request.number("resourceVersion")?.unwrap_or_default();
        let sends_all = initial == "true" || (initial.is_empty() && from == 0);
        let is_too_old = !sends_all && from != 0 && from < store.oldest();
        let all = store.list(target.kind, &target.namespace).filter(|object| selector.matches(object));
        let initial = if sends_all { all.cloned().collect() } else { Vec::new() };
        let seconds = api_request.number("timeoutSeconds")?.filter(|seconds| *seconds > 0).unwrap_or(1800);
        Ok(Watch {
            kind: target.kind,
            namespace: target.namespace.clone(),
            // A watch from a future version sends nothing until that version is reached.
            version: if sends_all { store.version() } else { from },
            initial,
            sends_end: sends_all,
            bookmarks: api_request.parameter("allowWatchBookmarks") == "true",
            timeout: Duration::from_secs(seconds),
            error: is_too_old.then(|| StatusError::too_old(from, store.oldest())),
            selector,
        })
    }

    /// Sends events until the timeout, the client's disconnect, or a fault.
    pub(crate) async fn run(
        self,
        shared: Arc<Shared>,
        to: mpsc::Sender<Result<Bytes, InjectedDisconnect>>,
        fault: Option<StreamFault>,
        protobuf: Option<Encode>,
    ) {
        let mut stream = Stream { to, fault, protobuf, sent: 0 };
        // The result is not needed: a fault that ends the watch was already sent to the reader.
        let _ended = self.send_events(shared, &mut stream).await;
    }

    async fn send_events(mut self, shared: Arc<Shared>, stream: &mut Stream) -> Result<(), WatchEnd> {
        if let Some(refusal) = &self.error {
            return stream.send("ERROR", &refusal.body()).await;
        }
        let mut changed = shared.changed.subscribe();
        for object in std::mem::take(&mut self.initial) {
            stream.send("ADDED", &object).await?;
        }
        if self.bookmarks && self.sends_end {
            stream.send("BOOKMARK", &self.bookmark(Some(INITIAL_EVENTS_END))).await?;
        }
        let end = Instant::now() + self.timeout;
        // A bookmark shortly before the end lets the next watch continue from a recent version.
        let mut last_bookmark = self.timeout.checked_sub(LAST_BOOKMARK_BEFORE_END).map(|time| Instant::now() + time);
        let mut next_bookmark = Watch::next_bookmark(&shared, last_bookmark);
        loop {
            changed.borrow_and_update();
            // The store is not locked while this function waits for a slow reader.
            let (events, version) = {
                let store = locked(&shared.store);
                if !store.has_changes_since(self.version) {
                    // The reader is too slow. As on a real server, the watch ends without an error; the reader's next
                    // watch from its last version gets 410.
                    return Ok(());
                }
                let events: Vec<_> = store.since(self.version).filter_map(|change| self.event(change)).collect();
                (events, store.version())
            };
            for (event, object) in &events {
                stream.send(event, object).await?;
            }
            self.version = self.version.max(version);
            if !events.is_empty() {
                continue;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = stream.to.closed() => return Err(WatchEnd),
                () = sleep_until(end) => return Ok(()),
                () = sleep_until(next_bookmark), if self.bookmarks => {
                    stream.send("BOOKMARK", &self.bookmark(None)).await?;
                    last_bookmark = last_bookmark.filter(|last| *last > next_bookmark);
                    next_bookmark = Watch::next_bookmark(&shared, last_bookmark);
                }
            }
        }
    }

    /// Converts a change for this watch. An object that no longer matches the selector is reported as deleted, in its
    /// last matching state.
    fn event(&self, change: &Change) -> Option<(&'static str, Arc<Value>)> {
        let is_in_namespace = self.namespace.is_empty() || *self.namespace == *change.key.namespace;
        if change.key.kind != self.kind || !is_in_namespace {
            return None;
        }
        let matching_before = change.previous.as_ref().filter(|previous| self.selector.matches(previous));
        let is_gone = change.kind == ChangeKind::Deleted;
        let matches_now = !is_gone && self.selector.matches(&change.object);
        match (matching_before, matches_now) {
            (None, false) => None,
            (None, true) => Some(("ADDED", change.object.clone())),
            (Some(_), true) => Some(("MODIFIED", change.object.clone())),
            (Some(_), false) if is_gone => Some(("DELETED", change.object.clone())),
            (Some(previous), false) => {
                let mut object = (**previous).clone();
                object["metadata"]["resourceVersion"] = change.version.to_string().into();
                Some(("DELETED", Arc::new(object)))
            }
        }
    }

    fn next_bookmark(shared: &Shared, last: Option<Instant>) -> Instant {
        let next = Instant::now() + *locked(&shared.bookmark_interval);
        last.map_or(next, |last| last.min(next))
    }

    fn bookmark(&self, annotation: Option<&str>) -> Value {
        let mut metadata = json!({"resourceVersion": self.version.to_string()});
        if let Some(annotation) = annotation {
            metadata["annotations"] = json!({annotation: "true"});
        }
        let mut object = json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata});
        if self.kind.has_status {
            // Empty, but with the required fields.
            object["spec"] = if self.kind.kind == "Pod" { json!({"containers": null}) } else { json!({}) };
            object["status"] = json!({});
        }
        object
    }
}

/// Reason to end a watch: the client disconnected, or a fault broke the stream.
struct WatchEnd;

struct Stream {
    to: mpsc::Sender<Result<Bytes, InjectedDisconnect>>,
    fault: Option<StreamFault>,
    protobuf: Option<Encode>,
    sent: usize,
}

impl Stream {
    async fn send(&mut self, event: &str, object: &Value) -> Result<(), WatchEnd> {
        if let Some(fault) = &self.fault
            && self.sent >= fault.after()
        {
            let last = match fault {
                StreamFault::Cut(_) => {
                    // Earlier events must arrive first; a broken stream drops unsent events.
                    sleep(DELIVERY_TIME).await;
                    Some(Err(InjectedDisconnect))
                }
                StreamFault::End(_) => None,
                StreamFault::Gone(_) => Some(Ok(self.event("ERROR", &StatusError::too_old(1, 2).body()))),
            };
            if let Some(last) = last {
                let _client_disconnected = self.to.send(last).await;
            }
            return Err(WatchEnd);
        }
        self.sent += 1;
        self.to.send(Ok(self.event(event, object))).await.map_err(|_| WatchEnd)
    }

    /// Encodes an event in the format that the client accepts.
    fn event(&self, event: &str, object: &Value) -> Bytes {
        let Some(encode) = self.protobuf else { return line(event, object) };
        message(event, &if event == "ERROR" { status(object) } else { encode(object).unwrap_or_default() })
    }
}

/// Formats a line of the stream; the type comes first, as on a real server.
fn line(event: &str, object: &Value) -> Bytes {
    Bytes::from(format!("{{\"type\":\"{event}\",\"object\":{object}}}\n"))
}

/// Encodes a `WatchEvent` in protobuf, preceded by its length.
fn message(event: &str, object: &[u8]) -> Bytes {
    let event = [field(1, event.as_bytes()), field(2, &field(1, object))].concat();
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX).to_be_bytes();
    [length.as_slice(), &event].concat().into()
}

/// Encodes a `Status` in protobuf, in a `runtime.Unknown`.
fn status(status: &Value) -> Vec<u8> {
    let text = |number, name: &str| field(number, status[name].as_str().unwrap_or_default().as_bytes());
    let code = [vec![6 << 3], varint(status["code"].as_u64().unwrap_or_default())].concat();
    let of_type = [field(1, b"v1"), field(2, b"Status")].concat();
    [b"k8s\0".to_vec(), field(1, &of_type), field(2, &[text(3, "message"), text(4, "reason"), code].concat())].concat()
}

/// Encodes a field of type bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2], &*varint(bytes.len() as u64), bytes].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
