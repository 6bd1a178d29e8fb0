//! Observers write nothing. `--dry-run` reports decisions, `--shadow` reports differences from kube-scheduler.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use k8s_openapi::api::core::v1 as api;
use schedc_core::client::{Client, Event};
use schedc_core::erased::AnyBundle;
use schedc_core::extension_points::Placement;
use schedc_core::intern::Interner;
use schedc_core::model::NodeIndex;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Options;
use schedc_fake_apiserver::Server;
use schedc_kubernetes::driver::{Driver, DriverHooks, Leadership, Setup, Standby};
use schedc_kubernetes::dry_run::{DecisionResult, Decisions, DryRunClient};
use schedc_kubernetes::health::Health;
use schedc_kubernetes::resources::{RESOURCES, Resource};
use schedc_kubernetes::shadow::{Disagreement, Finding, ProfileCounts, Shadow, ShadowCounts};
use schedc_kubernetes::write::PodRecords;
use schedc_kubernetes::write::{EventSink, KubeClient};
use schedc_objects::convert_pod;
use serde_json::{Value, from_value, json};
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::scheduler::cluster::{PATIENCE, node, path, pod, until};
use crate::scheduler::pipelines::Profiles;
use crate::support::Fast;

/// Observer that runs until it is dropped.
struct Observer {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Observer {
    /// Starts an observer and waits until its informers have synced.
    fn start<H: DriverHooks + Send + 'static>(server: &Server, hooks: H, tries_pods: bool) -> Observer {
        let transport = Fast::to(server, 20);
        let (stop, stop_receiver) = watch::channel(false);
        let health = Health::new(None);
        let driver_health = health.clone();
        let thread = std::thread::spawn(move || {
            let setup = Setup {
                streams: transport.clone(),
                kinds: RESOURCES.iter().filter(|resource| resource.is_watched()).collect::<Vec<&Resource>>(),
                leadership: Leadership::alone(),
                standby: Standby::Warm,
                options: Options::default(),
            };
            let client = DryRunClient::new(transport);
            let driver =
                Driver::with_client(&AnyBundle::running::<Profiles>(), setup, client, PodRecords::default(), hooks);
            let driver = driver.map_err(|errors| errors.len()).unwrap().with_health(driver_health);
            let driver = if tries_pods { driver } else { driver.as_observer() };
            Builder::new_current_thread().enable_all().build().unwrap().block_on(driver.run(stop_receiver));
        });
        let observer = Observer { stop, thread: Some(thread) };
        until(server, "the informers have synced", |_| health.is_synced());
        observer
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn important(name: &str, cpu: u32) -> Value {
    let mut pod = pod(name, cpu);
    pod["spec"]["priority"] = json!(10);
    pod
}

fn dry_run(server: &Server) -> (Observer, Receiver<(String, DecisionResult)>) {
    let (sender, receiver) = channel();
    let sender = move |decision: &schedc_kubernetes::dry_run::Decision| {
        // The test may have dropped the receiver.
        let _ = sender.send((decision.pod.clone(), decision.decided.clone()));
    };
    (Observer::start(server, Decisions::new(Profiles::PROFILES, sender), true), receiver)
}

#[test]
fn a_dry_run_decides_and_writes_nothing() {
    let server = Server::start();
    server.create(node("n1", 2));
    let (_observer, receiver) = dry_run(&server);
    let placed = |pod: &str| (format!("default/{pod}"), DecisionResult::Placed { node: "n1".into() });
    let next = || receiver.recv_timeout(PATIENCE).unwrap();
    server.create(pod("first", 2));
    assert_eq!(next(), placed("first"));

    // In the dry run, the pod counts as bound, although it is not bound in the cluster.
    server.create(pod("second", 1));
    let message = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: \
                   1 No preemption victims found for incoming pod.";
    let unschedulable =
        DecisionResult::Unschedulable { message: message.into(), nominated_node: None, victims: Vec::new() };
    assert_eq!(next(), ("default/second".into(), unschedulable));

    // Evicted pods are removed, and later updates of them are ignored.
    server.create(important("third", 2));
    let (third, DecisionResult::Unschedulable { nominated_node, victims, .. }) = next() else { panic!("it is full") };
    assert_eq!(
        (third.as_str(), nominated_node.as_deref(), &victims[..]),
        ("default/third", Some("n1"), &["default/first".to_owned()][..])
    );
    assert_eq!(next(), placed("third"));
    server.merge(&path("first"), json!({"metadata": {"labels": {"a": "b"}}}));

    // Changes by others are observed.
    server.remove(&path("third"));
    server.create(node("n2", 1));
    assert_eq!(next().0, "default/second");
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[test]
fn a_dry_run_does_not_wait_for_volumes() {
    let server = Server::start();
    server.create(node("n1", 2));
    server.create(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "csi"},
        "provisioner": "example.com/csi", "volumeBindingMode": "WaitForFirstConsumer",
    }));
    server.create(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"},
        "spec": {"storageClassName": "csi", "accessModes": ["ReadWriteOnce"],
                 "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"},
    }));
    let mut with_claim = pod("p", 1);
    with_claim["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
    server.create(with_claim);
    let (_observer, receiver) = dry_run(&server);
    assert_eq!(receiver.recv_timeout(PATIENCE).unwrap().1, DecisionResult::Placed { node: "n1".into() });
    assert!(server.writes().is_empty(), "{:?}", server.writes());
}

#[derive(Clone)]
struct NoEvents;

impl EventSink for NoEvents {
    fn record(&self, _: Event, _: Option<u64>) {}
}

/// Acts as kube-scheduler.
struct KubeScheduler<'s>(&'s Server);

impl KubeScheduler<'_> {
    fn create(&self, pod: Value) -> api::Pod {
        from_value(self.0.create(pod)).unwrap()
    }

    /// Creates a pod and binds it.
    fn binds(&self, pod: Value, node: &str) {
        self.bind(&self.create(pod), node);
    }

    /// Binds a pod through the binding subresource.
    fn bind(&self, pod: &api::Pod, node: &str) {
        let pod = Arc::new(convert_pod(pod, &mut Interner::default()));
        let placement = Placement { pod, node: NodeIndex(0), node_name: node.into() };
        let client = KubeClient::new(Fast::to(self.0, 1), PodRecords::default(), NoEvents);
        Builder::new_current_thread().enable_all().build().unwrap().block_on(client.bind(&placement)).unwrap();
    }

    /// Reports a pod as unschedulable.
    fn rejects(&self, name: &str, message: &str) {
        let condition =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message});
        self.0.merge(&path(name), json!({"status": {"conditions": [condition]}}));
    }
}

struct ShadowRun {
    _observer: Observer,
    shadow_counts: ShadowCounts,
    receiver: Receiver<Disagreement>,
}

impl ShadowRun {
    fn start(server: &Server) -> ShadowRun {
        let (sender, receiver): (Sender<Disagreement>, _) = channel();
        let shadow_counts = ShadowCounts::default();
        let shadow = Shadow::new(Profiles::PROFILES, shadow_counts.clone(), move |disagreement: &Disagreement| {
            let _ = sender.send(disagreement.clone());
        });
        ShadowRun { _observer: Observer::start(server, shadow, false), shadow_counts, receiver }
    }

    fn finding(&self) -> Finding {
        self.receiver.recv_timeout(PATIENCE).unwrap().finding
    }

    /// Waits until this number of decisions was compared.
    fn counts(&self, server: &Server, decisions: u64) -> ProfileCounts {
        let counts = || self.shadow_counts.counts().first().copied().unwrap_or_default();
        until(server, "all decisions are compared", |_| counts().bound() + counts().unschedulable() == decisions);
        counts()
    }
}

#[test]
fn a_shadow_reports_different_decisions() {
    let server = Server::start();
    for name in ["n1", "n2"] {
        server.create(node(name, 4));
    }
    // Pods from before the start are not compared.
    server.create(pod("old", 9));
    KubeScheduler(&server).rejects("old", "0/2 nodes are available: 2 are too old.");
    let judge = ShadowRun::start(&server);
    let kube_scheduler = KubeScheduler(&server);

    kube_scheduler.binds(pod("either", 1), "n1");
    assert_eq!(judge.counts(&server, 1), ProfileCounts { same_best: 1, ..ProfileCounts::default() });
    kube_scheduler.binds(pod("worse", 1), "n1");
    let Finding::LowerScore { node, best, by, scores } = judge.finding() else { panic!("n2 is better") };
    assert_eq!((node.as_str(), &best[..]), ("n1", &["n2".to_owned()][..]));
    let total = |points: &mut dyn Iterator<Item = i64>| points.sum::<i64>();
    let of_best = total(&mut scores.iter().map(|score| score.best.weighted));
    let of_bound = total(&mut scores.iter().filter_map(|score| score.bound).map(|points| points.weighted));
    assert!(by > 0 && of_best - of_bound == by, "{scores:?}");
    kube_scheduler.binds(pod("better", 1), "n2");

    let mut picky = pod("picky", 1);
    picky["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "n1"});
    kube_scheduler.binds(picky, "n2");
    let Finding::Infeasible { reason, best, .. } = judge.finding() else { panic!("n2 does not match") };
    assert_eq!(best, ["n1"]);
    assert_eq!(reason, "NodeAffinity: node(s) didn't match Pod's node affinity/selector");

    kube_scheduler.binds(pod("huge", 99), "n1");
    let Finding::Infeasible { reason, best, .. } = judge.finding() else { panic!("it fits nowhere") };
    assert_eq!((reason.as_str(), best.len()), ("NodeResourcesFit: Insufficient cpu", 0));
    let counts = judge.counts(&server, 5);
    let expected = ProfileCounts {
        same_best: 2,
        lower_score: 1,
        largest_difference: by,
        infeasible: 2,
        ..ProfileCounts::default()
    };
    assert_eq!(counts, expected);
}

#[test]
fn a_shadow_reports_different_failures() {
    let server = Server::start();
    server.create(node("n1", 4));
    let judge = ShadowRun::start(&server);
    let kube_scheduler = KubeScheduler(&server);
    kube_scheduler.create(pod("huge", 9));
    kube_scheduler.rejects("huge", "0/1 nodes are available: 1 said so.");
    let Finding::OtherMessage { theirs, ours } = judge.finding() else { panic!("it is other words") };
    assert_eq!(theirs, "0/1 nodes are available: 1 said so.");
    assert_eq!(
        ours,
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: \
         1 Preemption is not helpful for scheduling."
    );
    kube_scheduler.rejects("huge", &ours);
    judge.counts(&server, 2);
    // A repeated message is ignored.
    server.merge(&path("huge"), json!({"metadata": {"labels": {"a": "b"}}}));
    kube_scheduler.create(pod("small", 1));
    kube_scheduler.rejects("small", "0/1 nodes are available: 1 said so.");
    assert!(matches!(judge.finding(), Finding::Fits { best, .. } if best == ["n1"]));
    let counts = judge.counts(&server, 3);
    assert_eq!(counts, ProfileCounts { same_message: 1, other_message: 1, fits: 1, ..ProfileCounts::default() });
    std::thread::sleep(Duration::from_millis(20));
    let own = |request: &schedc_fake_apiserver::RecordedRequest| {
        request.verb == "create" && request.path.ends_with("/binding")
    };
    assert_eq!(server.count_requests(own), 0);
}

/// Creates a device on each node, and a class for them that backs an extended resource.
fn create_devices(server: &Server, nodes: &[&str]) {
    let group = "resource.k8s.io/v1";
    server.create(json!({
        "apiVersion": group, "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }));
    for node in nodes {
        let pool = json!({"name": node, "generation": 1, "resourceSliceCount": 1});
        server.create(json!({
            "apiVersion": group, "kind": "ResourceSlice", "metadata": {"name": node},
            "spec": {"driver": "d", "nodeName": node, "pool": pool, "devices": [{"name": "gpu-0"}]},
        }));
    }
}

#[test]
fn a_shadow_evaluates_pods_before_their_claims_are_allocated() {
    let server = Server::start();
    for name in ["n1", "n2"] {
        server.create(node(name, 4));
    }
    create_devices(&server, &["n1", "n2"]);
    let judge = ShadowRun::start(&server);
    let kube_scheduler = KubeScheduler(&server);
    let mut train = pod("train", 1);
    train["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1".into();
    train["spec"]["containers"][0]["resources"]["limits"] = json!({"example.com/gpu": "1"});
    let train = kube_scheduler.create(train);
    kube_scheduler.rejects("train", "not yet");
    assert!(matches!(judge.finding(), Finding::Fits { best, .. } if best == ["n1", "n2"]));
    // Once the claim exists, an evaluation would reject the pod.
    let uid = train.metadata.uid.as_deref().unwrap_or_default();
    let request = json!({"name": "container-0-request-1", "exactly": {"deviceClassName": "gpu", "count": 1,
        "allocationMode": "ExactCount"}});
    server.create(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {
            "name": "train-extended-resources", "namespace": "default",
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": uid, "controller": true}],
        },
        "spec": {"devices": {"requests": [request]}},
    }));
    std::thread::sleep(Duration::from_millis(50));
    kube_scheduler.bind(&train, "n2");
    let counts = judge.counts(&server, 2);
    assert_eq!(counts, ProfileCounts { same_best: 1, fits: 1, ..ProfileCounts::default() });
}
