//! Two replicas: whenever the leader fails, the other one takes over, and no pod is bound twice.

use std::time::Duration;

use schedc_fake_apiserver::{Fault, FaultRule, RecordedRequest, Server};
use schedc_kubernetes::driver::StopReason;

use crate::scheduler::cluster::{bound, check_bindings, is_binding, node, pod, until, wait_until_all_are_bound};
use crate::scheduler::replica::Replica;

const PODS: usize = 100;
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

/// Starts a server with slow bindings, and with nodes that the pods of a test fill.
fn server() -> Server {
    let server = Server::start();
    (0..10).for_each(|number| drop(server.create(node(&format!("n{number}"), 10))));
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(20))).path("*/binding"));
    server
}

fn create_pods(server: &Server, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| drop(server.create(pod(&format!("p{number}"), 1))));
}

fn leads(server: &Server, name: &str) -> bool {
    server.get(LEASE).is_some_and(|lease| lease["spec"]["holderIdentity"] == name)
}

/// Starts replica `a`, which leads, and `b`, which is on standby, and waits until some pods are bound.
fn one_replica_leads_and_the_other_waits(server: &Server) -> (Replica, Replica) {
    let a = Replica::elected(server, "a");
    until(server, "a leads", |server| leads(server, "a"));
    let b = Replica::elected(server, "b");
    create_pods(server, 0..PODS / 2);
    until(server, "some are bound", |server| bound(server) >= 10);
    (a, b)
}

/// Asserts that all pods are bound in the end, each with one attempt: the new leader observes what the old one bound.
fn every_pod_is_bound_once(server: &Server) {
    wait_until_all_are_bound(server, PODS);
    assert_eq!(server.count_requests(|request| is_binding(request) && request.code == 409), 0);
}

fn is_binding_of(request: &RecordedRequest, name: &str) -> bool {
    is_binding(request) && request.token == name
}

#[test]
fn the_leader_is_killed() {
    let server = server();
    let (a, _b) = one_replica_leads_and_the_other_waits(&server);
    a.kill();
    create_pods(&server, PODS / 2..PODS);
    every_pod_is_bound_once(&server);
    assert!(leads(&server, "b"));
}

#[test]
fn the_leader_is_paused_for_longer_than_its_lease() {
    let server = server();
    let (mut a, _b) = one_replica_leads_and_the_other_waits(&server);
    a.hold_up(Duration::from_secs(8));
    create_pods(&server, PODS / 2..PODS);
    until(&server, "b leads", |server| leads(server, "b"));
    every_pod_is_bound_once(&server);
    // Replica `a` detects the loss before its next decision, and stops.
    assert_eq!(a.join(), Some(StopReason::LeaseLost));
    check_bindings(&server);
}

#[test]
fn the_leader_cannot_reach_the_server() {
    let server = server();
    let (mut a, _b) = one_replica_leads_and_the_other_waits(&server);
    server.rule(FaultRule::new(Fault::Cut).token("a"));
    create_pods(&server, PODS / 2..PODS);
    assert_eq!(a.join(), Some(StopReason::LeaseLost));
    every_pod_is_bound_once(&server);
    assert!(leads(&server, "b"));
}

#[test]
fn a_stopped_leader_finishes_its_bindings() {
    let server = server();
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(300))).path("*/binding"));
    let (a, b) = one_replica_leads_and_the_other_waits(&server);
    create_pods(&server, PODS / 2..PODS);
    assert_eq!(a.stop(), Some(StopReason::Stopped));
    // Bindings in flight completed before `a` released the lease.
    let requests = server.requests();
    let gave_back = |request: &RecordedRequest| {
        let holder = request.body.as_ref().map(|lease| &lease["spec"]["holderIdentity"]);
        request.path == LEASE
            && request.verb == "update"
            && request.token == "a"
            && holder.is_none_or(|it| it == "" || it.is_null())
    };
    let gave_back = requests.iter().position(gave_back).expect("the lease is given back");
    assert!(!requests[gave_back..].iter().any(|request| is_binding_of(request, "a")));
    until(&server, "b leads", |server| leads(server, "b"));
    every_pod_is_bound_once(&server);
    assert_eq!(b.stop(), Some(StopReason::Stopped));
}

#[test]
fn a_scheduler_stops_when_its_stop_channel_is_dropped() {
    let server = server();
    let replica = Replica::alone(&server);
    create_pods(&server, 0..1);
    until(&server, "a pod is bound", |server| bound(server) == 1);
    assert_eq!(replica.abandon(), Some(StopReason::Stopped));
}
