//! Client tests against a fake API server with the faults of servers and networks.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use k8s_openapi::api::core::v1 as api;
use schedc_core::client::{Client, Event, EventType};
use schedc_core::extension_points::Placement;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, Uid};
use schedc_core::random::Random;
use schedc_fake_apiserver::{Fault, FaultRule, Server};
use schedc_kubernetes::election::{self, Election, ElectionStatus, LeaderElectionConfiguration};
use schedc_kubernetes::events::{EventRecorder, EventWriter};
use schedc_kubernetes::resources::Resource;
use schedc_kubernetes::transport::{ApiRequest, RequestClass, Transport, Verb};
use schedc_kubernetes::watch::known_objects::KnownObjects;
use schedc_kubernetes::watch::reachability::Reachability;
use schedc_kubernetes::watch::reflector::{InformerEvent, ReflectorOptions, run_reflector};
use schedc_kubernetes::write::PodRecords;
use schedc_kubernetes::write::{EventSink, KubeClient};
use schedc_objects::convert_pod;
use serde_json::{Value, from_value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::support::Fast;

#[derive(Clone)]
struct NoEvents;

impl EventSink for NoEvents {
    fn record(&self, _: Event, _: Option<u64>) {}
}

fn pod(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name }, "spec": { "containers": [] } })
}

fn path(name: &str) -> String {
    format!("/api/v1/namespaces/default/pods/{name}")
}

/// Returns whether the known pods equal the server's, each in its last version.
fn is_known(server: &Server, followed: &KnownObjects, records: &PodRecords) -> bool {
    let pods = server.list("/api/v1/pods");
    let text = |pod: &Value, name: &str| pod["metadata"][name].as_str().unwrap().to_owned();
    pods.len() == followed.count("Pod")
        && pods.iter().all(|pod| {
            let record = records.get(&Uid(text(pod, "uid").into()));
            record.is_some_and(|record| record.version.to_string() == text(pod, "resourceVersion"))
        })
}

async fn is_followed(server: &Server, seed: u64) {
    let random = &mut Random::new(seed);
    let records = PodRecords::default();
    let (mut followed, mut interner) = (KnownObjects::new(records.clone()), Interner::default());
    let (sender, mut receiver) = mpsc::channel(16);
    server.rule(FaultRule::random(seed, 150).verb("watch"));
    server.rule(FaultRule::random(seed + 1, 150).verb("list"));
    let (_rounds, round) = watch::channel(0);
    let (resource, member) = (Resource::of("Pod").unwrap(), Reachability::default().member(true));
    let options = ReflectorOptions { resource, originals: None, seed, rounds: round, member };
    let reflector = tokio::spawn(run_reflector(Fast::to(server, 100), options, sender));
    let mut changes = 0;
    let mut calm = 0;
    loop {
        tokio::select! {
            receiver = receiver.recv() => match receiver.unwrap() {
                InformerEvent::Upsert(object, arrival) | InformerEvent::UpsertWithOriginal(object, arrival, _) => drop(followed.upsert(&object, arrival, &mut interner)),
                InformerEvent::Removal(object) => drop(followed.removal(&object, &mut interner)),
                InformerEvent::ListComplete { resource, epoch, .. } => drop(followed.complete_list(resource.kind, epoch)),
                InformerEvent::Error(..) => {}
            },
            () = tokio::time::sleep(Duration::from_millis(1)) => {
                if changes < 600 {
                    changes += 1;
                    let name = format!("p{}", random.below(40));
                    match (server.get(&path(&name)), random.below(4)) {
                        (None, _) => drop(server.create(pod(&name))),
                        (Some(_), 0) => drop(server.remove(&path(&name))),
                        (Some(_), _) => drop(server.merge(&path(&name), json!({ "status": { "message": changes } }))),
                    }
                    match random.below(100) {
                        0 => server.cut_connections(),
                        1 => server.compact(),
                        _ => {}
                    }
                } else if changes == 600 {
                    server.clear_rules();
                    changes += 1;
                } else if is_known(server, &followed, &records) {
                    break;
                } else {
                    calm += 1;
                    assert!(calm < 20_000, "seed {seed}: something was missed");
                }
            }
        }
    }
    drop(receiver);
    // The reflector notices that the receiver is closed.
    reflector.await.unwrap();
}

#[tokio::test]
async fn informers_converge_under_faults() {
    for seed in 0..3 {
        is_followed(&Server::start(), seed).await;
        is_followed(&Server::start_tls(), seed + 10).await;
    }
}

/// Binds a number of pods concurrently. Returns for each whether it succeeded.
async fn bind(server: &Server, pods: usize) -> Vec<bool> {
    let client = KubeClient::new(Fast::to(server, 100), PodRecords::default(), NoEvents);
    let bind = async |number: usize| {
        let created = server.create(pod(&format!("p{number}")));
        let created: api::Pod = from_value(created).unwrap();
        let pod = Arc::new(convert_pod(&created, &mut Interner::default()));
        let placement = Placement { pod, node: NodeIndex(0), node_name: format!("n{number}").into() };
        client.bind(&placement).await.is_ok()
    };
    join_all((0..pods).map(bind)).await
}

fn node(server: &Server, number: usize) -> Option<String> {
    let pod = server.get(&path(&format!("p{number}"))).unwrap();
    pod["spec"]["nodeName"].as_str().map(str::to_owned)
}

/// Events have a separate connection, since a server limits the concurrent requests on an HTTP/2 connection.
#[tokio::test]
async fn events_without_a_response_do_not_delay_bindings() {
    let server = Server::start_tls();
    server.rule(FaultRule::new(Fault::Delay(Duration::from_secs(3600))).path("*/events"));
    let way = Fast::to(&server, 1);
    let path = "/apis/events.k8s.io/v1/namespaces/default/events".to_owned();
    let event = ApiRequest { verb: Verb::Create, path, body: "{}".into() };
    let events = join_all((0..200).map(|_| way.call(RequestClass::Event, event.clone())));
    let created: api::Pod = from_value(server.create(pod("p0"))).unwrap();
    let pod = Arc::new(convert_pod(&created, &mut Interner::default()));
    let placement = Placement { pod, node: NodeIndex(0), node_name: "n0".into() };
    let client = KubeClient::new(way.clone(), PodRecords::default(), NoEvents);
    tokio::select! {
        biased;
        _ = events => panic!("the server answers no events"),
        bound = client.bind(&placement) => assert_eq!(bound, Ok(())),
    }
    assert_eq!(node(&server, 0).as_deref(), Some("n0"));
}

#[tokio::test]
async fn a_binding_succeeds_after_each_kind_of_failure() {
    for fault in [
        Fault::LoseResponse,
        Fault::Cut,
        Fault::Respond(500, None),
        Fault::Respond(429, Some(1)),
        Fault::Respond(503, Some(1)),
        Fault::Delay(Duration::from_millis(50)),
    ] {
        for server in [Server::start(), Server::start_tls()] {
            server.rule(FaultRule::new(fault.clone()).verb("create").path("*/binding").times(1));
            assert_eq!(bind(&server, 1).await, [true], "{fault:?}");
            assert_eq!(node(&server, 0).as_deref(), Some("n0"));
        }
    }
}

#[tokio::test]
async fn many_bindings_under_faults() {
    for seed in 0..4 {
        let server = if seed % 2 == 0 { Server::start() } else { Server::start_tls() };
        server.rule(FaultRule::random(seed, 200));
        let done = bind(&server, 60).await;
        server.clear_rules();
        for (number, is_done) in done.into_iter().enumerate() {
            let node = node(&server, number);
            assert!(node.is_none() || node == Some(format!("n{number}")));
            assert_eq!(is_done, node.is_some(), "seed {seed}, pod {number}");
        }
    }
}

const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

#[tokio::test]
async fn events_arrive_once_under_faults() {
    let server = Server::start();
    let created: api::Pod = from_value(server.create(pod("p"))).unwrap();
    let regarding = Arc::new(convert_pod(&created, &mut Interner::default()));
    let event = |reason| Event {
        scheduler: "default-scheduler",
        regarding: regarding.clone(),
        related: None,
        event_type: EventType::Warning,
        reason,
        action: "Scheduling",
        note: "0/1 nodes are available".to_owned(),
    };
    let (queue, sink) = EventWriter::new(Fast::to(&server, 100), EventRecorder::new("host"), 0);
    let sink = tokio::spawn(sink.run());
    let writes = || server.writes().iter().filter(|request| request.path.starts_with(EVENTS)).count();
    let until = async |count: usize| {
        for _ in 0..2_000 {
            if writes() == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{count} writes, {} so far", writes());
    };
    // The response is lost: the event is sent again, and exists already.
    server.rule(FaultRule::new(Fault::LoseResponse).verb("create").path("*/events").times(1));
    queue.record(event("FailedScheduling"), Some(1));
    until(2).await;
    // The second equal event begins a series and updates the event; the third one is not written.
    queue.record(event("FailedScheduling"), Some(1));
    until(3).await;
    queue.record(event("FailedScheduling"), Some(1));
    // A refused event is not retried.
    server.rule(FaultRule::new(Fault::Respond(403, None)).verb("create").path("*/events").times(1));
    queue.record(event("Refused"), Some(1));
    until(4).await;
    // A deleted event is created again when it becomes a series.
    queue.record(event("Other"), Some(1));
    until(5).await;
    let name = |reason: &str| {
        let events = server.list(EVENTS);
        let event = events.iter().find(|event| event["reason"] == reason);
        event.map(|event| event["metadata"]["name"].as_str().unwrap().to_owned())
    };
    server.remove(&format!("{EVENTS}/{}", name("Other").unwrap()));
    queue.record(event("Other"), Some(1));
    until(7).await;
    drop(queue);
    sink.await.unwrap();
    let mut counts: Vec<_> = server
        .list(EVENTS)
        .iter()
        .map(|event| (event["reason"].as_str().unwrap().to_owned(), event["series"]["count"].as_u64()))
        .collect();
    counts.sort();
    assert_eq!(counts, [("FailedScheduling".to_owned(), Some(2)), ("Other".to_owned(), Some(2))]);
}

/// Replica that takes part in the election.
struct Replica {
    status: watch::Receiver<ElectionStatus>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    transport: Fast,
}

impl Replica {
    fn start(server: &Server, name: &str) -> Replica {
        let (sender, status) = watch::channel(ElectionStatus::default());
        let (stop, stopped) = watch::channel(false);
        // A lease of 15 seconds lasts for three here: long enough for a busy machine.
        let transport = Fast::to(server, 5);
        let election = Election::new(name, LeaderElectionConfiguration::default(), name.len() as u64);
        let task = tokio::spawn(election::run(transport.clone(), election, "default-scheduler", sender, stopped));
        Replica { status, stop, task, transport }
    }

    fn leads(&self) -> bool {
        self.status.borrow().leads(self.transport.clock())
    }
}

/// Waits until this replica leads. Asserts that two replicas never lead at the same time.
async fn until_leads(replicas: &[Replica], number: usize) {
    for _ in 0..10_000 {
        let leading = replicas.iter().filter(|replica| replica.leads()).count();
        assert!(leading <= 1);
        if replicas[number].leads() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("replica {number} never leads");
}

#[tokio::test]
async fn another_replica_takes_over() {
    let server = Server::start();
    let mut replicas = vec![Replica::start(&server, "a")];
    until_leads(&replicas, 0).await;
    replicas.push(Replica::start(&server, "bb"));
    // The first replica continues to lead while the second one waits.
    for _ in 0..1_000 {
        assert!(replicas[0].leads() && !replicas[1].leads());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The first replica is stopped, and releases the lease.
    replicas[0].stop.send(true).unwrap();
    until_leads(&replicas, 1).await;
    (&mut replicas[0].task).await.unwrap();
    assert!(!replicas[0].status.borrow().is_lost);
    // The second replica is killed without notice.
    replicas.push(Replica::start(&server, "ccc"));
    replicas[1].task.abort();
    until_leads(&replicas, 2).await;
    // The server refuses all requests for too long: the lease is lost permanently.
    server.rule(FaultRule::new(Fault::Respond(500, None)).path("*/leases*"));
    (&mut replicas[2].task).await.unwrap();
    assert!(replicas[2].status.borrow().is_lost && !replicas[2].leads());
    server.clear_rules();
    let lease = server.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler").unwrap();
    assert_eq!((&lease["spec"]["holderIdentity"], &lease["spec"]["leaseTransitions"]), (&"ccc".into(), &2.into()));
    let messages = || server.list("/api/v1/namespaces/kube-system/events");
    while messages().len() < 4 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let messages = messages();
    let mut messages: Vec<_> = messages.iter().map(|event| event["message"].as_str().unwrap()).collect();
    messages.sort_unstable();
    assert_eq!(messages, ["a became leader", "bb became leader", "ccc became leader", "ccc stopped leading"]);
}
