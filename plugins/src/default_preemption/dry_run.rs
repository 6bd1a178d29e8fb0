//! Hypothetical preemption, node by node.

use std::collections::BTreeSet;
use std::sync::Arc;

use schedc_core::diagnosis::Diagnosis;
use schedc_core::extension_points::{Candidate, PostFilterContext};
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::nodes_of;
use schedc_core::profile::Profile;
use schedc_core::status::{Code, ReasonList};
use schedc_core::verdict::Verdict;

use super::choice::VictimCost;
use super::trials::PreemptionTrials;
use super::victims::{NoVictims, Victims, select_victims};
use crate::indexes::DisruptionBudgets;

/// Nodes where preemption helps.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) nodes: Vec<Candidate>,
    /// The cost of each candidate.
    pub(super) costs: Vec<VictimCost>,
}

/// Hypothetical preemption on the resolvable nodes (`DryRunPreemption`).
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

    /// Evaluates the resolvable nodes without a known outcome, starting at `first`. Ends when there are enough candidates
    /// and one of them violates no budget.
    pub(super) fn candidates(
        mut self,
        trials: &mut PreemptionTrials,
        first: NodeIndex,
        candidate_count: usize,
    ) -> Candidates {
        let resolvable = &self.cx.diagnosis.resolvable;
        trials.keep_only(resolvable);
        let mut found = Candidates::default();
        let (mut violating, mut nonviolating) = (0, 0);
        for (word, bits) in resolvable.words_from(first) {
            for node in nodes_of(word, bits & !trials.failed(word)) {
                if !trials.has_outcome(node) {
                    self.try_node(node, trials);
                }
                let Some(victims) = trials.victims(node) else { continue };
                let of_its_kind = if victims.cost.violations == 0 { &mut nonviolating } else { &mut violating };
                if *of_its_kind < candidate_count {
                    *of_its_kind += 1;
                    found.nodes.push(Candidate {
                        node,
                        victims: victims.pods.clone(),
                        violations: victims.cost.violations,
                        best: false,
                    });
                    found.costs.push(victims.cost);
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
        let cycle = self.copied.get_or_insert_with(|| self.cycle.clone());
        let nominated = cx.cache.nominated_on(node, cx.pod);
        let pods = &cx.cache.base.infos()[node.get()].pods;
        let mut hypothetical = HypotheticalNode::<P>::new(cx.compiled, cycle, cx.cache, node);
        let guarded =
            !self.budgets.is_empty() && pods.iter().any(|pod| !self.budgets.of(pod.spec.namespace).is_empty());
        let outcome = match select_victims(&mut hypothetical, pods, &nominated, cx, self.budgets) {
            Ok((pods, violations)) if !pods.is_empty() => {
                let pods: Arc<[Arc<Pod>]> = pods.into_iter().cloned().collect();
                let cost = VictimCost::of(&pods, violations, cx.now);
                Ok(Victims { pods, cost })
            }
            Ok(_) => {
                let error = format!("expected at least one victim pod on node {:?}", cx.cache.base.name(node));
                Err(Verdict { code: Code::Error, plugin: "", reasons: ReasonList::from_iter([error.into()]) })
            }
            Err(NoVictims::NoLowerPriority) => {
                let reason = "No preemption victims found for incoming pod".into();
                let code = Code::UnschedulableAndUnresolvable;
                Err(Verdict { code, plugin: "", reasons: ReasonList::from_iter([reason]) })
            }
            Err(NoVictims::StillUnschedulable(verdict)) => Err(verdict),
        };
        trials.set(node, guarded, outcome);
    }
}

/// Returns the diagnosis of the evaluated nodes if preemption helps on none. `nodes` is the number of nodes
/// in the cluster.
///
/// # Errors
/// The errors of the trials. They are ignored if preemption helps on a node.
pub(super) fn failure_diagnosis(trials: Option<&PreemptionTrials>, nodes: usize) -> Result<Diagnosis, String> {
    let mut diagnosis = Diagnosis { nodes, ..Diagnosis::default() };
    let mut errors = BTreeSet::new();
    let mut tried = 0;
    for (verdict, nodes) in trials.iter().flat_map(|trials| trials.failures()) {
        tried += nodes;
        diagnosis.add_reasons(&verdict.reasons, nodes);
        if verdict.code == Code::Error {
            errors.insert(verdict.failure());
        }
    }
    if !errors.is_empty() {
        return Err(join_errors(&errors));
    }
    if tried < nodes {
        diagnosis.add_reasons(&["Preemption is not helpful for scheduling".into()], nodes - tried);
    }
    Ok(diagnosis)
}

/// Joins all texts, each once (apimachinery's `Aggregate`).
fn join_errors(errors: &BTreeSet<String>) -> String {
    let texts: Vec<&str> = errors.iter().map(String::as_str).collect();
    match texts[..] {
        [text] => text.to_owned(),
        _ => format!("[{}]", texts.join(", ")),
    }
}
