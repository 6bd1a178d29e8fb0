//! Hypothetical preemption, node by node.

use std::collections::BTreeSet;
use std::sync::Arc;

use schedc_core::diagnosis::ReasonCounts;
use schedc_core::extenders::Extenders;
use schedc_core::extension_points::{Candidate, PostFilterContext};
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::nodes_of;
use schedc_core::profile::Profile;
use schedc_core::status::{Code, ReasonList};
use schedc_core::verdict::Verdict;

use super::choice::{BestCandidates, VictimCost};
use super::trials::PreemptionTrials;
use super::victims::{VictimPositions, Victims, may_evict, select_victims};
use crate::indexes::DisruptionBudgets;

/// Nodes where preemption helps.
#[derive(Default)]
pub(super) struct Candidates {
    /// All candidates if the caller or an extender needs a list; else empty.
    pub(super) listed: Vec<Candidate>,
    pub(super) best: BestCandidates,
}

/// Hypothetical preemption on the resolvable nodes: those that the diagnosis marks as nodes where preemption may help
/// (`DryRunPreemption`).
pub(super) struct DryRun<'a, P: Profile> {
    cx: &'a PostFilterContext<'a, P>,
    budgets: &'a DisruptionBudgets,
    cycle: &'a P::Cycle,
    /// A copy of the cycle state for hypothetical changes. It is made only if a trial needs it: most pods share
    /// the trials of an equivalent pod.
    copied: Option<P::Cycle>,
}

impl<'a, P: Profile> DryRun<'a, P> {
    pub(super) fn new(cx: &'a PostFilterContext<'a, P>, cycle: &'a P::Cycle, budgets: &'a DisruptionBudgets) -> Self {
        DryRun { cx, budgets, cycle, copied: None }
    }

    /// Collects the candidates among the resolvable nodes, starting at `first`. Evaluates only nodes without a known
    /// outcome. Ends early when there are enough candidates and one of them violates no budget.
    pub(super) fn candidates(
        mut self,
        trials: &mut PreemptionTrials,
        first: NodeIndex,
        candidate_count: usize,
    ) -> Candidates {
        let resolvable = &self.cx.diagnosis.resolvable;
        trials.keep_only(resolvable);
        let lists = self.cx.lists_preemption_candidates || !P::Extenders::NONE;
        let mut found = Candidates { listed: Vec::new(), best: trials.take_best() };
        let (mut violating, mut nonviolating) = (0, 0);
        for (word, bits) in resolvable.words_from(first) {
            for node in nodes_of(word, bits & !trials.failed(word)) {
                if !trials.has_outcome(node) {
                    self.try_node(node, trials);
                }
                let Some(cost) = trials.cost(node) else { continue };
                let count_of_kind = if cost.violations == 0 { &mut nonviolating } else { &mut violating };
                if *count_of_kind < candidate_count {
                    *count_of_kind += 1;
                    found.best.add(node, cost);
                    if lists {
                        let victims = trials.victims(node, &self.cx.cache.base).cloned().collect();
                        let violations = cost.violations as usize;
                        found.listed.push(Candidate { node, victims, violations, best: false });
                    }
                }
                if nonviolating > 0 && nonviolating + violating >= candidate_count {
                    return found;
                }
            }
        }
        found
    }

    fn try_node(&mut self, node: NodeIndex, trials: &mut PreemptionTrials) {
        let cx = self.cx;
        let pods = &cx.cache.base.infos()[node.get()].pods;
        if !pods.iter().any(|pod| may_evict(pod, cx.pod)) {
            return trials.set(node, false, Err(no_lower_priority()));
        }
        let cycle = self.copied.get_or_insert_with(|| self.cycle.clone());
        let nominated = cx.cache.nominated_on(node, cx.pod);
        let mut hypothetical = HypotheticalNode::<P>::new(cx.compiled, cycle, cx.cache, node);
        let guarded =
            !self.budgets.is_empty() && pods.iter().any(|pod| !self.budgets.of(pod.spec.namespace).is_empty());
        let outcome = match select_victims(&mut hypothetical, pods, &nominated, cx, self.budgets) {
            Ok((victims, violations)) if !victims.is_empty() => {
                let cost = VictimCost::of(victims.iter().copied(), violations, cx.now);
                Ok(Victims { positions: positions(&victims, pods), cost })
            }
            Ok(_) => {
                let error = format!("expected at least one victim pod on node {:?}", cx.cache.base.name(node));
                Err(Verdict { code: Code::Error, plugin: "", reasons: ReasonList::from_iter([error.into()]) })
            }
            Err(verdict) => Err(verdict),
        };
        trials.set(node, guarded, outcome);
    }
}

/// Returns the rejection of a node on which no pod has a lower priority.
pub(super) fn no_lower_priority() -> Verdict {
    let reasons = ReasonList::from_iter(["No preemption victims found for incoming pod".into()]);
    Verdict { code: Code::UnschedulableAndUnresolvable, plugin: "", reasons }
}

/// Returns the positions of victims among the pods of their node.
fn positions(victims: &[&Arc<Pod>], pods: &[Arc<Pod>]) -> VictimPositions {
    let position = |victim: &&Arc<Pod>| pods.iter().position(|pod| std::ptr::eq(pod, *victim));
    victims.iter().filter_map(position).map(|at| at as u32).collect()
}

/// Returns the reasons of the evaluated nodes if preemption helps on none. `failures` has their rejections, `nodes` is the
/// number of nodes in the cluster.
///
/// # Errors
/// The errors of the trials. If preemption helps on another node, these errors are ignored, because this function is
/// not called.
pub(super) fn failure_reasons<'a>(
    failures: impl IntoIterator<Item = (&'a Verdict, usize)>,
    nodes: usize,
) -> Result<ReasonCounts, String> {
    let mut reasons = ReasonCounts::default();
    let mut errors = BTreeSet::new();
    let mut tried = 0;
    for (verdict, nodes) in failures {
        tried += nodes;
        verdict.reasons.iter().for_each(|reason| reasons.add(reason, nodes));
        if verdict.code == Code::Error {
            errors.insert(verdict.failure());
        }
    }
    if !errors.is_empty() {
        return Err(join_errors(&errors));
    }
    if tried < nodes {
        reasons.add(&"Preemption is not helpful for scheduling".into(), nodes - tried);
    }
    Ok(reasons)
}

/// Joins all texts, each once (apimachinery's `Aggregate`).
fn join_errors(errors: &BTreeSet<String>) -> String {
    let texts: Vec<&str> = errors.iter().map(String::as_str).collect();
    match texts[..] {
        [text] => text.to_owned(),
        _ => format!("[{}]", texts.join(", ")),
    }
}
