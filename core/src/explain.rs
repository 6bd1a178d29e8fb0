//! One pod's cycle told node by node: who rejected it and why, or what every score plugin said.

use std::sync::Arc;

use crate::cache::Cache;
use crate::engine::{Attempt, Decision, Engine, Verdict, left_out};
use crate::mask::Mask;
use crate::model::Pod;
use crate::profile::{PluginScore, PreFilterRun, Profile};
use crate::status::{Code, Status};

/// What a cycle finds for a pod, without changing anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// PreEnqueue holds the pod; nothing else was asked.
    pub held: Option<Status>,
    /// PreFilter's rejection of the pod as a whole.
    pub pre_filter: Option<Status>,
    /// Plugins whose PreFilter found nothing to filter by.
    pub skipped: Vec<&'static str>,
    /// Every node, by name.
    pub nodes: Vec<NodeExplanation>,
    /// What comes of it, equally good nodes by index.
    pub decision: Decision,
    /// Names of the feasible nodes with the highest total.
    pub best: Vec<String>,
    /// The pod's own nominated node passed, so it was taken without a look at scores.
    pub by_nomination: bool,
}

/// What a cycle finds for a pod on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeExplanation {
    /// The node.
    pub node: String,
    /// Who rejects it; empty if it is feasible.
    pub verdicts: Vec<Verdict>,
    /// The scores, in the profile's order, without plugins that skip. Empty if the node is not feasible, or if scoring
    /// failed.
    pub scores: Vec<PluginScore>,
}

impl NodeExplanation {
    /// Whether every filter passes.
    pub fn is_feasible(&self) -> bool {
        self.verdicts.is_empty()
    }
    /// Sum of the weighted scores.
    pub fn total(&self) -> i64 {
        self.scores.iter().fold(0, |sum, score| sum.wrapping_add(score.weighted()))
    }
}

impl<P: Profile> Engine<P> {
    /// Explains. `all_filters`: every plugin that would reject a node, not the first alone.
    pub fn explain(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, all_filters: bool) -> Explanation {
        let mut explanation = Explanation {
            held: self.plugins.pre_enqueue(pod, &cache.base.interner).err(),
            pre_filter: None,
            skipped: Vec::new(),
            nodes: Vec::new(),
            decision: Decision::Error(String::new()),
            best: Vec::new(),
            by_nomination: false,
        };
        if explanation.held.is_some() {
            return explanation;
        }
        let start = self.next_start;
        explanation.decision = self.decide(pod, cache, |_| 0);
        self.next_start = start;
        let compiled = Self::compile(pod, cache);
        let cache = &*cache;
        let mut pre_filter = PreFilterRun::default();
        let cycle = match self.plugins.pre_filter(&compiled, cache, &mut pre_filter) {
            Ok(cycle) => cycle,
            Err(status) => {
                explanation.pre_filter = Some(status);
                return explanation;
            }
        };
        explanation.skipped = pre_filter.skipped().to_vec();
        if let Some(status) = pre_filter.rejected() {
            explanation.pre_filter = Some(status.clone());
            return explanation;
        }
        let mut attempt = Attempt { compiled, cycle, pre_filter };
        let feasible = self.explain_filters(pod, &mut attempt, cache, all_filters, &mut explanation);
        explanation.by_nomination = Self::nominated_node(pod, &mut attempt, cache).is_some();
        self.answer.feasible.copy_from(&feasible);
        let scores = self.answer.breakdown(&*self.plugins, &attempt.compiled, &attempt.cycle, cache);
        if let Ok(scores) = scores {
            for (index, scores) in scores {
                let name = cache.base.name(index);
                if let Ok(at) = explanation.nodes.binary_search_by(|n| n.node.as_str().cmp(name)) {
                    explanation.nodes[at].scores = scores;
                }
            }
            let feasible = || explanation.nodes.iter().filter(|n| n.is_feasible());
            let highest = feasible().map(NodeExplanation::total).max();
            explanation.best = feasible().filter(|n| Some(n.total()) == highest).map(|n| n.node.clone()).collect();
        }
        explanation
    }

    fn explain_filters(
        &self,
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        all_filters: bool,
        explanation: &mut Explanation,
    ) -> Mask {
        let mut feasible = Mask::default();
        feasible.resize(cache.base.infos().len());
        let narrowed_by = attempt.pre_filter.narrowed_by();
        let narrowed = attempt.pre_filter.nodes().cloned();
        for index in cache.base.alive().iter() {
            let verdicts = if narrowed.as_ref().is_some_and(|nodes| !nodes.contains(index)) {
                let code = Code::UnschedulableAndUnresolvable;
                vec![Verdict { code, plugin: "", reasons: vec![left_out(&narrowed_by)] }]
            } else {
                Self::verdicts(pod, attempt, cache, index, all_filters)
            };
            if verdicts.is_empty() {
                feasible.insert(index);
            }
            explanation.nodes.push(NodeExplanation {
                node: cache.base.name(index).to_string(),
                verdicts,
                scores: Vec::new(),
            });
        }
        explanation.nodes.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        feasible
    }
}
