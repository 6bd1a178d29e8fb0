//! Extenders: their calls after Filter and Score, their bindings in place of Bind plugins, and the events that requeue
//! the pods that they reject.

mod bare;

use std::sync::Arc;
use std::time::Duration;

use schedc_core::cache::Base;
use schedc_core::extenders::{ExtenderCall, ExtenderRejection, Extenders, Overrides, Verb};
use schedc_core::extension_points::Placement;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use schedc_core::profile::ProfileInfo;
use schedc_core::queue::QueuePlace;
use schedc_core::status::Code;

use crate::framework::plugins::stage::{Answer, answer, note, notes, set_answer};
use crate::framework::test_cluster::{TestCluster, uid};
use bare::{Only, Repeated};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/alone.toml");
}

/// Extenders that return the answers that a test sets: for `filter`, `filter NODE`, `prioritize NODE` and `bind POD`.
/// Repeated set-ups alternate between the answers for `set up` and for `next set up`. [`Extenders::take_calls`] always
/// returns one call.
pub struct Referee;

impl Extenders for Referee {
    fn set_up(&self, _: &Overrides, _: &[ProfileInfo]) -> Result<(), String> {
        let (now, next) = (answer("set up", ""), answer("next set up", ""));
        set_answer("set up", next);
        set_answer("next set up", now);
        now.status().map_err(|status| status.message())
    }

    fn filter(&self, pod: &Arc<Pod>, base: &Base, feasible: &mut NodeMask) -> Result<Vec<ExtenderRejection>, String> {
        note(format!("filter {} nodes", feasible.count()));
        if let Answer::Fail(failure) = answer("filter", &pod.name) {
            return Err(failure.into());
        }
        let nodes: Vec<NodeIndex> = feasible.iter().collect();
        let rejected = nodes.into_iter().filter_map(|node| {
            let (code, reason) = match answer(&format!("filter {}", base.name(node)), "") {
                Answer::Reject(reason) => (Code::Unschedulable, reason),
                Answer::RejectUnresolvable(reason) => (Code::UnschedulableAndUnresolvable, reason),
                _ => return None,
            };
            feasible.remove(node);
            Some(ExtenderRejection { node, code, reason: reason.into() })
        });
        Ok(rejected.collect())
    }

    fn prioritize(&self, _: &Arc<Pod>, base: &Base, feasible: &NodeMask, totals: &mut [i64]) {
        note(format!("prioritize {} nodes", feasible.count()));
        for node in feasible.iter() {
            if let Answer::Number(score) = answer(&format!("prioritize {}", base.name(node)), "") {
                totals[node.get()] += score;
            }
        }
    }

    fn binders(&self, pod: &Pod, _: &Base) -> Vec<usize> {
        match answer("bind", &pod.name) {
            Answer::Nothing => Vec::new(),
            _ => vec![0],
        }
    }

    fn bind(&self, placement: &Placement, _: &[usize]) -> Result<bool, String> {
        note(format!("bind {}", placement.pod.name));
        match answer("bind", &placement.pod.name) {
            Answer::Fail(failure) => Err(failure.into()),
            Answer::Skip => Ok(false),
            _ => Ok(true),
        }
    }

    fn unreservers(&self, _: &Pod, _: &Base) -> Vec<usize> {
        vec![0]
    }

    fn unreserve(&self, placement: &Placement, _: &[usize]) {
        note(format!("unreserve {} on {}", placement.pod.name, placement.node_name));
    }

    fn take_calls(&self) -> Vec<ExtenderCall> {
        vec![ExtenderCall { extender: "referee".into(), verb: Verb::Filter, succeeded: true, duration: Duration::ZERO }]
    }
}

/// Makes a cluster with three nodes and the pending pod `web`, and sets the extender's answers.
fn cluster(answers: &[(&str, Answer)]) -> TestCluster<Only> {
    let mut test_cluster = TestCluster::new();
    for node in ["a", "b", "c"] {
        test_cluster.node(node, "");
    }
    answers.iter().for_each(|(call, answer)| set_answer(call, *answer));
    test_cluster.pending("web", "");
    test_cluster
}

#[test]
fn extenders_are_called_in_order_and_their_scores_decide() {
    let answers = [
        ("filter a", Answer::Reject("no GPU")),
        ("prioritize b", Answer::Number(10)),
        ("prioritize c", Answer::Number(20)),
    ];
    assert_eq!(cluster(&answers).run(), ["web on c"]);
    assert_eq!(notes(), ["filter 3 nodes", "prioritize 2 nodes"]);
}

#[test]
fn a_pod_rejected_by_extenders_has_their_reasons_and_any_event_requeues_it() {
    let mut test_cluster = cluster(&[
        ("filter a", Answer::Reject("no GPU")),
        ("filter b", Answer::RejectUnresolvable("no GPU at all")),
        ("filter c", Answer::Reject("no GPU")),
    ]);
    assert_eq!(test_cluster.run(), ["web waits: 0/3 nodes are available: 1 no GPU at all, 2 no GPU."]);
    assert_eq!(test_cluster.cluster.scheduler.place(&uid("web")), Some(QueuePlace::Unschedulable));
    test_cluster.node("d", "");
    assert_eq!(test_cluster.cluster.scheduler.place(&uid("web")), Some(QueuePlace::Backoff));
}

#[test]
fn a_failed_extender_call_fails_the_attempt() {
    let mut test_cluster = cluster(&[("filter", Answer::Fail("the webhook is away"))]);
    assert_eq!(test_cluster.run(), ["web failed: the webhook is away"]);
    assert_eq!(test_cluster.cluster.scheduler.place(&uid("web")), Some(QueuePlace::ErrorBackoff));
}

#[test]
fn equal_set_up_errors_of_several_profiles_are_reported_once() {
    let answers = [("set up", Answer::Fail("wrong URL")), ("next set up", Answer::Fail("wrong CA"))];
    let errors = TestCluster::<Repeated>::with_answers(&answers).err().expect("errors of the extenders");
    let reasons: Vec<&str> = errors.iter().map(|error| &*error.reason).collect();
    assert_eq!(reasons, ["wrong URL", "wrong CA"]);
}

#[test]
fn recorded_calls_are_taken_from_the_extenders_of_profiles_that_are_known_only_at_run_time() {
    let mut test_cluster = TestCluster::<Repeated>::new();
    assert_eq!(test_cluster.cluster.scheduler.take_extender_calls().len(), 3);
}

#[test]
fn a_nominated_node_must_pass_extenders() {
    for (answer, node) in [(Answer::Nothing, "b"), (Answer::Reject("taken"), "a")] {
        let mut test_cluster = cluster(&[("filter b", answer), ("prioritize a", Answer::Number(1))]);
        test_cluster.delete("web");
        let pod = test_cluster.pod_from("metadata: { name: next, uid: next }\nstatus: { nominatedNodeName: b }");
        test_cluster.enqueue(0, pod);
        assert_eq!(test_cluster.run(), [format!("next on {node}")]);
    }
}

#[test]
fn extenders_may_bind_instead_of_plugins() {
    let mut test_cluster = cluster(&[("bind", Answer::Done)]);
    assert_eq!(test_cluster.run_refused().len(), 1, "the cluster receives no binding");
    assert!(notes().contains(&"bind web".to_owned()));
    assert_eq!(cluster(&[("bind", Answer::Fail("not me"))]).run(), ["web failed: not me"]);
}

#[test]
fn plugins_bind_if_no_extender_does_and_extenders_are_notified_of_unreserve() {
    let mut test_cluster = cluster(&[("bind", Answer::Skip), ("prioritize b", Answer::Number(1))]);
    assert_eq!(test_cluster.run(), ["web on b"]);
    assert_eq!(notes(), ["filter 3 nodes", "prioritize 3 nodes", "bind web"]);
    let mut test_cluster = cluster(&[("bind", Answer::Fail("not me")), ("prioritize b", Answer::Number(1))]);
    assert_eq!(test_cluster.run(), ["web failed: not me"]);
    assert_eq!(notes(), ["filter 3 nodes", "prioritize 3 nodes", "bind web", "unreserve web on b"]);
}

#[test]
fn a_message_has_reasons_of_extenders_and_plugins() {
    let plugin = ("plugin filter 0", Answer::Reject("is full"));
    let mut test_cluster =
        cluster(&[plugin, ("filter b", Answer::Reject("no GPU")), ("filter c", Answer::Reject("no GPU"))]);
    assert_eq!(test_cluster.run(), ["web waits: 0/3 nodes are available: 1 is full, 2 no GPU."]);
    assert_eq!(notes(), ["filter 2 nodes"], "extenders receive the nodes that plugins left");
    // Without remaining nodes, extenders are not called.
    let full = ["plugin filter 0", "plugin filter 1", "plugin filter 2"].map(|call| (call, Answer::Reject("is full")));
    assert_eq!(cluster(&full).run(), ["web waits: 0/3 nodes are available: 3 is full."]);
    assert_eq!(notes(), [""; 0]);
}

#[test]
fn extenders_are_notified_if_reserve_or_permit_fails() {
    for call in ["plugin reserve", "plugin permit"] {
        for answer in [Answer::Reject("not now"), Answer::Fail("broken")] {
            let mut test_cluster = cluster(&[(call, answer), ("prioritize b", Answer::Number(1))]);
            assert_eq!(test_cluster.run().len(), 1);
            assert_eq!(notes(), ["filter 3 nodes", "prioritize 3 nodes", "unreserve web on b"], "{call} {answer:?}");
        }
    }
}

#[test]
fn explain_has_extender_results_of_one_call() {
    let mut test_cluster = cluster(&[
        ("filter a", Answer::RejectUnresolvable("no GPU")),
        ("prioritize b", Answer::Number(10)),
        ("prioritize c", Answer::Number(20)),
    ]);
    let explanation = test_cluster.explain("other", "", false);
    assert_eq!(notes(), ["filter 3 nodes", "prioritize 2 nodes"]);
    let [a, b, c] = &explanation.nodes[..] else { panic!("three nodes") };
    let rejection = (a.verdicts[0].plugin, a.verdicts[0].code, &*a.verdicts[0].reasons);
    assert_eq!(rejection, ("Extender", Code::UnschedulableAndUnresolvable, &["no GPU".into()][..]));
    assert_eq!((b.total(), c.total(), c.scores[0].plugin), (10, 20, "Extender"));
    assert_eq!((&explanation.best[..], explanation.by_nomination), (&["c".to_owned()][..], false));

    let mut test_cluster =
        cluster(&[("plugin filter 0", Answer::Reject("is full")), ("filter b", Answer::Reject("no GPU"))]);
    let explanation = test_cluster.explain("other", "", true);
    let plugins: Vec<Vec<&str>> =
        explanation.nodes.iter().map(|node| node.verdicts.iter().map(|verdict| verdict.plugin).collect()).collect();
    assert_eq!(plugins, [vec!["Plugin"], vec!["Extender"], vec![]]);
    assert_eq!(notes(), ["filter 2 nodes"], "the only node that is left needs no score");
}

#[test]
fn a_nominated_node_is_explained() {
    let mut test_cluster = cluster(&[]);
    let pod = test_cluster.pod_from("metadata: { name: next, uid: next }\nstatus: { nominatedNodeName: b }");
    let explanation = test_cluster.cluster.scheduler.explain(0, &pod, false);
    assert_eq!(notes(), ["filter 1 nodes"]);
    assert!(explanation.by_nomination);
}
