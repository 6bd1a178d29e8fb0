//! Kinds that a plugin declares, at an API server: they are followed, their changes wake pods, and plugins write them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

use std::time::Duration;

use coscheduling::scheduler::Profiles;
use schedc_core::client::{Client, ObjectRef};
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Options;
use schedc_double::Server;
use schedc_kubernetes::drive::{Driver, End, Leadership, Setup, Standby};
use schedc_kubernetes::events::{Recorder, Sink};
use schedc_kubernetes::pods::Records;
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::write::Bindings;
use schedc_kubernetes::write::KubeClient;
use schedc_objects::Kinds;
use serde_json::{Value, json};
use support::Fast;
use tokio::sync::watch;

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

#[test]
fn a_group_is_followed_and_its_status_is_written() {
    let server = Server::start();
    let room = json!({"pods": "3"});
    server.create(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": room}}),
    );
    ["a", "b", "c"].iter().for_each(|name| drop(server.create(pod(name))));
    let transport = Fast::to(&server, 20);
    let (stop, is_stopped) = watch::channel(false);
    let scheduler = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (queue, sink) = Sink::new(transport.clone(), Recorder::new("host"), 1);
            tokio::spawn(sink.run());
            let mut kinds: Vec<&Resource> = RESOURCES.iter().filter(|resource| resource.is_watched()).collect();
            kinds.extend(Profiles::KINDS.iter().map(Resource::followed));
            let (leadership, standby) = (Leadership::alone(), Standby::Warm);
            let setup = Setup { streams: transport, kinds, leadership, standby, options: Options::default() };
            Driver::<Profiles, _, _, _>::new(setup, queue, Bindings::default(), ())
                .map_err(|_| ())
                .unwrap()
                .run(is_stopped)
                .await
        })
    });
    let patience = Duration::from_secs(60);
    assert!(server.wait(patience, |server| ["a", "b", "c"].iter().all(|pod| is_rejected(server, pod))));
    assert_eq!(bound(&server), 0, "nobody has described the group");
    server.create(group(3));
    assert!(server.wait(patience, |server| bound(server) == 3), "they are woken");
    let status = json!({"phase": "Scheduled", "scheduled": 3});
    assert!(server.wait(patience, |server| server.get(GROUP).unwrap()["status"] == status));
    stop.send_replace(true);
    assert_eq!(scheduler.join().unwrap(), End::Stopped);
    let of_status = format!("{GROUP}/status");
    assert!(server.requests().iter().any(|asked| asked.verb == "patch" && asked.path == of_status));
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
