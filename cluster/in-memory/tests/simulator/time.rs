//! Order and times of events.

use expect_test::expect;
use schedc_core::cache::Base;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_core::scheduler::Outcome;
use schedc_in_memory::server::{Change, Key, Request, Response};
use schedc_in_memory::{CallTreatment, SimulationHooks, TimedInput};
use schedc_objects::testing::api_object;
use serde_json::json;

use super::*;

#[test]
fn a_pod_that_fits_later_is_placed_then() {
    let mut cluster = cluster(&(node("n1", 2) + &pod("small", 1, "") + &pod("large", 4, "")));
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 0));
    expect![[r#"
        default/large: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
        default/small on n1
    "#]].assert_eq(&cluster.pods());
    let big = "{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, pods: 10}}}";
    cluster.schedule(TimedInput::apply(60 * SECOND, api_object(big)));
    assert_eq!((cluster.run(), cluster.node_of("large")), (SimulationEnd::Idle, Some("n2")));
    assert_eq!(cluster.now(), 60 * SECOND);
}

#[test]
fn a_gated_pod_is_tried_after_its_gate_is_removed() {
    let mut cluster = cluster(&(node("n1", 2) + &pod("gated", 1, "schedulingGates: [{name: example.com/gate}]")));
    cluster.run();
    expect![[r#"
        default/gated: held by SchedulingGates: waiting for scheduling gates: [example.com/gate]
    "#]]
    .assert_eq(&cluster.pods());
    cluster.patch("Pod", "gated", json!({"spec": {"schedulingGates": null}}));
    cluster.run();
    assert_eq!(cluster.pods(), "default/gated on n1\n");
}

#[test]
fn freed_resources_are_used() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("first", 1, "") + &pod("second", 1, "")));
    cluster.schedule(TimedInput::delete(10 * SECOND, Key::pod("default", "first")));
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(cluster.pods(), "default/second on n1\n");
}

#[test]
fn finished_pods_use_no_resources() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("first", 1, "") + &pod("second", 1, "")));
    cluster.run();
    cluster.patch("Pod", "first", json!({"status": {"phase": "Succeeded"}}));
    cluster.run();
    assert_eq!(cluster.node_of("second"), Some("n1"));
}

#[test]
fn the_simulation_does_not_wait_for_the_flush_of_unschedulable_pods() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("large", 4, "")));
    assert_eq!((cluster.run(), cluster.now()), (SimulationEnd::Idle, 0));
    // If time passes anyway, the pod is retried every five minutes.
    let before = cluster.server.events().count();
    assert_eq!(cluster.run_for(Duration::from_secs(1000)), SimulationEnd::Idle);
    assert_eq!((cluster.now(), cluster.server.events().count() - before), (1000 * SECOND, 3));
}

/// Hooks that refuse the first bindings, lose the responses to the next ones, and delay all later ones.
#[derive(Default)]
struct FaultyCalls {
    refuse: u32,
    lose: u32,
    outcomes: Vec<String>,
}

impl SimulationHooks for FaultyCalls {
    fn on_call(&mut self, _: i64, request: &Request) -> CallTreatment {
        if !matches!(request, Request::Bind { .. }) {
            return CallTreatment::Immediate;
        }
        if self.refuse > 0 {
            self.refuse -= 1;
            return CallTreatment::Refuse(ApiError::new(ApiReason::Other, "the server is overloaded"));
        }
        if self.lose > 0 {
            self.lose -= 1;
            return CallTreatment::LoseResponse;
        }
        CallTreatment::After(Duration::from_millis(250))
    }

    fn on_outcome(&mut self, now: i64, outcome: &Outcome, _: &Base) {
        let what = match &outcome.result {
            Ok(placed) => format!("on {}", placed.node),
            Err(failure) => format!("{}: {}", failure.reason(), failure.message()),
        };
        self.outcomes.push(format!("{:.2} s: {} {what}\n", now as f64 / SECOND as f64, outcome.pod.name));
    }
}

fn with_faults(refuse: u32, lose: u32) -> (SimulationEnd, String, Option<String>) {
    let hooks = FaultyCalls { refuse, lose, ..FaultyCalls::default() };
    let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), Options::default(), hooks).unwrap();
    cluster.apply(&(node("n1", 1) + &pod("web", 1, "")));
    let end = cluster.run();
    (end, cluster.hooks.outcomes.concat(), cluster.node_of("web").map(str::to_owned))
}

#[test]
fn a_refused_binding_is_retried_after_backoff() {
    let (end, outcomes, node) = with_faults(2, 0);
    expect![[r#"
        0.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server is overloaded
        2.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server is overloaded
        5.25 s: web on n1
    "#]]
    .assert_eq(&outcomes);
    assert_eq!((end, node.as_deref()), (SimulationEnd::Idle, Some("n1")));
}

#[test]
fn a_binding_with_a_lost_response_is_done() {
    let (end, outcomes, node) = with_faults(0, 1);
    expect![[r#"
        0.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server did not answer in time; the request may have been processed
    "#]].assert_eq(&outcomes);
    assert_eq!((end, node.as_deref()), (SimulationEnd::Idle, Some("n1")));
}

#[test]
fn repeated_failures_end_the_simulation() {
    let (end, outcomes, node) = with_faults(u32::MAX, 0);
    assert_eq!((end, outcomes.lines().count(), node), (SimulationEnd::NoProgress, 8, None));
}

/// The history of a simulation, as text.
#[derive(Default)]
struct History(Vec<String>);

impl SimulationHooks for History {
    fn on_response(&mut self, now: i64, request: &Request, response: &Response) {
        self.0.push(format!("{now}: {request:?} {response:?}"));
    }
    fn on_change(&mut self, now: i64, change: &Change) {
        self.0.push(format!("{now}: {change:?}"));
    }
    fn on_outcome(&mut self, now: i64, outcome: &Outcome, _: &Base) {
        self.0.push(format!("{now}: {outcome:?}"));
    }
}

#[test]
fn equal_inputs_give_equal_histories() {
    let history = |seed| {
        let scheduler = scheduler::Options { seed, ..Default::default() };
        let options = Options { scheduler, ..Options::default() };
        let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), options, History::default()).unwrap();
        cluster.apply(&(1..=4).map(|n| node(&format!("n{n}"), 2)).collect::<String>());
        cluster.apply(&(0..10).map(|n| pod(&format!("p{n}"), 1, "")).collect::<String>());
        cluster.run();
        cluster.apply(&pod("urgent", 2, "priority: 10"));
        cluster.run();
        cluster.hooks.0
    };
    assert_eq!(history(1), history(1));
    assert_ne!(history(1), history(2));
}
