//! Background tasks of plugins in an in-memory cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod garden;

#[allow(unreachable_pub, reason = "the macro writes code for libraries, too")]
mod scheduler {
    schedc_macros::profile!("tests/background/garden.toml");
}

use std::time::Duration;

pub(crate) use garden::Gardener;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_in_memory::server::Request;
use schedc_in_memory::{CallTreatment, Options, SimulationEnd, SimulationHooks, Simulator};
use scheduler::Profiles;
use serde_json::{Value, json};

const SECOND: i64 = 1_000_000_000;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 2, pods: 10}}
";

const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c}]}
";

fn garden() -> Simulator {
    Simulator::of::<Profiles>(Options::default()).unwrap()
}

/// Returns the spec and the status of a plant.
fn plant<H: SimulationHooks>(cluster: &Simulator<H>, name: &str) -> Option<(Value, Value)> {
    cluster.object("Plant", name).map(|mut plant| (plant["spec"].take(), plant["status"].take()))
}

#[test]
fn a_task_watches_sleeps_and_changes_objects() {
    let mut cluster = garden();
    cluster.apply(NODE);
    cluster.run_for(Duration::from_secs(9));
    assert_eq!(plant(&cluster, "n1"), Some((json!({"watered": false}), Value::Null)));
    cluster.run_for(Duration::from_secs(1));
    assert_eq!(plant(&cluster, "n1"), Some((json!({"watered": true}), json!({"blooms": true}))));
    cluster.delete("Node", "n1");
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 10 * SECOND));
    assert_eq!(plant(&cluster, "n1"), None);
}

#[test]
fn the_simulation_waits_for_tasks() {
    let mut cluster = garden();
    cluster.apply(NODE);
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 10 * SECOND));
    assert_eq!(plant(&cluster, "n1"), Some((json!({"watered": true}), json!({"blooms": true}))));
}

#[test]
fn a_task_started_during_scheduling_is_run_when_idle() {
    let mut cluster = garden();
    cluster.apply(&format!("{NODE}---{POD}"));
    cluster.run_for(Duration::from_secs(4));
    assert_eq!(cluster.node_of("web"), None, "it waits in Permit");
    cluster.run_for(Duration::from_secs(1));
    assert_eq!(cluster.node_of("web"), Some("n1"));
    let (spec, _) = plant(&cluster, "n1").unwrap();
    assert_eq!(spec["visitor"], "web", "written by PostBind");
    assert_eq!(cluster.scheduler.background_tasks(), 2, "the gardener's task, and the one that signals its requests");
}

#[test]
fn stopped_tasks_do_nothing() {
    let mut cluster = garden();
    cluster.apply(NODE);
    cluster.run_for(Duration::from_secs(9));
    cluster.scheduler.stop_background();
    assert_eq!((cluster.run(), cluster.scheduler.background_tasks()), (SimulationEnd::Idle, 0));
    assert_eq!(plant(&cluster, "n1"), Some((json!({"watered": false}), Value::Null)));
}

/// Refuses the first call, delays the second, and loses the response of the third.
#[derive(Default)]
struct Slow {
    calls_received: u32,
    calls: Vec<(i64, &'static str)>,
}

impl SimulationHooks for Slow {
    fn on_call(&mut self, now: i64, request: &Request) -> CallTreatment {
        let call = match request {
            Request::CreateJson(..) => "create",
            Request::Patch(..) => "patch",
            Request::Get(..) => "get",
            _ => return CallTreatment::Immediate,
        };
        self.calls.push((now / SECOND, call));
        self.calls_received += 1;
        match self.calls_received {
            1 => CallTreatment::Refuse(ApiError::new(ApiReason::Timeout, "later")),
            2 => CallTreatment::After(Duration::from_secs(3)),
            3 => CallTreatment::LoseResponse,
            _ => CallTreatment::Immediate,
        }
    }
}

#[test]
fn a_task_receives_the_results_of_its_calls() {
    let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), Options::default(), Slow::default()).unwrap();
    cluster.apply(NODE);
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(plant(&cluster, "n1"), Some((json!({"watered": true}), json!({"blooms": true}))));
    let expected = [
        (0, "create"),
        // The first call was refused.
        (1, "create"),
        // The second call took three seconds. The response of the third one is lost.
        (14, "patch"),
        (15, "create"),
        (25, "patch"),
        (25, "get"),
        (25, "patch"),
    ];
    assert_eq!(cluster.hooks.calls, expected);
}
