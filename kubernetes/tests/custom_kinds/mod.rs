//! Kinds that a plugin declares, at an API server: they are followed, their changes wake pods, and plugins write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::Fast;
use coscheduling::scheduler::Profiles;
use schedc_core::client::{Client, ObjectRef};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Options;
use schedc_double::{Fault, Rule, Server};
use schedc_kubernetes::drive::{Driver, End, Leadership, Setup, Standby};
use schedc_kubernetes::dry_run::Pretence;
use schedc_kubernetes::election::Standing;
use schedc_kubernetes::events::{Recorder, Sink};
use schedc_kubernetes::pods::Records;
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::write::Bindings;
use schedc_kubernetes::write::KubeClient;
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

/// How often the status of the group was written.
fn writes_of_status(server: &Server) -> usize {
    let of_status = format!("{GROUP}/status");
    server.requests().iter().filter(|asked| asked.verb == "patch" && asked.path == of_status).count()
}

/// What a scheduler may do.
#[derive(Clone, Copy, Debug)]
enum Act {
    InEarnest,
    DryRun,
    Shadow,
}

/// A scheduler on a thread of its own, and how to stop it.
fn schedule(server: &Server, leadership: Leadership, act: Act) -> (watch::Sender<bool>, JoinHandle<End>) {
    let transport = Fast::to(server, 20);
    let (stop, is_stopped) = watch::channel(false);
    let work = async move {
        let (queue, sink) = Sink::new(transport.clone(), Recorder::new("host"), 1);
        tokio::spawn(sink.run());
        let mut kinds: Vec<&Resource> = RESOURCES.iter().filter(|resource| resource.is_watched()).collect();
        kinds.extend(Profiles::KINDS.iter().map(Resource::followed));
        let standby = Standby::Warm;
        let setup = Setup { streams: transport.clone(), kinds, leadership, standby, options: Options::default() };
        if let Act::InEarnest = act {
            let driver = Driver::new(&AnyBundle::running::<Profiles>(), setup, queue, Bindings::default(), ());
            return driver.map_err(|_| ()).unwrap().run(is_stopped).await;
        }
        let client = Pretence::new(transport);
        let driver = Driver::with_client(&AnyBundle::running::<Profiles>(), setup, client, Records::default(), ());
        let driver = driver.map_err(|_| ()).unwrap();
        let driver = if let Act::Shadow = act { driver.looking_on() } else { driver };
        driver.run(is_stopped).await
    };
    let scheduler = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    });
    (stop, scheduler)
}

#[test]
fn a_group_is_followed_and_its_status_is_written() {
    let server = Server::start();
    let room = json!({"pods": "3"});
    server.create(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": room}}),
    );
    ["a", "b", "c"].iter().for_each(|name| drop(server.create(pod(name))));
    let (stop, scheduler) = schedule(&server, Leadership::alone(), Act::InEarnest);
    assert!(server.wait(PATIENCE, |server| ["a", "b", "c"].iter().all(|pod| is_rejected(server, pod))));
    assert_eq!(bound(&server), 0, "nobody has described the group");
    server.create(group(3));
    assert!(server.wait(PATIENCE, |server| bound(server) == 3), "they are woken");
    let status = json!({"phase": "Scheduled", "scheduled": 3});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == status));
    stop.send_replace(true);
    assert_eq!(scheduler.join().unwrap(), End::Stopped);
    assert!(writes_of_status(&server) > 0);
}

#[test]
fn tasks_of_plugins_run_while_we_lead() {
    let server = Server::start();
    server.create(group(3));
    let (tell, standing) = watch::channel(Standing { leader: Some("another".into()), ..Standing::default() });
    let (_stop, scheduler) = schedule(&server, Leadership::elected(standing), Act::InEarnest);
    let follows = |server: &Server| server.requests().iter().any(|asked| asked.path.contains("podgroups"));
    assert!(server.wait(PATIENCE, follows));
    // The other one writes it, if it is to be written.
    server.apply(group(4));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(writes_of_status(&server), 0);
    tell.send_modify(|standing| standing.leads_until = Some(Duration::MAX));
    let pending = json!({"phase": "Pending", "scheduled": 0});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == pending));
    tell.send_modify(|standing| (standing.leads_until, standing.is_lost) = (None, true));
    assert_eq!(scheduler.join().unwrap(), End::Lost);
    let written = writes_of_status(&server);
    server.remove(GROUP);
    server.create(group(5));
    assert_eq!(writes_of_status(&server), written, "nobody is left who would");
}

#[test]
fn a_task_tries_again_until_the_server_does_what_it_asks() {
    let server = Server::start();
    server.create(group(3));
    let of_status = Rule::new(Fault::Answer(500, None)).verb("patch").path("/status");
    server.rule(of_status.times(12));
    let (stop, scheduler) = schedule(&server, Leadership::alone(), Act::InEarnest);
    let pending = json!({"phase": "Pending", "scheduled": 0});
    assert!(server.wait(PATIENCE, |server| server.get(GROUP).unwrap()["status"] == pending));
    stop.send_replace(true);
    assert_eq!(scheduler.join().unwrap(), End::Stopped);
}

#[test]
fn who_only_looks_on_writes_nothing_for_plugins_either() {
    for act in [Act::DryRun, Act::Shadow] {
        let server = Server::start();
        let room = json!({"pods": "3"});
        server.create(
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": room}}),
        );
        server.create(group(1));
        server.create(pod("a"));
        let (stop, scheduler) = schedule(&server, Leadership::alone(), act);
        let follows = |server: &Server| server.requests().iter().any(|asked| asked.path.contains("podgroups"));
        assert!(server.wait(PATIENCE, follows));
        std::thread::sleep(Duration::from_millis(300));
        stop.send_replace(true);
        assert_eq!(scheduler.join().unwrap(), End::Stopped);
        assert!(server.requests().iter().all(|asked| !asked.is_write()), "{act:?}");
    }
}

#[tokio::test]
async fn objects_of_declared_kinds_are_created_read_changed_and_deleted() {
    let server = Server::start();
    let (queue, _sink) = Sink::new(Fast::to(&server, 20), Recorder::new("host"), 1);
    let client = KubeClient::new(Fast::to(&server, 20), Records::default(), queue).knowing(Kinds::of::<Profiles>());
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
    assert_eq!(error.message, "scheduling.x-k8s.io/v1alpha1 Gang is not a kind that a scheduler asks for");
}
