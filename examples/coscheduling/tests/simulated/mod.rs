//! Groups of pods in an in-memory cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use coscheduling::scheduler::Profiles;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_in_memory::server::Request;
use schedc_in_memory::{CallTreatment, Options, SimulationEnd, SimulationHooks, Simulator, TimedInput};
use schedc_objects::testing::api_object;
use serde_json::{Value, json};

const SECOND: i64 = 1_000_000_000;

fn cluster() -> Simulator {
    Simulator::of::<Profiles>(Options::default()).unwrap()
}

fn status<H: SimulationHooks>(cluster: &Simulator<H>, group: &str) -> Value {
    cluster.object("PodGroup", group).unwrap()["status"].take()
}

fn node(name: &str, room: usize) -> String {
    format!("---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{pods: {room}}}}}\n")
}

/// Returns a group object that requires `size` pods.
fn pod_group(group: &str, size: usize) -> String {
    format!(
        "---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {{name: {group}}}
spec: {{minMember: {size}}}
"
    )
}

/// Returns a group object and all of its pods.
fn group(group: &str, size: usize) -> String {
    pod_group(group, size) + &pods(group, size)
}

/// Returns pods of a group.
fn pods(group: &str, size: usize) -> String {
    let pod = |number| {
        format!(
            "---
apiVersion: v1
kind: Pod
metadata:
  name: {group}-{number}
  labels: {{scheduling.x-k8s.io/pod-group: {group}}}
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
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(cluster.pods().matches(" on n").count(), 3, "{}", cluster.pods());
}

#[test]
fn a_group_is_tried_when_its_object_appears_and_its_status_is_written() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 3) + &pods("g", 3)));
    cluster.run_until(SECOND);
    assert_eq!(cluster.pods().matches("pod group default/g does not exist").count(), 3, "{}", cluster.pods());
    cluster.apply(&pod_group("g", 3));
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(cluster.pods().matches(" on n1").count(), 3, "{}", cluster.pods());
    assert_eq!(status(&cluster, "g"), json!({"phase": "Scheduled", "scheduled": 3}));
    let group = cluster.object("PodGroup", "g").unwrap();
    assert_eq!(group["spec"], json!({"minMember": 3}), "nothing else is changed");
}

#[test]
fn the_status_of_a_group_follows_its_pods() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 3) + &pod_group("g", 3)));
    cluster.run();
    assert_eq!(status(&cluster, "g"), json!({"phase": "Pending", "scheduled": 0}));
    cluster.apply(&pods("g", 3));
    cluster.run();
    assert_eq!(status(&cluster, "g"), json!({"phase": "Scheduled", "scheduled": 3}));
    cluster.delete("Pod", "g-1");
    cluster.run();
    assert_eq!(status(&cluster, "g"), json!({"phase": "Scheduling", "scheduled": 2}));
    cluster.patch("PodGroup", "g", json!({"spec": {"minMember": 2}}));
    cluster.run();
    assert_eq!(status(&cluster, "g"), json!({"phase": "Scheduled", "scheduled": 2}));
    cluster.delete("PodGroup", "g");
    cluster.apply(&pod_group("g", 4));
    cluster.run();
    assert_eq!(status(&cluster, "g"), json!({"phase": "Scheduling", "scheduled": 2}), "it is another object");
}

/// Hook that refuses this number of patches.
struct Overloaded(u32);

impl SimulationHooks for Overloaded {
    fn on_call(&mut self, _: i64, request: &Request) -> CallTreatment {
        match request {
            Request::Patch(..) if self.0 > 0 => {
                self.0 -= 1;
                CallTreatment::Refuse(ApiError::new(ApiReason::Other, "too many requests"))
            }
            _ => CallTreatment::Immediate,
        }
    }
}

#[test]
fn a_status_that_cannot_be_written_is_written_later() {
    let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), Options::default(), Overloaded(3)).unwrap();
    cluster.apply(&pod_group("g", 3));
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 3 * SECOND));
    assert_eq!(status(&cluster, "g"), json!({"phase": "Pending", "scheduled": 0}));
}

#[test]
fn a_group_that_never_fits_is_given_up() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 2) + &group("g", 3)));
    assert_eq!(cluster.run(), SimulationEnd::NoProgress);
    assert!(!cluster.pods().contains(" on "), "{}", cluster.pods());
}

#[test]
fn groups_share_the_cluster() {
    let mut cluster = cluster();
    cluster.apply(&(node("n1", 3) + &node("n2", 4) + &group("g", 3) + &group("h", 4) + &group("i", 2)));
    cluster.run();
    let pods = cluster.pods();
    assert_eq!(pods.matches(" on n").count(), 7, "{pods}");
    assert_eq!(pods.lines().filter(|pod| pod.starts_with("default/i-") && !pod.contains(" on ")).count(), 2, "{pods}");
}
