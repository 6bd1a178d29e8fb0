//! Two replicas: whatever happens to the leader, the other one takes over, and nothing is bound twice.

use std::time::Duration;

use schedc_double::{Asked, Fault, Rule, Server};
use schedc_kubernetes::drive::End;

use crate::scheduler::cluster::{bound, is_binding, is_bound_well, node, pod, until, until_all_are_bound_well};
use crate::scheduler::replica::Replica;

const PODS: usize = 100;
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

/// A server with pods that fill the nodes, on which bindings take a while.
fn server() -> Server {
    let server = Server::start();
    (0..10).for_each(|number| drop(server.create(node(&format!("n{number}"), 10))));
    server.rule(Rule::new(Fault::Delay(Duration::from_millis(20))).path("*/binding"));
    server
}

fn create_pods(server: &Server, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| drop(server.create(pod(&format!("p{number}"), 1))));
}

fn leads(server: &Server, name: &str) -> bool {
    server.get(LEASE).is_some_and(|lease| lease["spec"]["holderIdentity"] == name)
}

/// The leader is `a`, `b` stands by, and some of the pods are bound.
fn a_leads_and_b_stands_by(server: &Server) -> (Replica, Replica) {
    let a = Replica::elected(server, "a");
    until(server, "a leads", |server| leads(server, "a"));
    let b = Replica::elected(server, "b");
    create_pods(server, 0..PODS / 2);
    until(server, "some are bound", |server| bound(server) >= 10);
    (a, b)
}

/// All is bound in the end, and nobody tried to bind what was bound: who takes over knows what was done.
fn all_is_bound_once(server: &Server) {
    until_all_are_bound_well(server, PODS);
    assert_eq!(server.count_requests(|asked| is_binding(asked) && asked.code == 409), 0);
}

fn is_binding_of(asked: &Asked, name: &str) -> bool {
    is_binding(asked) && asked.token == name
}

#[test]
fn the_leader_is_killed() {
    let server = server();
    let (a, _b) = a_leads_and_b_stands_by(&server);
    a.kill();
    create_pods(&server, PODS / 2..PODS);
    all_is_bound_once(&server);
    assert!(leads(&server, "b"));
}

#[test]
fn the_leader_is_held_up_for_longer_than_its_lease() {
    let server = server();
    let (mut a, _b) = a_leads_and_b_stands_by(&server);
    a.hold_up(Duration::from_secs(8));
    create_pods(&server, PODS / 2..PODS);
    until(&server, "b leads", |server| leads(server, "b"));
    all_is_bound_once(&server);
    // It finds out before it decides anything else, and ends.
    assert_eq!(a.join(), Some(End::Lost));
    is_bound_well(&server);
}

#[test]
fn the_leader_cannot_reach_the_server() {
    let server = server();
    let (mut a, _b) = a_leads_and_b_stands_by(&server);
    server.rule(Rule::new(Fault::Cut).token("a"));
    create_pods(&server, PODS / 2..PODS);
    assert_eq!(a.join(), Some(End::Lost));
    all_is_bound_once(&server);
    assert!(leads(&server, "b"));
}

#[test]
fn the_leader_is_stopped_and_finishes_what_it_has_begun() {
    let server = server();
    server.rule(Rule::new(Fault::Delay(Duration::from_millis(300))).path("*/binding"));
    let (a, b) = a_leads_and_b_stands_by(&server);
    create_pods(&server, PODS / 2..PODS);
    assert_eq!(a.stop(), Some(End::Stopped));
    // What it had begun was done before it gave the lease back.
    let asked = server.requests();
    let gave_back = |asked: &Asked| {
        let holder = asked.body.as_ref().map(|lease| &lease["spec"]["holderIdentity"]);
        asked.path == LEASE
            && asked.verb == "update"
            && asked.token == "a"
            && holder.is_none_or(|it| it == "" || it.is_null())
    };
    let gave_back = asked.iter().position(gave_back).expect("the lease is given back");
    assert!(!asked[gave_back..].iter().any(|asked| is_binding_of(asked, "a")));
    until(&server, "b leads", |server| leads(server, "b"));
    all_is_bound_once(&server);
    assert_eq!(b.stop(), Some(End::Stopped));
}

#[test]
fn a_scheduler_stops_when_the_sender_that_could_stop_it_is_dropped() {
    let server = server();
    let replica = Replica::alone(&server);
    create_pods(&server, 0..1);
    until(&server, "a pod is bound", |server| bound(server) == 1);
    assert_eq!(replica.abandon(), Some(End::Stopped));
}
