//! `schedc run` as a separate process.

mod metrics;
mod process;
mod recording;

use std::collections::HashMap;
use std::time::Duration;

use process::Scheduler;
use schedc_fake_apiserver::{Fault, FaultRule, RecordedRequest, Server};
use serde_json::{Value, json};

/// Timeout of a test, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
const NODES: usize = 20;
const PODS: usize = 200;
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

fn node(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{number}")},
        "status": {"allocatable": {"cpu": (PODS / NODES).to_string(), "memory": "16Gi", "pods": "110"}},
    })
}

fn pod(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{number}"), "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
    })
}

/// Starts a server with nodes that the pods fill to the last CPU; lost or doubly used capacity therefore shows.
fn server() -> Server {
    let server = Server::start();
    (0..NODES).for_each(|number| drop(server.create(node(number))));
    server
}

fn create_pods(server: &Server, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| drop(server.create(pod(number))));
}

fn bound(server: &Server) -> usize {
    server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"].is_string())
}

fn is_binding(request: &RecordedRequest) -> bool {
    request.verb == "create" && request.path.ends_with("/binding")
}

/// Waits until a condition holds, while the scheduler runs.
#[track_caller]
fn wait_until(server: &Server, scheduler: &mut Scheduler, what: &str, condition: impl Fn(&Server) -> bool) {
    let condition = server.wait(TIMEOUT, condition);
    assert!(
        condition,
        "timeout: {what}; {} pods are bound; output of the scheduler:\n{}",
        bound(server),
        scheduler.output()
    );
}

/// Waits until all pods are bound. Checks that each was bound once, and that no node exceeds its capacity.
#[track_caller]
fn wait_until_all_pods_are_bound_once(server: &Server, scheduler: &mut Scheduler) {
    wait_until(server, scheduler, "all pods are bound", |server| bound(server) == PODS);
    let mut times: HashMap<String, usize> = HashMap::new();
    for binding in server.requests().into_iter().filter(|request| is_binding(request) && request.code == 201) {
        *times.entry(binding.path).or_default() += 1;
    }
    assert_eq!((times.len(), times.values().max()), (PODS, Some(&1)), "each is bound once");
    let mut on: HashMap<String, usize> = HashMap::new();
    for pod in server.list("/api/v1/pods") {
        *on.entry(pod["spec"]["nodeName"].to_string()).or_default() += 1;
    }
    assert_eq!((on.len(), on.values().max()), (NODES, Some(&(PODS / NODES))), "no node has more than it has room for");
}

#[test]
fn a_repeatedly_killed_scheduler_binds_all_pods_once() {
    const KILLS: usize = 50;
    let server = server();
    // Slow bindings, because the process must be killed during them.
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(10))).path("*/binding"));
    let mut random: u64 = 1;
    for kill in 0..KILLS {
        create_pods(&server, PODS / KILLS * kill..PODS / KILLS * (kill + 1));
        let before = bound(&server);
        let mut scheduler = Scheduler::start(&server, &["--leader-elect=false"]);
        wait_until(&server, &mut scheduler, "a pod is bound", |server| bound(server) > before);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(random >> 59));
        scheduler.kill();
    }
    let mut scheduler = Scheduler::start(&server, &["--leader-elect=false"]);
    wait_until_all_pods_are_bound_once(&server, &mut scheduler);
}

#[test]
fn a_terminated_scheduler_finishes_bindings_and_releases_the_lease() {
    let server = server();
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(50))).path("*/binding"));
    let mut first = Scheduler::start(&server, &[]);
    create_pods(&server, 0..PODS);
    wait_until(&server, &mut first, "some pods are bound", |server| bound(server) > 5);
    assert_eq!(first.terminate(), Some(0), "{}", first.output());
    let requests = server.requests();
    let release = requests.iter().rposition(|request| request.path == LEASE && request.verb == "update");
    let last_binding = requests.iter().rposition(is_binding);
    assert!(release > last_binding);
    // The lease is released, so the next process need not wait until it expires.
    let mut second = Scheduler::start(&server, &[]);
    wait_until_all_pods_are_bound_once(&server, &mut second);
    assert_eq!(server.count_requests(|request| is_binding(request) && request.code != 201), 0);
    assert_eq!(second.terminate(), Some(0), "{}", second.output());
}

#[test]
fn a_lost_lease_ends_the_scheduler() {
    let server = server();
    let times =
        ["--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms"];
    let mut scheduler = Scheduler::start(&server, &times);
    wait_until(&server, &mut scheduler, "it leads", |server| server.get(LEASE).is_some());
    server.merge(LEASE, json!({"spec": {"holderIdentity": "another replica"}}));
    assert_eq!(scheduler.join(), Some(1));
    assert!(scheduler.output().contains("leader election lost"), "{}", scheduler.output());
}
