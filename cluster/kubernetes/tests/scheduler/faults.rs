//! Under faults, each pod is bound once, to a node with capacity.
//!
//! The pods fill the nodes to the last CPU, so lost or doubly used capacity is detected.

use std::time::Duration;

use schedc_fake_apiserver::{Fault, FaultRule, Server};

use crate::scheduler::cluster::{bound, node, pod, until, wait_until_all_are_bound};
use crate::scheduler::replica::Replica;

const NODES: usize = 10;
const PODS: usize = 100;

/// Starts a server with nodes and half of the pods.
fn server() -> Server {
    let server = Server::start();
    (0..NODES).for_each(|number| drop(server.create(node(&format!("n{number}"), (PODS / NODES) as u32))));
    create_pods(&server, 0..PODS / 2);
    server
}

fn create_pods(server: &Server, numbers: std::ops::Range<usize>) {
    numbers.for_each(|number| drop(server.create(pod(&format!("p{number}"), 1))));
}

/// Creates the other half in small groups while the scheduler is active.
fn create_more(server: &Server) {
    for first in (PODS / 2..PODS).step_by(5) {
        create_pods(server, first..first + 5);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Injects a fault into every nth request with this verb and path, starting with the first, for a limited number of
/// times.
fn every(server: &Server, nth: u32, fault: &Fault, verb: &str, path: &str) {
    (0..10)
        .for_each(|time| server.rule(FaultRule::new(fault.clone()).verb(verb).path(path).after(nth * time).times(1)));
}

/// Asserts that all pods are bound under these faults of bindings and other writes.
fn bindings_survive(fault: &Fault) {
    let server = server();
    every(&server, 4, fault, "create", "*/binding");
    every(&server, 3, fault, "create", "*/events");
    every(&server, 1, fault, "patch", "*/status");
    let _scheduler = Replica::alone(&server);
    create_more(&server);
    wait_until_all_are_bound(&server, PODS);
}

/// Asserts that all pods are bound under these faults of lists and watches.
fn watches_survive(list: Option<Fault>, stream: &Fault) {
    let server = server();
    every(&server, 3, &list.unwrap_or_else(|| stream.clone()), "list", "*");
    every(&server, 3, stream, "watch", "*");
    let _scheduler = Replica::alone(&server);
    create_more(&server);
    wait_until_all_are_bound(&server, PODS);
}

#[test]
fn bindings_survive_conflicts() {
    bindings_survive(&Fault::Respond(409, None));
}

#[test]
fn expired_versions() {
    watches_survive(Some(Fault::Respond(410, None)), &Fault::GoneStream(5));
}

#[test]
fn a_server_that_is_too_busy() {
    bindings_survive(&Fault::Respond(429, Some(1)));
    watches_survive(None, &Fault::Respond(429, Some(1)));
}

#[test]
fn internal_server_errors() {
    bindings_survive(&Fault::Respond(500, None));
    watches_survive(None, &Fault::Respond(500, None));
}

#[test]
fn bindings_and_watches_survive_slow_responses() {
    bindings_survive(&Fault::Delay(Duration::from_millis(200)));
    watches_survive(None, &Fault::Delay(Duration::from_millis(200)));
}

#[test]
fn connections_that_are_cut() {
    bindings_survive(&Fault::Cut);
    watches_survive(Some(Fault::Cut), &Fault::CutStream(5));
}

#[test]
fn lost_responses() {
    bindings_survive(&Fault::LoseResponse);
}

#[test]
fn all_pods_are_bound_after_random_faults() {
    for seed in 0..5 {
        let server = server();
        server.rule(FaultRule::random(seed, 200));
        let scheduler = Replica::alone(&server);
        create_more(&server);
        for number in 0..20 {
            std::thread::sleep(Duration::from_millis(20));
            match (seed + number) % 5 {
                0 => server.cut_connections(),
                1 => server.compact(),
                _ => {}
            }
        }
        server.clear_rules();
        wait_until_all_are_bound(&server, PODS);
        drop(scheduler);
    }
}

#[test]
fn an_outage_of_the_server() {
    let mut server = server();
    // Bindings are slow, so that some are in flight when the server stops.
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(20))).path("*/binding"));
    let _scheduler = Replica::alone(&server);
    for (is_restarted, first) in [(false, 0), (true, 1), (false, 2), (true, 3), (true, 4)] {
        until(&server, "some are bound", |server| bound(server) > 8 * first);
        server.stop();
        create_pods(&server, PODS / 2 + 10 * first..PODS / 2 + 10 * (first + 1));
        std::thread::sleep(Duration::from_millis(50));
        if is_restarted { server.restart() } else { server.resume() }
    }
    wait_until_all_are_bound(&server, PODS);
}

#[test]
fn schedulers_killed_in_sequence() {
    let server = server();
    server.rule(FaultRule::new(Fault::Delay(Duration::from_millis(30))).path("*/binding"));
    server.rule(FaultRule::random(7, 100).path("*/binding"));
    for part in 0..5 {
        let scheduler = Replica::alone(&server);
        until(&server, "some are bound", |server| bound(server) > 9 * part);
        scheduler.kill();
        create_pods(&server, PODS / 2 + 10 * part..PODS / 2 + 10 * (part + 1));
    }
    let _scheduler = Replica::alone(&server);
    wait_until_all_are_bound(&server, PODS);
}
