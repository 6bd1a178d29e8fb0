//! Dump of the scheduler's cache, and its comparison with the API server.

use std::time::Duration;

use schedc_core::erased::AnyBundle;
use schedc_core::scheduler::Options;
use schedc_fake_apiserver::Server;
use schedc_kubernetes::driver::{Driver, Leadership, Setup, Standby};
use schedc_kubernetes::events::{EventRecorder, EventWriter};
use schedc_kubernetes::inspect::{CacheDifference, Inspector};
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::write::Bindings;
use tokio::sync::watch;

use crate::scheduler::cluster::{PATIENCE, bound, node, pod};
use crate::scheduler::pipelines::Profiles;
use crate::support::Fast;

/// Runs `done` while a scheduler is active.
pub(super) async fn with_running_scheduler(server: &Server, done: impl AsyncFnOnce(Inspector)) {
    let transport = Fast::to(server, 20);
    let (queue, sink) = EventWriter::new(transport.clone(), EventRecorder::new("host"), 1);
    tokio::spawn(sink.run());
    let setup = Setup {
        streams: transport,
        kinds: RESOURCES.iter().filter(|resource| resource.is_watched()).collect::<Vec<&Resource>>(),
        leadership: Leadership::alone(),
        standby: Standby::Warm,
        options: Options::default(),
    };
    let inspector = Inspector::default();
    let driver = Driver::new(&AnyBundle::running::<Profiles>(), setup, queue, Bindings::default(), inspector.clone())
        .map_err(|e| e.len())
        .unwrap();
    let (_stop, stop_receiver) = watch::channel(false);
    tokio::select! {
        end = driver.run(stop_receiver) => panic!("{end:?}"),
        () = done(inspector) => {}
    }
}

#[tokio::test]
async fn the_snapshot_matches_the_api_server() {
    let server = Server::start();
    server.create(node("n", 4));
    server.create(pod("fits", 3));
    server.create(pod("waits", 3));
    let mut others = pod("others", 1);
    others["spec"]["schedulerName"] = "other-scheduler".into();
    server.create(others);
    with_running_scheduler(&server, async |inspector| {
        assert!(server.until(PATIENCE, |server| bound(server) == 1).await);
        let way = Fast::to(&server, 20);
        assert_eq!(inspector.compare(&way, &["default-scheduler"]).await, Ok(CacheDifference::default()));

        let dump: Vec<_> = inspector.dump().await.into_iter().map(without_uids).collect();
        let expected = [
            "Dump of cache: 1 nodes, 1 pods on nodes",
            "node n: 1 pods, requested cpu=3000m memory=0 ephemeral-storage=0, allocatable cpu=4000m \
             memory=17179869184 ephemeral-storage=0",
            "pod default/fits: on n",
            "Dump of scheduling queue: 1 pods",
            "pod default/waits: Unschedulable",
        ];
        assert_eq!(dump, expected);
    })
    .await;
}

#[tokio::test]
async fn differences_are_named() {
    let (server, other) = (Server::start(), Server::start());
    server.create(node("here", 4));
    server.create(pod("here", 1));
    // Both servers number uids from the start. One more node gives the pods different uids.
    for name in ["there", "too"] {
        other.create(node(name, 4));
    }
    other.create(pod("there", 1));
    with_running_scheduler(&server, async |inspector| {
        assert!(server.until(PATIENCE, |server| bound(server) == 1).await);
        let mismatch = inspector.compare(&Fast::to(&other, 100), &["default-scheduler"]).await.unwrap();
        assert_eq!((mismatch.missed_pods.len(), mismatch.redundant_pods.len()), (1, 1));
        let text = mismatch.to_string();
        assert!(text.starts_with("missedNodes=[there too] redundantNodes=[here] missedPods=["), "{text}");
    })
    .await;
}

#[tokio::test]
async fn concurrent_callers_receive_the_snapshot() {
    let server = Server::start();
    server.create(node("n", 4));
    server.create(pod("fits", 3));
    with_running_scheduler(&server, async |inspector| {
        assert!(server.until(PATIENCE, |server| bound(server) == 1).await);
        let (first, second) = tokio::join!(inspector.dump(), inspector.dump());
        assert_eq!(first[0], "Dump of cache: 1 nodes, 1 pods on nodes");
        assert_eq!(first, second);
    })
    .await;
}

#[tokio::test]
async fn failed_lists_are_reported() {
    let server = Server::start();
    with_running_scheduler(&server, async |inspector| {
        let mut gone = Server::start();
        let way = Fast::to(&gone, 100);
        gone.stop();
        let error = tokio::time::timeout(Duration::from_secs(30), inspector.compare(&way, &[])).await.unwrap();
        assert!(error.as_ref().is_err_and(|why| why.starts_with("Nodes could not be listed: ")), "{error:?}");
    })
    .await;
}

fn without_uids(line: String) -> String {
    match (line.split_once(" ("), line.split_once(')')) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => line,
    }
}
