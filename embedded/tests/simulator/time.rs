//! What happens, and when.

use expect_test::expect;
use schedc_core::cache::Base;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_core::scheduler::Outcome;
use schedc_embedded::server::{Change, Key, Request, Response};
use schedc_embedded::{Hooks, TimedInput, Treatment};
use schedc_objects::testing::api_object;
use serde_json::json;

use super::*;

#[test]
fn a_pod_that_fits_later_is_placed_then() {
    let mut cluster = cluster(&(node("n1", 2) + &pod("small", 1, "") + &pod("large", 4, "")));
    assert_eq!((cluster.run(), cluster.now()), (End::Idle, 0));
    expect![[r#"
        default/large: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
        default/small on n1
    "#]].assert_eq(&cluster.pods());
    let big = "{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, pods: 10}}}";
    cluster.schedule(TimedInput::apply(60 * SECOND, api_object(big)));
    assert_eq!((cluster.run(), cluster.node_of("large")), (End::Idle, Some("n2")));
    assert_eq!(cluster.now(), 60 * SECOND);
}

#[test]
fn a_gated_pod_is_tried_when_its_gate_is_gone() {
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
fn room_that_becomes_free_is_taken() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("first", 1, "") + &pod("second", 1, "")));
    cluster.schedule(TimedInput::delete(10 * SECOND, Key::pod("default", "first")));
    assert_eq!(cluster.run(), End::Idle);
    assert_eq!(cluster.pods(), "default/second on n1\n");
}

#[test]
fn a_pod_that_has_run_to_its_end_takes_no_room() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("first", 1, "") + &pod("second", 1, "")));
    cluster.run();
    cluster.patch("Pod", "first", json!({"status": {"phase": "Succeeded"}}));
    cluster.run();
    assert_eq!(cluster.node_of("second"), Some("n1"));
}

#[test]
fn nobody_waits_for_leftovers() {
    let mut cluster = cluster(&(node("n1", 1) + &pod("large", 4, "")));
    assert_eq!((cluster.run(), cluster.now()), (End::Idle, 0));
    // Unless time passes anyway: then the pod is tried every five minutes.
    let before = cluster.server.events().count();
    assert_eq!(cluster.run_for(Duration::from_secs(1000)), End::Idle);
    assert_eq!((cluster.now(), cluster.server.events().count() - before), (1000 * SECOND, 3));
}

/// The server refuses or loses the first bindings, and answers late otherwise.
#[derive(Default)]
struct Troubles {
    refuse: u32,
    lose: u32,
    outcomes: Vec<String>,
}

impl Hooks for Troubles {
    fn treat(&mut self, _: i64, request: &Request) -> Treatment {
        if !matches!(request, Request::Bind { .. }) {
            return Treatment::AtOnce;
        }
        if self.refuse > 0 {
            self.refuse -= 1;
            return Treatment::Refuse(ApiError::new(ApiReason::Other, "the server is tired"));
        }
        if self.lose > 0 {
            self.lose -= 1;
            return Treatment::LoseAnswer;
        }
        Treatment::After(Duration::from_millis(250))
    }

    fn outcome(&mut self, now: i64, outcome: &Outcome, _: &Base) {
        let what = match &outcome.result {
            Ok(placed) => format!("on {}", placed.node),
            Err(failure) => format!("{}: {}", failure.reason(), failure.message()),
        };
        self.outcomes.push(format!("{:.2} s: {} {what}\n", now as f64 / SECOND as f64, outcome.pod.name));
    }
}

fn troubled(refuse: u32, lose: u32) -> (End, String, Option<String>) {
    let hooks = Troubles { refuse, lose, ..Troubles::default() };
    let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), Options::default(), hooks).unwrap();
    cluster.apply(&(node("n1", 1) + &pod("web", 1, "")));
    let end = cluster.run();
    (end, cluster.hooks.outcomes.concat(), cluster.node_of("web").map(str::to_owned))
}

#[test]
fn a_binding_that_is_refused_is_tried_again_after_backoff() {
    let (end, outcomes, node) = troubled(2, 0);
    expect![[r#"
        0.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server is tired
        2.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server is tired
        5.25 s: web on n1
    "#]]
    .assert_eq(&outcomes);
    assert_eq!((end, node.as_deref()), (End::Idle, Some("n1")));
}

#[test]
fn a_binding_whose_answer_is_lost_has_happened() {
    let (end, outcomes, node) = troubled(0, 1);
    expect![[r#"
        0.00 s: web SchedulerError: running Bind plugin "DefaultBinder": the server did not answer in time; the request may have been done
    "#]].assert_eq(&outcomes);
    assert_eq!((end, node.as_deref()), (End::Idle, Some("n1")));
}

#[test]
fn what_fails_again_and_again_does_not_go_on_forever() {
    let (end, outcomes, node) = troubled(u32::MAX, 0);
    assert_eq!((end, outcomes.lines().count(), node), (End::InVain, 8, None));
}

/// Everything that happens, as text.
#[derive(Default)]
struct Diary(Vec<String>);

impl Hooks for Diary {
    fn answered(&mut self, now: i64, request: &Request, response: &Response) {
        self.0.push(format!("{now}: {request:?} {response:?}"));
    }
    fn changed(&mut self, now: i64, change: &Change) {
        self.0.push(format!("{now}: {change:?}"));
    }
    fn outcome(&mut self, now: i64, outcome: &Outcome, _: &Base) {
        self.0.push(format!("{now}: {outcome:?}"));
    }
}

#[test]
fn the_same_inputs_give_the_same_history() {
    let history = |seed| {
        let scheduler = scheduler::Options { seed, ..Default::default() };
        let options = Options { scheduler, ..Options::default() };
        let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), options, Diary::default()).unwrap();
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
