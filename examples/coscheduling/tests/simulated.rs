//! Groups of pods in a whole cluster in memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use coscheduling::scheduler::Profiles;
use schedc_embedded::{End, Options, Simulator, TimedInput};
use schedc_objects::testing::api_object;

const SECOND: i64 = 1_000_000_000;

fn cluster() -> Simulator<Profiles> {
    Simulator::new(Options::default()).unwrap()
}

fn node(name: &str, room: usize) -> String {
    format!("---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{pods: {room}}}}}\n")
}

/// Pods of a group that needs them all.
fn group(group: &str, size: usize) -> String {
    let pod = |number| {
        format!(
            "---
apiVersion: v1
kind: Pod
metadata:
  name: {group}-{number}
  labels: {{scheduling.x-k8s.io/pod-group: {group}, scheduling.x-k8s.io/min-member: '{size}'}}
spec: {{schedulerName: coscheduling, containers: [{{name: c, image: i}}]}}
"
        )
    };
    (0..size).map(pod).collect()
}

#[test]
fn a_group_gets_its_nodes_when_there_are_enough() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 2) + &group("g", 3)));
    cluster.schedule(TimedInput::apply(25 * SECOND, api_object(&node("n2", 1))));
    cluster.run_until(25 * SECOND);
    assert!(!cluster.pods().contains(" on "), "{}", cluster.pods());
    assert_eq!(cluster.run(), End::Idle);
    assert_eq!(cluster.pods().matches(" on n").count(), 3, "{}", cluster.pods());
}

#[test]
fn a_group_that_never_fits_is_given_up() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 2) + &group("g", 3)));
    assert_eq!(cluster.run(), End::InVain);
    assert!(!cluster.pods().contains(" on "), "{}", cluster.pods());
}

#[test]
fn groups_share_what_there_is() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 3) + &node("n2", 4) + &group("g", 3) + &group("h", 4) + &group("i", 2)));
    cluster.run();
    let pods = cluster.pods();
    assert_eq!(pods.matches(" on n").count(), 7, "{pods}");
    assert_eq!(pods.lines().filter(|pod| pod.starts_with("default/i-") && !pod.contains(" on ")).count(), 2, "{pods}");
}
