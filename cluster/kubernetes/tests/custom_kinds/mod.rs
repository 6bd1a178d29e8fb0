//! Kinds that a plugin declares: they are watched, their changes wake pods, and plugins write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::Fast;
use coscheduling::scheduler::Profiles;
use schedc_core::client::{Client, ObjectRef};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Options;
use schedc_fake_apiserver::{Fault, FaultRule, Server};
use schedc_kubernetes::driver::{Driver, Leadership, Setup, Standby, StopReason};
use schedc_kubernetes::dry_run::DryRunClient;
use schedc_kubernetes::election::ElectionStatus;
use schedc_kubernetes::events::{EventRecorder, EventWriter};
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::write::Bindings;
use schedc_kubernetes::write::KubeClient;
use schedc_kubernetes::write::PodRecords;
use schedc_objects::Kinds;
use serde_json::{Value, json};
use tokio::sync::watch;

const PATIENCE: Duration = Duration::from_secs(60);

const GROUP: &str = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/g";

fn group(min_member: u32) -> Value {
    json!({
        "apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"minMember": min_member},
    })
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"scheduling.x-k8s.io/pod-group": "g"}},
        "spec": {"schedulerName": "coscheduling", "containers": [{"name": "c", "image": "i"}]},
    })
}

fn bound(server: &Server) -> usize {
    server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"].is_string())
}

fn is_rejected(server: &Server, pod: &str) -> bool {
    let pod = server.get(&format!("/api/v1/namespaces/default/pods/{pod}")).unwrap();
    pod["status"]["conditions"][0]["reason"] == "Unschedulable"
}

/// Returns the number of writes of the group's status.
fn writes_of_status(server: &Server) -> usize {
    let of_status = format!("{GROUP}/status");
    server.requests().iter().filter(|request| request.verb == "patch" && request.path == of_status).count()
}

/// Mode of a scheduler.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Normal,
    DryRun,
    Shadow,
}

/// Starts a scheduler on a separate thread. Returns its stop channel.
fn schedule(server: &Server, leadership: Leadership, mode: Mode) -> (watch::Sender<bool>, JoinHandle<StopReason>) {
    let transport = Fast::to(server, 20);
    let (stop, stop_receiver) = watch::channel(false);
    let work = async move {
        let (queue, sink) = EventWriter::new(transport.clone(), EventRecorder::new("host"), 1);
        tokio::spawn(sink.run());
        let mut kinds: Vec<&Resource> = RESOURCES.iter().filter(|resource| resource.is_watched()).collect();
        kinds.extend(Profiles::KINDS.iter().map(Resource::declared_static));
        let standby = Standby::Warm;
        let setup = Setup { streams: transport.clone(), kinds, leadership, standby, options: Options::default() };
        if let Mode::Normal = mode {
            let driver = Driver::new(&AnyBundle::running::<Profiles>(), setup, queue, Bindings::default(), ());
            return driver.map_err(|_| ()).unwrap().run(stop_receiver).await;
        }
        let client = DryRunClient::new(transport);
        let driver = Driver::with_client(&AnyBundle::running::<Profiles>(), setup, client, PodRecords::default(), ());
        let driver = driver.map_err(|_| ()).unwrap();
        let driver = if let Mode::Shadow = mode { driver.as_observer() } else { driver };
        driver.run(stop_receiver).await
    };
    let scheduler = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    });
    (stop, scheduler)
}

#[test]
fn a_declared_kind_is_watched_and_its_status_written() {
    let server = Server::start();
    let allocatable = json!({"pods": "3"});
    server.create(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": allocatable}}),
    );
    ["a", "b", "c"].iter().for_each(|name| drop(server.create(pod(name))));
    let (stop, scheduler) = schedule(&server, Leadership::alone(), Mode::Normal);
    assert!(server.wait(PATIENCE, |server| ["a", "b", "c"].iter().all(|pod| is_rejected(server, pod))));
    assert_eq!(bound(&server), 0, "the group does not exist yet");
    server.create(group(3));
    assert!(server.wait(PATIENCE, |server| bound(server) == 3), "they are woken");
    let status = json!({"phase": "Scheduled", "scheduled": 3});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == status));
    stop.send_replace(true);
    assert_eq!(scheduler.join().unwrap(), StopReason::Stopped);
    assert!(writes_of_status(&server) > 0);
}

#[test]
fn background_tasks_run_while_leading() {
    let server = Server::start();
    server.create(group(3));
    let (sender, status) =
        watch::channel(ElectionStatus { leader: Some("another".into()), ..ElectionStatus::default() });
    let (_stop, scheduler) = schedule(&server, Leadership::elected(status), Mode::Normal);
    let follows = |server: &Server| server.requests().iter().any(|request| request.path.contains("podgroups"));
    assert!(server.wait(PATIENCE, follows));
    // Another replica leads, so this one writes no status.
    server.apply(group(4));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(writes_of_status(&server), 0);
    sender.send_modify(|status| status.leads_until = Some(Duration::MAX));
    let pending = json!({"phase": "Pending", "scheduled": 0});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == pending));
    sender.send_modify(|status| (status.leads_until, status.is_lost) = (None, true));
    assert_eq!(scheduler.join().unwrap(), StopReason::LeaseLost);
    let written = writes_of_status(&server);
    server.remove(GROUP);
    server.create(group(5));
    assert_eq!(writes_of_status(&server), written, "no scheduler is left to write");
}

#[test]
fn background_tasks_retry_their_requests() {
    let server = Server::start();
    server.create(group(3));
    let of_status = FaultRule::new(Fault::Respond(500, None)).verb("patch").path("/status");
    server.rule(of_status.times(12));
    let (stop, scheduler) = schedule(&server, Leadership::alone(), Mode::Normal);
    let pending = json!({"phase": "Pending", "scheduled": 0});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == pending));
    stop.send_replace(true);
    assert_eq!(scheduler.join().unwrap(), StopReason::Stopped);
}

#[test]
fn observers_run_no_background_tasks() {
    for mode in [Mode::DryRun, Mode::Shadow] {
        let server = Server::start();
        let allocatable = json!({"pods": "3"});
        server.create(
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": allocatable}}),
        );
        server.create(group(1));
        server.create(pod("a"));
        let (stop, scheduler) = schedule(&server, Leadership::alone(), mode);
        let follows = |server: &Server| server.requests().iter().any(|request| request.path.contains("podgroups"));
        assert!(server.wait(PATIENCE, follows));
        std::thread::sleep(Duration::from_millis(300));
        stop.send_replace(true);
        assert_eq!(scheduler.join().unwrap(), StopReason::Stopped);
        assert!(server.requests().iter().all(|request| !request.is_write()), "{mode:?}");
    }
}

#[tokio::test]
async fn objects_of_declared_kinds_are_created_read_changed_and_deleted() {
    let server = Server::start();
    let (queue, _sink) = EventWriter::new(Fast::to(&server, 20), EventRecorder::new("host"), 1);
    let client =
        KubeClient::new(Fast::to(&server, 20), PodRecords::default(), queue).with_kinds(Kinds::of::<Profiles>());
    let object = ObjectRef {
        api_version: "scheduling.x-k8s.io/v1alpha1".into(),
        kind: "PodGroup".into(),
        namespace: "default".into(),
        name: "g".into(),
    };
    client.create(&object, &group(2)).await.unwrap();
    client.patch(&object, &json!({"spec": {"minMember": 3}})).await.unwrap();
    client.patch_status(&object, &json!({"status": {"phase": "Pending"}})).await.unwrap();
    let read = client.get(&object).await.unwrap();
    assert_eq!((&read["spec"]["minMember"], &read["status"]["phase"]), (&json!(3), &json!("Pending")));
    client.delete(&object, None).await.unwrap();
    assert_eq!(server.get(GROUP), None);
    let unknown = ObjectRef { kind: "Gang".into(), ..object };
    let error = client.get(&unknown).await.unwrap_err();
    assert_eq!(error.message, "scheduling.x-k8s.io/v1alpha1 Gang is not a kind that schedc supports");
}
