//! Contract of cached answers: an updated answer equals a full evaluation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::diagnosis::Diagnosis;
use schedc_core::engine::{CachedAnswerSummary, Decision, Engine, UNTIMED};
use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::extension_points::{MAX_NODE_SCORE, PostFilterResult};
use schedc_core::model::{Pod, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin_names::PluginNames;
use schedc_core::profile::{Bundle, PluginScore, Profile, Visitor};
use schedc_core::verdict::Verdict;

use super::difference::{self, Difference};
use super::{bundle, new_engine};
use crate::history::Step;
use crate::test_cluster::TestCluster;
use crate::test_object::TestObject;

pub(super) fn play<B: Bundle>(
    test_cluster: &mut TestCluster<B>,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    let mut caching = bundle::<B>()?;
    let mut earlier = BTreeMap::new();
    for step in steps {
        test_cluster.apply_step(*step, objects);
        // An answer is cached from the second evaluation of a signature on.
        for pod in test_cluster.pending().iter().cycle().take(2 * test_cluster.pending().len()) {
            let compare = Compare { cache: &mut test_cluster.cluster.scheduler.cache, pod, earlier: &mut earlier };
            caching.with(test_cluster.profile, compare)?;
        }
        test_cluster.run();
    }
    Ok(())
}

struct Compare<'a, S> {
    cache: &'a mut Cache<S>,
    pod: &'a Arc<Pod>,
    /// By pod, the full evaluation with which its cached answer was compared last.
    earlier: &'a mut BTreeMap<Uid, Explanation>,
}

impl<S: State> Visitor<S> for Compare<'_, S> {
    type Output = Result<(), String>;

    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        let Compare { cache, pod, earlier } = self;
        engine.percentage_of_nodes_to_score = 100;
        // State that plugins keep between pods is not compared: both sides have new plugins.
        engine.plugins = new_engine::<P>()?.plugins;
        // The cached answer is computed first, before other evaluations change the indexes of the cluster.
        let by_cached = engine.decide(pod, cache, UNTIMED, |_| 0);
        let answer = engine.cached_answer(pod, cache);
        let full = new_engine::<P>()?.explain(pod, cache, true);
        let mut difference = Difference::of(pod.namespaced_name().to_string(), ["full evaluation", "cached answer"]);
        if let Some(answer) = answer {
            compare_answer(&answer, &full, earlier.get(&pod.uid), cache, &mut difference);
        }
        let by_full = new_engine::<P>()?.decide(pod, cache, UNTIMED, |_| 0);
        if difference.is_empty() {
            compare_decisions(&by_full, &by_cached, cache, &mut difference);
        }
        earlier.insert(pod.uid.clone(), full);
        difference.finish()
    }
}

/// Compares feasible nodes and totals. If a part of the answer is outdated, it equals the same part of the earlier
/// evaluation. This identifies the plugin that did not update the part.
fn compare_answer<S: State>(
    answer: &CachedAnswerSummary,
    full: &Explanation,
    earlier: Option<&Explanation>,
    cache: &Cache<S>,
    difference: &mut Difference,
) {
    let before = |node: &str| earlier.and_then(|earlier| earlier.nodes.iter().find(|other| other.node == node));
    let feasible: BTreeSet<&str> = answer.feasible.iter().map(|node| cache.base.name(node)).collect();
    for node in &full.nodes {
        let name = format!("Filter on {}", node.node);
        match (node.is_feasible(), feasible.contains(node.node.as_str())) {
            (false, true) => {
                difference.name_plugins(node.verdicts.iter().map(|verdict| verdict.plugin));
                difference.field(&name, rejections(node), "passes".to_owned());
            }
            (true, false) => {
                let actual = match before(&node.node).filter(|before| !before.is_feasible()) {
                    None => "rejects".to_owned(),
                    Some(before) => {
                        difference.name_plugins(before.verdicts.iter().map(|verdict| verdict.plugin));
                        format!("rejects, like the earlier evaluation: {}", rejections(before))
                    }
                };
                difference.field(&name, "passes".to_owned(), actual);
            }
            _ => {}
        }
    }
    // A single feasible node is not scored.
    if !difference.is_empty() || answer.totals.len() < 2 {
        return;
    }
    for &(node, total) in &answer.totals {
        let name = cache.base.name(node);
        let Some(node) = full.nodes.iter().find(|node| node.node == name) else { continue };
        if total == Some(node.total()) {
            continue;
        }
        let changed = before(name).into_iter().flat_map(|before| &before.scores);
        let changed = changed.filter(|before| !node.scores.contains(before)).map(|before| before.plugin);
        let mut plugins: Vec<&'static str> = changed.collect();
        if plugins.is_empty() {
            plugins.extend(total.into_iter().flat_map(|total| plugins_that_explain(node, total)));
        }
        difference.name_plugins(plugins);
        let parts: Vec<String> =
            node.scores.iter().map(|score| format!("{} {}", score.plugin, score.weighted())).collect();
        let expected = format!("{} = {}", node.total(), parts.join(" + "));
        let actual = total.map_or_else(|| "none".to_owned(), |total| total.to_string());
        difference.field(&format!("total score of {name}"), expected, actual);
    }
}

/// Returns each plugin that alone can explain `total`: the node has this total if only the score of this plugin is
/// different.
fn plugins_that_explain(node: &NodeExplanation, total: i64) -> impl Iterator<Item = &'static str> {
    let off_by = total.wrapping_sub(node.total());
    let can_be = move |score: &&PluginScore| {
        let part = score.weighted().wrapping_add(off_by);
        part.checked_rem(score.weight) == Some(0) && (0..=MAX_NODE_SCORE).contains(&(part / score.weight))
    };
    node.scores.iter().filter(can_be).map(|score| score.plugin)
}

fn rejections(node: &NodeExplanation) -> String {
    let by_plugin = |verdict: &Verdict| format!("{} {}", verdict.plugin, difference::verdict(Some(verdict)));
    node.verdicts.iter().map(by_plugin).collect::<Vec<_>>().join("; ")
}

fn compare_decisions<S: State>(expected: &Decision, actual: &Decision, cache: &Cache<S>, difference: &mut Difference) {
    let in_words = |decision: &Decision| match decision {
        Decision::Node(node) => format!("on {}", cache.base.name(*node)),
        Decision::Unschedulable(unschedulable) => unschedulable.message.clone(),
        Decision::Error(error) => error.clone(),
    };
    difference.field("decision", in_words(expected), in_words(actual));
    let (Decision::Unschedulable(expected), Decision::Unschedulable(actual)) = (expected, actual) else { return };
    let (a, b) = (&expected.diagnosis, &actual.diagnosis);
    let [of_a, of_b] = [a, b].map(|of| of.unschedulable_plugins.iter().copied().collect::<BTreeSet<_>>());
    difference.name_plugins(of_a.symmetric_difference(&of_b).copied());
    let names = |names: &PluginNames| names.join(", ");
    difference.field("plugins that rejected the pod", names(&a.unschedulable_plugins), names(&b.unschedulable_plugins));
    difference.field("plugins that returned Pending", names(&a.pending_plugins), names(&b.pending_plugins));
    let nodes = |mask: &NodeMask| mask.iter().map(|node| cache.base.name(node)).collect::<Vec<_>>().join(", ");
    difference.field("nodes where preemption may help", nodes(&a.resolvable), nodes(&b.resolvable));
    if expected.post_filter != actual.post_filter {
        let plugins = [&expected.post_filter, &actual.post_filter]
            .into_iter()
            .flatten()
            .map(|post_filter| post_filter.status.plugin);
        difference.name_plugins(plugins.filter(|plugin| !plugin.is_empty()));
        let post_filter = |post_filter: &Option<PostFilterResult>| match post_filter {
            None => "not called".to_owned(),
            Some(post_filter) => {
                let victims: Vec<&str> = post_filter.victims.iter().map(|uid| &*uid.0).collect();
                let status = difference::status(Some(&post_filter.status));
                format!("{status}; nomination {:?}; victims {}", post_filter.nomination, victims.join(", "))
            }
        };
        difference.field("PostFilter", post_filter(&expected.post_filter), post_filter(&actual.post_filter));
    }
    difference.field("number of nodes", a.nodes.to_string(), b.nodes.to_string());
    difference.field("PreFilter", difference::status(a.pre_filter.as_ref()), difference::status(b.pre_filter.as_ref()));
    let reasons = |diagnosis: &Diagnosis| {
        diagnosis.reasons.iter().map(|(reason, nodes)| format!("{nodes} {reason}")).collect::<Vec<_>>().join(", ")
    };
    difference.field("reasons", reasons(a), reasons(b));
    difference.field("message of PostFilter", a.post_filter.join(", "), b.post_filter.join(", "));
}
