//! Comparison of four answers: incremental evaluation, full evaluation, full evaluation of a rebuilt cluster,
//! and the reference implementation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::{Decision, Engine, UNTIMED};
use schedc_core::explain::Explanation;
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::profile::{Profile, Visitor};
use schedc_reference::ReferenceEvaluation;

use crate::incremental::test_cluster::TestCluster;

/// Evaluates a pod in all four ways. Returns the differences, and whether the answer was cached.
pub(crate) struct Compare<'a, S> {
    pub(crate) cluster: &'a mut TestCluster<S>,
    pub(crate) rules: &'a ReferenceEvaluation,
    pub(crate) pod: &'a Arc<Pod>,
    /// The random value.
    pub(crate) draw: usize,
}

/// The results of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) differences: Vec<String>,
    pub(crate) is_cached: bool,
}

impl<S: State> Visitor<S> for Compare<'_, S> {
    type Output = Comparison;

    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Comparison {
        let Compare { cluster, rules, pod, draw } = self;
        let mut found = Comparison::default();
        let new_engine = || {
            let mut engine = Engine::<P>::new(&Handle::default()).unwrap();
            engine.cache_answers = false;
            engine.percentage_of_nodes_to_score = 100;
            engine
        };
        engine.percentage_of_nodes_to_score = 100;
        // The cached answer comes first, before another evaluation registers something with the indexes.
        let decision = engine.decide(pod, &mut cluster.cache, UNTIMED, |n| draw % n);
        if let Some(answer) = engine.cached_answer(pod, &mut cluster.cache) {
            found.is_cached = true;
            let name = |node| cluster.cache.base.name(node).to_owned();
            let feasible: BTreeSet<String> = answer.feasible.iter().map(name).collect();
            let expected: BTreeSet<String> = rules.feasible().map(str::to_owned).collect();
            compare_values(&mut found.differences, "cached: feasible", &expected, &feasible);
            if feasible.len() > 1 {
                let totals: BTreeMap<String, Option<i64>> =
                    answer.totals.iter().map(|&(node, total)| (name(node), total)).collect();
                let expected: BTreeMap<String, Option<i64>> =
                    rules.feasible().map(|node| (node.to_owned(), Some(rules.nodes[node].total()))).collect();
                compare_values(&mut found.differences, "cached: totals", &expected, &totals);
            }
        }
        if found.is_cached && !matches!(decision, Decision::Unschedulable(_)) {
            let nodes: Vec<NodeIndex> = cluster.cache.base.alive().iter().collect();
            let may_choose = |node: &NodeIndex| engine.may_choose(pod, &mut cluster.cache, *node) == Some(true);
            let nodes: Vec<NodeIndex> = nodes.into_iter().filter(may_choose).collect();
            let names: BTreeSet<&str> = nodes.into_iter().map(|node| cluster.cache.base.name(node)).collect();
            compare_values(&mut found.differences, "cached: choices", &rules.choices().into_iter().collect(), &names);
        }
        let full_decision = new_engine().decide(pod, &mut cluster.cache, UNTIMED, |n| draw % n);
        compare_values(&mut found.differences, "cached: decision", &full_decision, &decision);
        let explained = new_engine().explain(pod, &mut cluster.cache, false);
        compare(&mut found.differences, "full", rules, &explained, &cluster.cache);
        let mut rebuilt = cluster.rebuilt(draw % 2 == 0);
        let explained = new_engine().explain(pod, &mut rebuilt, false);
        compare(&mut found.differences, "rebuilt", rules, &explained, &rebuilt);
        // Pods that differ only in the node that they name share the states of PreFilter.
        let pinned = cluster.pinned(pod, draw);
        let decision = engine.decide(&pinned, &mut cluster.cache, UNTIMED, |n| draw % n);
        let full_decision = new_engine().decide(&pinned, &mut cluster.cache, UNTIMED, |n| draw % n);
        compare_values(&mut found.differences, "pinned: decision", &full_decision, &decision);
        found
    }
}

fn compare_values<T: PartialEq + Debug>(differences: &mut Vec<String>, place: &str, expected: &T, actual: &T) {
    if expected != actual {
        differences.push(format!("{place}: expected {expected:?}, got {actual:?}"));
    }
}

/// Compares verdicts, scores and messages, except those of preemption.
fn compare<S: State>(
    out: &mut Vec<String>,
    place: &str,
    rules: &ReferenceEvaluation,
    got: &Explanation,
    cache: &Cache<S>,
) {
    if got.gated_by.is_some() {
        // PreEnqueue rejects such a pod before a decision; the reference implementation has no PreEnqueue.
        return;
    }
    let in_rules =
        |rejection: &schedc_reference::PluginRejection| (rejection.plugin, rejection.code, rejection.reasons.clone());
    let sorted = |reasons: &mut dyn Iterator<Item = String>| {
        let mut reasons: Vec<String> = reasons.collect();
        reasons.sort();
        reasons
    };
    let pre_filter = got.pre_filter.as_ref().map(|rejection| {
        (rejection.plugin, rejection.code, sorted(&mut rejection.reasons.iter().map(ToString::to_string)))
    });
    compare_values(out, &format!("{place}: PreFilter"), &rules.pre_filter.as_ref().map(in_rules), &pre_filter);
    let names = |nodes: &mut dyn Iterator<Item = &String>| nodes.cloned().collect::<Vec<_>>();
    let got_names = names(&mut got.nodes.iter().map(|node| &node.node));
    compare_values(out, &format!("{place}: nodes"), &names(&mut rules.nodes.keys()), &got_names);
    for node in &got.nodes {
        let Some(expected) = rules.nodes.get(&node.node) else { continue };
        let verdict = node.verdicts.first().map(|rejection| {
            (rejection.plugin, rejection.code, sorted(&mut rejection.reasons.iter().map(ToString::to_string)))
        });
        compare_values(out, &format!("{place}: {}", node.node), &expected.rejection.as_ref().map(in_rules), &verdict);
        let expected: Vec<_> = expected.scores.iter().map(|s| (s.plugin, s.raw, s.normalized, s.weight)).collect();
        let scores: Vec<_> = node.scores.iter().map(|s| (s.plugin, s.raw, s.normalized, s.weight)).collect();
        compare_values(out, &format!("{place}: scores of {}", node.node), &expected, &scores);
    }
    compare_values(out, &format!("{place}: best"), &rules.best, &got.best.iter().cloned().collect());
    compare_values(out, &format!("{place}: by nomination"), &rules.by_nomination.is_some(), &got.by_nomination);
    match &got.decision {
        Decision::Node(node) => {
            let node = cache.base.name(*node);
            if !rules.choices().contains(node) {
                out.push(format!(
                    "{place}: {node} is chosen, but the reference implementation chooses one of {:?}",
                    rules.choices()
                ));
            }
        }
        Decision::Error(error) if !rules.failures.contains(error) => {
            out.push(format!("{place}: expected {:?}, got the error {error:?}", rules.failures));
        }
        Decision::Error(_) => {}
        Decision::Unschedulable(unschedulable) => {
            let expected = rules.message.as_deref().unwrap_or("(no message: the pod fits)");
            let rest = unschedulable.message.strip_prefix(expected);
            if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
                compare_values(out, &format!("{place}: message"), &expected, &unschedulable.message.as_str());
            }
        }
    }
}
