use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::sync::Mutex;

use futures_util::FutureExt;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{ApiReason, Condition, EventType};
use schedc_core::intern::Interner;
use schedc_core::model::{CustomKind, NodeIndex};
use schedc_core::random::Random;
use schedc_objects::testing::{api_object, api_pod, pod};
use serde_json::{from_slice, json};

use super::*;
use crate::transport::{ApiRequest, ApiResponse, RequestClass, TransportError, Verb};
use crate::watch::known_objects::KnownObjects;
use crate::watch::reflector::Arrival;

/// Outcome of a request.
#[derive(Clone, Debug)]
enum Fault {
    /// No fault.
    Fine,
    /// Responds with this status code and delay, without effect.
    ApiResponse(u16, Option<u64>),
    /// The request is not sent.
    NotSent,
    /// The request is executed; its response is lost.
    AnswerLost,
    /// The request is lost; its outcome is unknown.
    RequestLost,
    /// The outcome is unknown. The request is executed late, when this number of further requests has arrived.
    Late(usize),
}

/// Server with a few objects, by path.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Value>,
    faults: VecDeque<Fault>,
    late: Option<(usize, Verb, String, Value)>,
    log: Vec<String>,
    waited: Duration,
    /// Whether sleeps never end. If not, they end at once.
    stands_still: bool,
}

impl Transport for Server {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        let mut state = self.0.lock().unwrap();
        let ApiRequest { verb, path, body } = call;
        state
            .log
            .push(format!("{class:?} {} {path} {}", verb.method(), String::from_utf8_lossy(&body)).trim().to_owned());
        if let Some((after, verb, path, body)) = state.late.take() {
            match after {
                1 => drop(state.handle(verb, &path, body)),
                _ => state.late = Some((after - 1, verb, path, body)),
            }
        }
        let fault = state.faults.pop_front().unwrap_or(Fault::Fine);
        match fault {
            Fault::ApiResponse(code, retry_after) => {
                let body = json!({ "kind": "Status", "code": code, "message": "injected" }).to_string();
                return Ok(ApiResponse { code, retry_after: retry_after.map(Duration::from_secs), body: body.into() });
            }
            Fault::NotSent => return Err(TransportError::NotSent("connection refused".into())),
            Fault::RequestLost => return Err(TransportError::Lost("connection reset".into())),
            Fault::Late(after) => {
                state.late = Some((after, verb, path, from_slice(&body).unwrap()));
                return Err(TransportError::Lost("timed out".into()));
            }
            Fault::Fine | Fault::AnswerLost => {}
        }
        let (code, body) = state.handle(verb, &path, from_slice(&body).unwrap_or_default());
        match fault {
            Fault::AnswerLost => Err(TransportError::Lost("connection reset".into())),
            _ => Ok(ApiResponse { code, retry_after: None, body: body.to_string().into() }),
        }
    }

    async fn sleep(&self, time: Duration) {
        self.0.lock().unwrap().waited += time;
        if self.0.lock().unwrap().stands_still {
            pending().await
        }
    }

    fn now(&self) -> Timestamp {
        "2026-01-01T00:00:09Z".parse().unwrap()
    }

    fn clock(&self) -> Duration {
        Duration::ZERO
    }
}

impl State {
    fn handle(&mut self, verb: Verb, path: &str, body: Value) -> (u16, Value) {
        let refused = |code: u16, reason: &str, field: &str| {
            let details = json!({ "causes": [{ "field": field }] });
            (code, json!({ "kind": "Status", "code": code, "reason": reason, "message": reason, "details": details }))
        };
        let whole = path.strip_suffix("/binding").or(path.strip_suffix("/status")).unwrap_or(path);
        let Some(object) = self.objects.get_mut(whole) else {
            if verb == Verb::Create && whole == path {
                self.objects.insert(format!("{path}/{}", body["metadata"]["name"].as_str().unwrap()), body.clone());
                return (201, body);
            }
            return refused(404, "NotFound", "");
        };
        let uid = object["metadata"]["uid"].clone();
        match verb {
            Verb::Get => (200, object.clone()),
            Verb::Create if body["metadata"]["uid"] != uid => refused(409, "Conflict", ""),
            Verb::Create if object["spec"]["nodeName"].is_string() => refused(409, "Conflict", ""),
            Verb::Create => {
                object["spec"]["nodeName"] = body["target"]["name"].clone();
                (201, json!({ "kind": "Status" }))
            }
            Verb::Delete if body["preconditions"]["uid"] != uid => refused(409, "Conflict", ""),
            Verb::Delete => (200, self.objects.remove(whole).unwrap()),
            Verb::StrategicPatch if body["metadata"]["uid"] != uid => refused(422, "Invalid", "metadata.uid"),
            Verb::StrategicPatch | Verb::MergePatch | Verb::Update => {
                object["metadata"]["resourceVersion"] = "8".into();
                if let Some(node) = body["status"].get("nominatedNodeName") {
                    object["status"]["nominatedNodeName"] = node.clone();
                }
                (200, object.clone())
            }
        }
    }
}

impl Server {
    /// Starts a server with a pod of this uid.
    fn with_pod(uid: &str) -> Server {
        let server = Server::default();
        let pod = json!({ "metadata": { "name": "p", "uid": uid, "resourceVersion": "7" }, "spec": {}, "status": {} });
        server.0.lock().unwrap().objects.insert(POD.to_owned(), pod);
        server
    }
    fn faults(self, faults: impl IntoIterator<Item = Fault>) -> Server {
        self.0.lock().unwrap().faults.extend(faults);
        self
    }
    fn client(&self) -> KubeClient<Server, RecordedEvents> {
        let records = PodRecords::default();
        records.set(&Uid("u".into()), &api_pod("{metadata: {name: p, uid: u, generation: 1, resourceVersion: '7'}}"));
        KubeClient::new(self.clone(), records, RecordedEvents::default())
    }
    /// Returns the requests since the last call.
    fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().log)
    }
    fn node(&self) -> Option<String> {
        let state = self.0.lock().unwrap();
        state.objects.get(POD).and_then(|pod| pod["spec"]["nodeName"].as_str()).map(str::to_owned)
    }
}

#[derive(Clone, Default)]
struct RecordedEvents(Arc<Mutex<Vec<EventWithVersion>>>);

type EventWithVersion = (Event, Option<u64>);

impl EventSink for RecordedEvents {
    fn record(&self, event: Event, version: Option<u64>) {
        self.0.lock().unwrap().push((event, version));
    }
}

const POD: &str = "/api/v1/namespaces/ns/pods/p";

fn the_pod() -> Arc<Pod> {
    pod("{metadata: {name: p, namespace: ns, uid: u}}", &mut Interner::default()).into()
}

fn placement() -> Placement {
    Placement { pod: the_pod(), node: NodeIndex(0), node_name: "n1".into() }
}

/// Polls a future that never waits.
fn done<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

fn bound(server: &Server) -> Result<(), ApiReason> {
    done(server.client().bind(&placement())).map_err(|error| error.reason)
}

#[test]
fn a_binding_names_the_uid() {
    let server = Server::with_pod("u");
    assert_eq!(bound(&server), Ok(()));
    let body = r#"{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"ns","uid":"u"},"target":{"kind":"Node","name":"n1"}}"#;
    assert_eq!(server.take_requests(), [format!("Bind POST {POD}/binding {body}")]);
    // Three refusals: the pod is already bound, another pod has its name, and no pod has the name.
    assert_eq!(bound(&server), Err(ApiReason::Conflict));
    assert_eq!(bound(&Server::with_pod("other")), Err(ApiReason::Conflict));
    assert_eq!(bound(&Server::default()), Err(ApiReason::NotFound));
}

#[test]
fn a_binding_with_an_unknown_result_is_verified() {
    use Fault::*;
    let check = |faults: &[Fault], uid: &str, expected: Result<(), ApiReason>, requests: &str| {
        let server = Server::with_pod(uid).faults(faults.to_vec());
        assert_eq!(bound(&server), expected, "{faults:?}");
        let methods: Vec<_> =
            server.take_requests().iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
        assert_eq!(methods.join(" "), requests, "{faults:?}");
    };
    check(&[AnswerLost], "u", Ok(()), "POST GET");
    check(&[RequestLost], "u", Ok(()), "POST GET POST");
    check(&[ApiResponse(500, None)], "u", Ok(()), "POST GET POST");
    check(&[ApiResponse(429, Some(1)), ApiResponse(503, Some(2))], "u", Ok(()), "POST POST POST");
    check(&[ApiResponse(503, None), NotSent], "u", Ok(()), "POST POST POST");
    check(&[ApiResponse(403, None)], "u", Err(ApiReason::Other), "POST");
    check(&[RequestLost], "other", Err(ApiReason::NotFound), "POST GET");
    // The pod is read until a read succeeds.
    check(
        &[AnswerLost, RequestLost, ApiResponse(500, None), NotSent, AnswerLost],
        "u",
        Ok(()),
        "POST GET GET GET GET GET",
    );
    check(&[NotSent, NotSent, NotSent, NotSent], "u", Err(ApiReason::Other), "POST POST POST POST");
    let lost = || [RequestLost, Fine].into_iter();
    let always: Vec<_> = lost().chain(lost()).chain(lost()).chain(lost()).collect();
    check(&always, "u", Err(ApiReason::Timeout), "POST GET POST GET POST GET POST GET");
}

#[test]
fn retry_after_of_a_busy_server_is_respected() {
    let server = Server::with_pod("u").faults([Fault::ApiResponse(429, Some(3)), Fault::ApiResponse(503, Some(4))]);
    assert_eq!(bound(&server), Ok(()));
    assert_eq!(server.0.lock().unwrap().waited, Duration::from_secs(7));
}

#[test]
fn a_late_binding_counts_as_done() {
    for (after, requests) in [(1, 2), (2, 4), (3, 3)] {
        let server = Server::with_pod("u").faults([Fault::Late(after)]);
        assert_eq!(bound(&server), Ok(()), "{after}");
        assert_eq!(server.take_requests().len(), requests, "{after}");
    }
}

#[test]
fn binding_results_match_the_cluster_under_faults() {
    for seed in 0..2000 {
        let random = &mut Random::new(seed);
        let faults: Vec<_> = (0..random.below(12))
            .map(|_| match random.below(6) {
                0 => Fault::NotSent,
                1 => Fault::AnswerLost,
                2 => Fault::RequestLost,
                3 => Fault::ApiResponse([429, 500, 503, 504][random.below(4)], [None, Some(1)][random.below(2)]),
                _ => Fault::Fine,
            })
            .collect();
        let server = Server::with_pod(if random.below(5) == 0 { "other" } else { "u" }).faults(faults.clone());
        let result = bound(&server);
        assert_eq!(result.is_ok(), server.node().is_some(), "{result:?} {faults:?}");
    }
}

fn nominates(node: &str) -> StatusPatch {
    StatusPatch { condition: None, nominated_node: Some(Some(node.into())) }
}

#[test]
fn status_patches_name_the_uid() {
    let server = Server::with_pod("u");
    let client = server.client();
    let patch = |client: &KubeClient<Server, RecordedEvents>, node: &str| {
        done(client.patch_pod_status(&the_pod(), &nominates(node))).map_err(|error| error.reason)
    };
    assert_eq!(patch(&client, "n1"), Ok(()));
    assert_eq!(
        server.take_requests(),
        [format!(r#"Write PATCH {POD}/status {{"metadata":{{"uid":"u"}},"status":{{"nominatedNodeName":"n1"}}}}"#)]
    );
    // The status from the response is known before the watch reports it, so no second patch is needed.
    assert_eq!((patch(&client, "n1"), server.take_requests().len()), (Ok(()), 0));
    assert_eq!(patch(&Server::with_pod("other").client(), "n1"), Err(ApiReason::NotFound));
    client.records.remove(&Uid("u".into()));
    assert_eq!((patch(&client, "n2"), server.take_requests().len()), (Err(ApiReason::NotFound), 0));
}

#[test]
fn status_patches_are_retried() {
    use Fault::*;
    let condition = Condition { kind: "PodScheduled", status: false, reason: "Unschedulable", message: "m".into() };
    let wanted = StatusPatch { condition: Some(condition), nominated_node: None };
    let check = |faults: &[Fault], expected: Result<(), ApiReason>, requests: usize| {
        let server = Server::with_pod("u").faults(faults.to_vec());
        let result = done(server.client().patch_pod_status(&the_pod(), &wanted)).map_err(|error| error.reason);
        assert_eq!((result, server.take_requests().len()), (expected, requests), "{faults:?}");
    };
    check(&[ApiResponse(409, None), AnswerLost, NotSent], Ok(()), 4);
    check(&[ApiResponse(500, None), RequestLost, RequestLost, RequestLost], Err(ApiReason::Timeout), 4);
    check(&[ApiResponse(403, None)], Err(ApiReason::Other), 1);
}

#[test]
fn a_victim_is_deleted_by_its_uid() {
    let server = Server::with_pod("u").faults([Fault::AnswerLost]);
    let delete = |server: &Server| done(server.client().delete_pod(&the_pod())).map_err(|error| error.reason);
    // The first response is lost. At the retry, the pod no longer exists.
    assert_eq!(delete(&server), Err(ApiReason::NotFound));
    let body = r#"{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"}}"#;
    assert_eq!(server.take_requests(), vec![format!("Write DELETE {POD} {body}"); 2]);
    assert_eq!(delete(&Server::with_pod("other")), Err(ApiReason::NotFound));
    assert_eq!(delete(&Server::with_pod("u")), Ok(()));
}

#[test]
fn an_eviction_waits_for_the_watch() {
    let (victim, interner) = (the_pod(), &mut Interner::default());
    let pod = |version: u32, more: &str| {
        api_object(&format!(
            "{{kind: Pod, metadata: {{name: p, namespace: ns, uid: u, resourceVersion: '{version}'{more}}}}}"
        ))
    };
    for is_gone in [false, true] {
        let server = Server::with_pod("u");
        server.0.lock().unwrap().stands_still = true;
        let client = server.client();
        let followed = &mut KnownObjects::new(client.records.clone());
        let mut deletion = Box::pin(client.delete_pod(&victim));
        let mut is_over = || deletion.as_mut().now_or_never().is_some_and(|result| result.is_ok());
        assert!(!is_over(), "the preemptor would evict it again");
        // The watch reports the version that was known before the deletion.
        followed.upsert(&pod(7, ""), Arrival::listed(1), interner);
        assert!(!is_over());
        match is_gone {
            false => {
                followed.upsert(&pod(8, ", deletionTimestamp: '2026-01-01T00:00:00Z'"), Arrival::listed(1), interner)
            }
            true => followed.removal(&pod(8, ""), interner),
        };
        assert!(is_over());
        drop(deletion);
        assert!(client.records.listeners().is_empty());
    }
}

#[test]
fn plugins_read_and_write_objects_of_granted_kinds() {
    let server = Server::default();
    let client = server.client();
    let claim = |name: &str| ObjectRef {
        api_version: "v1".into(),
        kind: "PersistentVolumeClaim".into(),
        namespace: "ns".into(),
        name: name.into(),
    };
    let reason = |error: ApiError| error.reason;
    assert_eq!(done(client.get(&claim("c"))).map_err(reason), Err(ApiReason::NotFound));
    let manifest = json!({ "metadata": { "name": "c", "uid": "u" } });
    assert_eq!(done(client.create(&claim("c"), &manifest)), Ok(manifest.clone()));
    assert_eq!(done(client.get(&claim("c"))), Ok(manifest));
    assert!(done(client.patch(&claim("c"), &json!({ "metadata": { "annotations": {} } }))).is_ok());
    server.0.lock().unwrap().faults.push_back(Fault::AnswerLost);
    assert_eq!(done(client.patch(&claim("c"), &json!({}))).map_err(reason), Err(ApiReason::Timeout));
    assert_eq!(done(client.delete(&claim("c"), Some(&Uid("u".into())))).map_err(reason), Ok(()));
    let methods: Vec<_> =
        server.take_requests().iter().map(|line| line.split(" {").next().unwrap().to_owned()).collect();
    let path = "/api/v1/namespaces/ns/persistentvolumeclaims";
    assert_eq!(
        methods,
        [
            format!("Write GET {path}/c"),
            format!("Write POST {path}"),
            format!("Write GET {path}/c"),
            format!("Write PATCH {path}/c"),
            format!("Write PATCH {path}/c"),
            format!("Write DELETE {path}/c"),
        ]
    );
    let other = ObjectRef { kind: "Secret".into(), ..claim("c") };
    assert_eq!(done(client.get(&other)).map_err(reason), Err(ApiReason::Unsupported));
}

#[test]
fn events_name_the_version_of_the_pod() {
    let client = Server::default().client();
    client.record(Event {
        scheduler: "default-scheduler",
        regarding: the_pod(),
        related: None,
        event_type: EventType::Normal,
        reason: "Scheduled",
        action: "Binding",
        note: String::new(),
    });
    let recorded = client.events.0.lock().unwrap();
    assert_eq!(
        recorded.iter().map(|(event, version)| (event.reason, *version)).collect::<Vec<_>>(),
        [("Scheduled", Some(7))]
    );
}

#[test]
fn object_updates_come_from_the_watches() {
    let server = Server::with_pod("u");
    let client = server.client();
    let (followed, interner) = (&mut KnownObjects::new(client.records.clone()), &mut Interner::default());
    let claim = |name: &str, version: u32| {
        api_object(&format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: {name}, namespace: ns, resourceVersion: '{version}'}}}}"
        ))
    };
    let object = |kind: &str, name: &str| ObjectRef {
        api_version: "v1".into(),
        kind: kind.into(),
        namespace: "ns".into(),
        name: name.into(),
    };
    let followed_objects = vec![object("PersistentVolumeClaim", "c"), object("Pod", "p")];
    let mut updates = client.watch_objects(followed_objects, Duration::from_secs(5));
    fn next(updates: &mut impl ObjectUpdates) -> Option<(usize, Result<Value, ApiReason>)> {
        let (place, now) = done(updates.next())?;
        Some((place, now.map(|now| now["metadata"]["resourceVersion"].clone()).map_err(|error| error.reason)))
    }
    // Objects without subscription are not reported, and no update is repeated.
    followed.upsert(&claim("other", 3), Arrival::listed(1), interner);
    followed.upsert(&claim("c", 4), Arrival::listed(1), interner);
    followed.upsert(&claim("c", 5), Arrival::listed(1), interner);
    assert_eq!(next(&mut updates), Some((0, Ok("4".into()))));
    assert_eq!(next(&mut updates), Some((0, Ok("5".into()))));
    assert_eq!(server.take_requests().len(), 0);
    // Without further updates, the result after the deadline is `None`.
    assert_eq!(next(&mut updates), None);
    // A deleted object is read. When a list shows that a pod is gone, the watched pod is also read; it still exists.
    followed.removal(&claim("c", 6), interner);
    assert_eq!(next(&mut updates), Some((0, Err(ApiReason::NotFound))));
    followed.upsert(
        &api_object("{kind: Pod, metadata: {name: q, namespace: ns, uid: q}}"),
        Arrival::listed(1),
        interner,
    );
    followed.complete_list("Pod", 2);
    assert_eq!(next(&mut updates), Some((1, Ok("7".into()))));
    // An object that is added to the subscription is read, too.
    updates.add(object("Pod", "p"));
    assert_eq!(next(&mut updates), Some((2, Ok("7".into()))));
    drop(updates);
    assert!(client.records.listeners().is_empty());
}

#[test]
fn subscriptions_do_not_mix_declared_kinds() {
    const fn declared(name: &'static str, kind: &'static str) -> CustomKind {
        CustomKind { name, api_version: "example.com/v1", kind, plural: "", is_namespaced: true }
    }
    // Two kinds of one API. In manifests, the second one has the same name as a built-in kind.
    const KINDS: &[CustomKind] =
        &[declared("widgets.v1.example.com", "Widget"), declared("services.v1.example.com", "Service")];
    let (server, kinds) = (Server::default(), Kinds::from(KINDS));
    let client = server.client().with_kinds(kinds);
    let (followed, interner) = (&mut KnownObjects::new(client.records.clone()), &mut Interner::default());
    let object = |api: &str, kind: &str| {
        let object = json!({"metadata": {"name": "o", "namespace": "ns"}});
        kinds.read(api, kind, object).unwrap().unwrap()
    };
    let widget = ObjectRef {
        api_version: "example.com/v1".into(),
        kind: "Widget".into(),
        namespace: "ns".into(),
        name: "o".into(),
    };
    let service = ObjectRef { kind: "Service".into(), ..widget.clone() };
    let mut updates = client.watch_objects(vec![widget, service], Duration::from_secs(5));
    let mut received = |followed: &mut KnownObjects, kind: &'static str, epoch: u32| {
        followed.complete_list(kind, epoch);
        std::iter::from_fn(|| done(updates.next()).map(|(place, _)| place)).collect::<Vec<_>>()
    };
    followed.upsert(&object("v1", "Service"), Arrival::listed(1), interner);
    assert_eq!(received(followed, "Service", 2), [0_usize; 0]);
    followed.upsert(&object("example.com/v1", "Service"), Arrival::listed(1), interner);
    assert_eq!(received(followed, "services.v1.example.com", 1), [1], "the object was added");
    assert_eq!(received(followed, "services.v1.example.com", 2), [1], "the watch missed the deletion");
    followed.upsert(&object("example.com/v1", "Widget"), Arrival::listed(1), interner);
    assert_eq!(received(followed, "widgets.v1.example.com", 2), [0, 0]);
}
