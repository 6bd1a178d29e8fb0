//! The feasible nodes: kube-scheduler's `findNodesThatFitPod` after PreFilter.

use std::sync::Arc;

use super::{Choice, Engine, PreFilteredPod};
use crate::engine::incremental::NodeVerdicts;
use crate::engine::node_loops;
use crate::engine::observer::Observer;
use crate::model::cache::Cache;
use crate::model::map::Map;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::Code;
use crate::profile_api::extenders::{EXTENDER, ExtenderRejection, Extenders};
use crate::profile_api::profile::Profile;

impl<P: Profile> Engine<P> {
    /// Returns the pod's nominated node, if it is feasible: kube-scheduler's `evaluateNominatedNode`.
    pub(crate) fn nominated_node(
        &self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) -> Option<NodeIndex> {
        let node = cache.base.node(pod.nominated_node?)?;
        Self::passes_filters(pod, attempt, cache, node).ok()?;
        if P::Extenders::NONE {
            return Some(node);
        }
        let mut feasible = NodeMask::from_iter([node]);
        self.plugins.extenders().filter(pod, &cache.base, &mut feasible).ok()?;
        feasible.contains(node).then_some(node)
    }

    /// Removes the nodes that extenders reject from `self.answer.feasible`: `findNodesThatPassExtenders`. `None` if
    /// they rejected none.
    #[inline(always)]
    pub(super) fn filter_with_extenders(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> Result<Option<Vec<ExtenderRejection>>, String> {
        // Without nodes, no extender is called.
        if P::Extenders::NONE || self.answer.feasible.is_empty() {
            return Ok(None);
        }
        self.filter_with_some_extenders(pod, cache, observer)
    }

    fn filter_with_some_extenders(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> Result<Option<Vec<ExtenderRejection>>, String> {
        let feasible = &mut self.answer.feasible;
        let mut taken_out = feasible.clone();
        let rejected = self.plugins.extenders().filter(pod, &cache.base, feasible)?;
        taken_out.remove_all(feasible);
        observer.extenders_filtered(&taken_out, &rejected);
        Ok((!taken_out.is_empty()).then_some(rejected))
    }

    /// Returns the only nodes that can be feasible, if PreFilter predicted Filter's rejections and their reasons are
    /// not needed.
    pub(super) fn likely<'a>(
        &self,
        attempt: &'a PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) -> Option<&'a [NodeIndex]> {
        let nodes = attempt.pre_filter.likely()?;
        let all = cache.base.count();
        let evaluates_all = nodes_to_find(self.percentage_of_nodes_to_score, all) == all;
        (evaluates_all && P::cannot_fail(&attempt.cycle)).then_some(nodes)
    }

    /// Fills `self.answer.feasible` with the candidate nodes. Returns the number of nodes that count as evaluated.
    fn start_from_candidates(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> usize {
        let (narrowed, hopeful) = (attempt.pre_filter.nodes(), self.likely(attempt, cache));
        let feasible = &mut self.answer.feasible;
        let alive = cache.base.alive();
        let Some(nodes) = narrowed.or(hopeful) else {
            feasible.copy_from(alive);
            return cache.base.count();
        };
        feasible.clear();
        feasible.resize(cache.base.infos().len());
        feasible.extend(nodes.iter().copied().filter(|&node| alive.contains(node)));
        if narrowed.is_some() { feasible.count() } else { cache.base.count() }
    }

    /// Evaluates and chooses the only candidate node. Other nodes cost nothing.
    pub(super) fn choose_single_node(
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Choice {
        match Self::passes_filters(pod, attempt, cache, node) {
            Ok(()) => Choice::Node(node),
            Err(rejection) if P::code(&rejection).is_rejected() => {
                Choice::NoNode(Self::diagnose(pod, attempt, cache, None))
            }
            Err(_) => Choice::Error(Self::failure(pod, attempt, cache, node)),
        }
    }

    /// Fills `self.answer.feasible`: kube-scheduler's `findNodesThatPassFilters`.
    pub(super) fn find_feasible(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) -> Result<(), String> {
        let candidates = self.start_from_candidates(attempt, cache);
        let wanted = nodes_to_find(self.percentage_of_nodes_to_score, candidates);
        if wanted < candidates {
            return self.find_enough(pod, attempt, cache, wanted);
        }
        let columns = P::columns(&cache.state, &cache.base);
        let failed =
            node_loops::filter_nodes::<P>(&attempt.compiled, &attempt.cycle, columns, &mut self.answer.feasible);
        if failed.is_some() {
            // A second evaluation with nominated pods: with them, another plugin may reject the node before the failing
            // plugin runs.
            self.start_from_candidates(attempt, cache);
            return self.find_enough(pod, attempt, cache, candidates);
        }
        for (node, nominated) in cache.nominated_before(pod) {
            // Infeasible nodes are evaluated too: an error of a plugin there has precedence.
            if attempt.pre_filter.nodes().is_some_and(|nodes| !nodes.contains(&node))
                || P::cannot_fail(&attempt.cycle) && !self.answer.feasible.contains(node)
            {
                continue;
            }
            if let Err(rejection) = Self::passes_filters_with(&nominated, attempt, cache, node) {
                if !P::code(&rejection).is_rejected() {
                    return Err(Self::failure(pod, attempt, cache, node));
                }
                self.answer.feasible.remove(node);
            }
        }
        Ok(())
    }

    /// Stops at `wanted` feasible nodes; the next pod continues from there.
    fn find_enough(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        wanted: usize,
    ) -> Result<(), String> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(self.answer.feasible.iter());
        let (mut found, mut seen) = (0, 0);
        self.answer.feasible.words_mut().fill(0);
        for at in 0..candidates.len() {
            let node = candidates[(self.next_start + at) % candidates.len()];
            seen += 1;
            match Self::passes_filters(pod, attempt, cache, node) {
                Ok(()) => {
                    self.answer.feasible.insert(node);
                    found += 1;
                    if found == wanted {
                        break;
                    }
                }
                Err(rejection) if !P::code(&rejection).is_rejected() => {
                    return Err(Self::failure(pod, attempt, cache, node));
                }
                Err(_) => {}
            }
        }
        self.next_start = (self.next_start + seen) % cache.base.count();
        self.candidates = candidates;
        Ok(())
    }

    /// Runs Filter on one node, with and without its nominated pods: `RunFilterPluginsWithNominatedPods`.
    pub(crate) fn passes_filters(
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Result<(), P::Rejection> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty() {
            Self::passes_filters_with(&nominated, attempt, cache, node)?;
        }
        let columns = P::columns(&cache.state, &cache.base);
        node_loops::filter_node::<P>(&attempt.compiled, &attempt.cycle, columns, node.get())
    }

    fn passes_filters_with(
        nominated: &[Arc<Pod>],
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Result<(), P::Rejection> {
        attempt.with_pods(nominated, cache, node).filter()
    }

    fn failure(pod: &Arc<Pod>, attempt: &mut PreFilteredPod<P>, cache: &Cache<P::State>, node: NodeIndex) -> String {
        match attempt.verdict(pod, cache, node) {
            Some(verdict) => verdict.failure(),
            None => "a filter plugin failed".into(),
        }
    }

    /// Collects the reasons of every node and their texts. The reasons of extenders replace those of plugins. A node
    /// that an extender removed without a reason has none.
    pub(super) fn diagnose(
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        by_extenders: Option<Vec<ExtenderRejection>>,
    ) -> Diagnosis {
        let mut candidates = cache.base.alive().clone();
        if let Some(nodes) = attempt.pre_filter.nodes() {
            candidates.words_mut().fill(0);
            let alive = cache.base.alive();
            candidates.extend(nodes.iter().copied().filter(|&node| alive.contains(node)));
        }
        let rejections: Map<NodeIndex, ExtenderRejection> =
            by_extenders.iter().flatten().map(|rejection| (rejection.node, rejection.clone())).collect();
        let mut verdicts = NodeVerdicts::default();
        verdicts.resize(cache.base.infos().len());
        let (mut overruled, mut with_reasons) = (Vec::new(), rejections.len());
        for node in candidates.iter() {
            let verdict = attempt.verdict(pod, cache, node);
            if rejections.contains_key(&node) {
                overruled.extend(verdict);
                continue;
            }
            with_reasons += usize::from(verdict.is_some());
            verdicts.set(node, verdict.as_ref());
        }
        let mut diagnosis = verdicts.diagnosis(cache.base.count());
        let narrowed_by = attempt.pre_filter.narrowed_by();
        diagnosis.unschedulable_plugins.extend(&narrowed_by);
        let others = diagnosis.nodes.saturating_sub(with_reasons);
        if others > 0 && attempt.pre_filter.nodes().is_some() {
            *diagnosis.reasons.entry(excluded_node_reason(&narrowed_by)).or_default() += others;
        }
        if by_extenders.is_some() {
            diagnosis.add_rejector(EXTENDER, Code::Unschedulable);
            // Their rejections still count for the events that can make the pod schedulable.
            overruled.iter().for_each(|verdict| diagnosis.add_rejector(verdict.plugin, verdict.code));
            for (node, ExtenderRejection { code, reason, .. }) in rejections {
                if code == Code::Unschedulable {
                    diagnosis.resolvable.insert(node);
                }
                *diagnosis.reasons.entry(reason).or_default() += 1;
            }
        }
        diagnosis
    }
}

/// Returns the reason of a node that PreFilter excluded.
pub(crate) fn excluded_node_reason(plugins: &[&str]) -> String {
    format!("node(s) didn't satisfy plugin(s) [{}]", plugins.join(" "))
}

/// Returns the number of feasible nodes to find: kube-scheduler's `numFeasibleNodesToFind`.
#[inline]
pub(super) fn nodes_to_find(percentage: u8, nodes: usize) -> usize {
    const ALWAYS: usize = 100;
    const LOWEST_PERCENTAGE: usize = 5;
    if nodes < ALWAYS || percentage == 100 {
        return nodes;
    }
    let percentage = match percentage {
        0 => 50_usize.saturating_sub(nodes / 125).max(LOWEST_PERCENTAGE),
        given => given.into(),
    };
    (nodes * percentage / 100).max(ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adaptive_rule_looks_at_fewer_nodes_of_larger_clusters() {
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
