//! Full evaluation: evaluates candidate nodes until enough are feasible; by default, it evaluates all. It corresponds
//! to kube-scheduler's `schedulePod` after PreFilter.

use std::sync::Arc;

use super::common_verdicts::CommonVerdicts;
use super::evaluated::Evaluated;
use super::evaluation::Evaluation;
use super::phases::{Choice, Phases};
use super::scheduling_cycle::SchedulingCycle;
use super::{Engine, FailedAttempt, PreFilteredPod, rejections};
use crate::engine::node_loops::{self, BestTotal};
use crate::engine::observer::{Observer, Point};
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::extenders::{ExtenderRejection, Extenders};
use crate::profile_api::profile::Profile;

/// A full evaluation. Feasible nodes and scores are in the engine's [`Evaluation`](super::evaluation::Evaluation).
struct FullEvaluation<'e, 'c, P: Profile, D, O> {
    engine: &'e mut Engine<P>,
    attempt: &'e mut PreFilteredPod<P>,
    cycle: &'e mut SchedulingCycle<'c, P, D, O>,
    /// Number of nodes that PreFilter leaves to Filter. `percentage_of_nodes_to_score` is a percentage of this number.
    candidates: usize,
    /// The rejections of extenders, if they removed a node.
    rejections: Option<Vec<ExtenderRejection>>,
    /// Number of feasible nodes.
    count: usize,
    scored: Option<(P::Score, P::Extents)>,
    best: BestTotal,
}

/// The result of a full evaluation, for the decision.
pub(super) struct FullResult<'a, P: Profile> {
    plugins: &'a P,
    evaluation: &'a Evaluation<P>,
    /// `None` if the engine caches no answers.
    common_verdicts: Option<&'a mut CommonVerdicts<P>>,
    attempt: &'a mut PreFilteredPod<P>,
    rejections: Option<Vec<ExtenderRejection>>,
    best: BestTotal,
}

impl<'a, P: Profile> FullResult<'a, P> {
    /// Returns the plugins.
    pub(super) fn plugins(&self) -> &'a P {
        self.plugins
    }
}

impl<P: Profile> Evaluated<P> for FullResult<'_, P> {
    fn kth_best(&self, k: usize) -> Option<NodeIndex> {
        self.evaluation.kth_best(self.best, k)
    }
    fn diagnose(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>) -> Diagnosis {
        if self.rejections.is_none()
            && let Some(common_verdicts) = &mut self.common_verdicts
            && let Some(diagnosis) = common_verdicts.diagnose(self.attempt, cache)
        {
            debug_assert_eq!(diagnosis, rejections::diagnose(self.attempt, pod, cache, None), "common verdicts");
            return diagnosis;
        }
        rejections::diagnose(self.attempt, pod, cache, self.rejections.as_deref())
    }
    fn failed(&self) -> FailedAttempt<'_, P> {
        FailedAttempt::of(self.attempt)
    }
}

impl<P: Profile> Engine<P> {
    /// Evaluates a pod in full.
    ///
    /// # Errors
    /// A plugin or an extender failed.
    pub(super) fn evaluate_in_full<'a, D, O: Observer>(
        &'a mut self,
        attempt: &'a mut PreFilteredPod<P>,
        cycle: &mut SchedulingCycle<'_, P, D, O>,
    ) -> Result<(Choice, FullResult<'a, P>), String> {
        let best = BestTotal { total: i64::MIN, ties: 0 };
        let mut evaluation = FullEvaluation {
            engine: &mut *self,
            attempt: &mut *attempt,
            cycle,
            candidates: 0,
            rejections: None,
            count: 0,
            scored: None,
            best,
        };
        let choice = match evaluation.choice_of_single_node() {
            Some(choice) => choice?,
            None => evaluation.run()?,
        };
        let FullEvaluation { rejections, best, .. } = evaluation;
        let Engine { plugins, evaluation, common_verdicts, cache_answers, .. } = self;
        let common_verdicts = cache_answers.then_some(common_verdicts);
        Ok((choice, FullResult { plugins, evaluation, common_verdicts, attempt, rejections, best }))
    }

    /// Returns the pod's nominated node, if it is feasible: kube-scheduler's `evaluateNominatedNode`.
    pub(crate) fn nominated_node(
        &self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) -> Option<NodeIndex> {
        let node = cache.base.node(pod.nominated_node?)?;
        attempt.passes_filters(pod, cache, node).ok()?;
        if P::Extenders::NONE {
            return Some(node);
        }
        let mut feasible = NodeMask::from_iter([node]);
        self.plugins.extenders().filter(pod, &cache.base, &mut feasible).ok()?;
        feasible.contains(node).then_some(node)
    }

    /// Returns the only nodes that can be feasible, if PreFilter predicted them. `None` if it did not, if the search may
    /// end before all nodes are evaluated, or if a filter can fail on other nodes.
    pub(super) fn predicted_nodes<'a>(
        &self,
        attempt: &'a PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) -> Option<&'a [NodeIndex]> {
        let nodes = attempt.pre_filter.predicted_nodes()?;
        let n_nodes = cache.base.count();
        let evaluates_all = nodes_to_find(self.percentage_of_nodes_to_score, n_nodes) == n_nodes;
        (evaluates_all && P::cannot_fail(&attempt.cycle)).then_some(nodes)
    }
}

impl<P: Profile, D, O: Observer> Phases for FullEvaluation<'_, '_, P, D, O> {
    type Failure = String;

    fn changes(&mut self) -> Result<(), String> {
        self.cycle.observer.point_started(Point::Filter);
        self.start_from_candidates();
        Ok(())
    }

    fn verdicts(&mut self) -> Result<(), String> {
        let result = self.find_nodes_that_pass();
        let code = match &result {
            Ok(()) if self.engine.evaluation.feasible.is_empty() => Code::Unschedulable,
            Ok(()) => Code::Success,
            Err(_) => Code::Error,
        };
        self.cycle.observer.point_ended(Point::Filter, code);
        result
    }

    fn feasible_nodes(&mut self) -> Result<(), String> {
        self.filter_with_extenders()?;
        self.count = self.engine.evaluation.feasible.count();
        Ok(())
    }

    fn scores(&mut self) -> Result<(), String> {
        if self.count < 2 {
            return Ok(());
        }
        self.cycle.observer.point_started(Point::Score);
        let (engine, attempt, cache) = (&mut *self.engine, &*self.attempt, self.cycle.cache);
        let scored = engine
            .plugins
            .pre_score(&attempt.compiled, &attempt.cycle, cache, &engine.evaluation.feasible)
            .and_then(|score| Ok((engine.evaluation.score_feasible(&attempt.compiled, &score, cache)?, score)));
        let (extents, score) = scored.map_err(|status| self.scoring_failed(&status))?;
        self.scored = Some((score, extents));
        Ok(())
    }

    fn totals(&mut self) -> Result<(), String> {
        let Some((score, extents)) = self.scored.take() else { return Ok(()) };
        let (pod, cache) = (self.cycle.pod, self.cycle.cache);
        let engine = &mut *self.engine;
        let totals = engine.evaluation.total_feasible(&self.attempt.compiled, &score, &extents, cache);
        engine.plugins.recycle_score(score);
        let best = totals.map_err(|status| self.scoring_failed(&status))?;
        self.cycle.observer.point_ended(Point::Score, Code::Success);
        let Engine { evaluation, plugins, .. } = &mut *self.engine;
        self.best = match P::Extenders::NONE {
            true => best,
            false => evaluation.add_extender_scores(plugins.extenders(), pod, &cache.base, best, self.cycle.observer),
        };
        Ok(())
    }

    fn choice(&self) -> Choice {
        Choice::of(&self.engine.evaluation.feasible, self.count, || self.best.ties)
    }
}

impl<P: Profile, D, O: Observer> FullEvaluation<'_, '_, P, D, O> {
    /// Returns the choice if evaluating one node is enough: the pod's nominated node, if it is feasible, or a single
    /// candidate node. `None`: the candidate nodes have to be evaluated.
    fn choice_of_single_node(&mut self) -> Option<Result<Choice, String>> {
        let (pod, cache) = (self.cycle.pod, self.cycle.cache);
        if let Some(node) = self.engine.nominated_node(pod, self.attempt, cache) {
            return Some(Ok(Choice::Node(node)));
        }
        let candidates = self.attempt.pre_filter.nodes().or_else(|| self.engine.predicted_nodes(self.attempt, cache));
        let Some(&[node]) = candidates.filter(|_| P::Extenders::NONE) else { return None };
        if !cache.base.alive().contains(node) {
            return None;
        }
        Some(match self.attempt.passes_filters(pod, cache, node) {
            Ok(()) => Ok(Choice::Node(node)),
            Err(rejection) if P::code(&rejection).is_rejected() => Ok(Choice::NoNode),
            Err(_) => Err(self.attempt.failure(pod, cache, node)),
        })
    }

    /// Fills the engine's feasible nodes with the candidate nodes, without those that Filter will reject according to
    /// PreFilter. The field `candidates` counts the latter, too.
    fn start_from_candidates(&mut self) {
        let cache = self.cycle.cache;
        let (narrowed, predicted) = (self.attempt.pre_filter.nodes(), self.engine.predicted_nodes(self.attempt, cache));
        let feasible = &mut self.engine.evaluation.feasible;
        let alive = cache.base.alive();
        self.candidates = cache.base.count();
        let Some(nodes) = narrowed.or(predicted) else {
            feasible.copy_from(alive);
            return;
        };
        feasible.clear();
        feasible.resize(cache.base.infos().len());
        feasible.extend(nodes.iter().copied().filter(|&node| alive.contains(node)));
        if narrowed.is_some() {
            self.candidates = feasible.count();
        }
    }

    /// Removes the candidate nodes that a filter rejects: kube-scheduler's `findNodesThatPassFilters`.
    fn find_nodes_that_pass(&mut self) -> Result<(), String> {
        let wanted = nodes_to_find(self.engine.percentage_of_nodes_to_score, self.candidates);
        if wanted < self.candidates {
            return self.find_enough(wanted);
        }
        let (pod, cache) = (self.cycle.pod, self.cycle.cache);
        let uses_common_verdicts =
            self.engine.cache_answers && self.engine.predicted_nodes(self.attempt, cache).is_none();
        let Engine { evaluation: Evaluation { feasible, .. }, common_verdicts, .. } = &mut *self.engine;
        if uses_common_verdicts && let Some(passing) = common_verdicts.passing(self.attempt, cache) {
            feasible.intersect(passing);
        }
        let columns = P::columns(&cache.state, &cache.base);
        let PreFilteredPod { compiled, cycle, .. } = &*self.attempt;
        if node_loops::filter_nodes::<P>(compiled, cycle, columns, feasible).is_some() {
            // A plugin failed. The nodes are evaluated again, now with nominated pods: with them, another plugin may
            // reject the node before the failing plugin runs.
            self.start_from_candidates();
            return self.find_enough(self.candidates);
        }
        let feasible = &mut self.engine.evaluation.feasible;
        for (node, nominated) in cache.nominated_before(pod) {
            // Infeasible nodes are evaluated too, if a plugin can fail: its error has precedence over rejections.
            if self.attempt.pre_filter.nodes().is_some_and(|nodes| !nodes.contains(&node))
                || P::cannot_fail(&self.attempt.cycle) && !feasible.contains(node)
            {
                continue;
            }
            let verdict = self.attempt.with_pods(&nominated, cache, node).filter();
            if let Err(rejection) = verdict {
                if !P::code(&rejection).is_rejected() {
                    return Err(self.attempt.failure(pod, cache, node));
                }
                feasible.remove(node);
            }
        }
        Ok(())
    }

    /// Filters the candidate nodes until `wanted` feasible ones are found. The search for the next pod starts where this
    /// one ended.
    fn find_enough(&mut self, wanted: usize) -> Result<(), String> {
        let (pod, cache) = (self.cycle.pod, self.cycle.cache);
        let engine = &mut *self.engine;
        let mut candidates = std::mem::take(&mut engine.candidates);
        candidates.clear();
        candidates.extend(engine.evaluation.feasible.iter());
        let (mut n_found, mut n_evaluated) = (0, 0);
        engine.evaluation.feasible.words_mut().fill(0);
        for at in 0..candidates.len() {
            let node = candidates[(engine.next_start + at) % candidates.len()];
            n_evaluated += 1;
            match self.attempt.passes_filters(pod, cache, node) {
                Ok(()) => {
                    engine.evaluation.feasible.insert(node);
                    n_found += 1;
                    if n_found == wanted {
                        break;
                    }
                }
                Err(rejection) if !P::code(&rejection).is_rejected() => {
                    return Err(self.attempt.failure(pod, cache, node));
                }
                Err(_) => {}
            }
        }
        engine.next_start = (engine.next_start + n_evaluated) % cache.base.count();
        engine.candidates = candidates;
        Ok(())
    }

    /// Removes the nodes that extenders reject: kube-scheduler's `findNodesThatPassExtenders`.
    fn filter_with_extenders(&mut self) -> Result<(), String> {
        let feasible = &mut self.engine.evaluation.feasible;
        // Without nodes, no extender is called.
        if P::Extenders::NONE || feasible.is_empty() {
            return Ok(());
        }
        let mut removed = feasible.clone();
        let rejections = self.engine.plugins.extenders().filter(self.cycle.pod, &self.cycle.cache.base, feasible)?;
        removed.remove_all(feasible);
        self.cycle.observer.extenders_filtered(&removed, &rejections);
        self.rejections = (!removed.is_empty()).then_some(rejections);
        Ok(())
    }

    fn scoring_failed(&mut self, status: &Status) -> String {
        self.cycle.observer.point_ended(Point::Score, status.code);
        status.message()
    }
}

/// Returns the number of feasible nodes to find: kube-scheduler's `numFeasibleNodesToFind`.
#[inline]
pub(super) fn nodes_to_find(percentage: u8, nodes: usize) -> usize {
    const MIN_FEASIBLE_NODES: usize = 100;
    const LOWEST_PERCENTAGE: usize = 5;
    if nodes < MIN_FEASIBLE_NODES || percentage == 100 {
        return nodes;
    }
    let percentage = match percentage {
        0 => 50_usize.saturating_sub(nodes / 125).max(LOWEST_PERCENTAGE),
        given => given.into(),
    };
    (nodes * percentage / 100).max(MIN_FEASIBLE_NODES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_nodes_to_find_follows_the_percentage_or_the_adaptive_rule() {
        for (percentage, nodes, wanted) in [
            (0, 99, 99),
            (0, 100, 100),
            (0, 1000, 420),
            (0, 5000, 500),
            (0, 50_000, 2500),
            (30, 1000, 300),
            (1, 1000, 100),
            (100, 5000, 5000),
        ] {
            assert_eq!(nodes_to_find(percentage, nodes), wanted, "{percentage} % of {nodes}");
        }
    }
}
