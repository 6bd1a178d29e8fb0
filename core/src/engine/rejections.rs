//! The reasons why no node is feasible, after a full evaluation.

use std::sync::Arc;

use super::PreFilteredPod;
use crate::engine::incremental::NodeVerdicts;
use crate::model::cache::Cache;
use crate::model::map::Map;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::Code;
use crate::profile_api::extenders::{EXTENDER, ExtenderRejection};
use crate::profile_api::profile::Profile;

/// Collects the rejections of all nodes, with the texts of their reasons. The reasons of extenders replace those of
/// plugins. For a node that an extender removed without a reason, the result has no reason.
pub(super) fn diagnose<P: Profile>(
    attempt: &mut PreFilteredPod<P>,
    pod: &Pod,
    cache: &Cache<P::State>,
    by_extenders: Option<&[ExtenderRejection]>,
) -> Diagnosis {
    let mut candidates = cache.base.alive().clone();
    if let Some(nodes) = attempt.pre_filter.nodes() {
        candidates.words_mut().fill(0);
        let alive = cache.base.alive();
        candidates.extend(nodes.iter().copied().filter(|&node| alive.contains(node)));
    }
    let rejections: Map<NodeIndex, &ExtenderRejection> =
        by_extenders.into_iter().flatten().map(|rejection| (rejection.node, rejection)).collect();
    let mut verdicts = NodeVerdicts::default();
    verdicts.resize(cache.base.infos().len());
    let (mut overruled, mut with_reasons) = (Vec::new(), rejections.len());
    if by_extenders.is_none() {
        // Filters rejected all candidate nodes.
        with_reasons += candidates.count();
        verdicts.evaluate(candidates.iter(), attempt, pod, cache);
        candidates.clear();
    }
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
    diagnosis.unschedulable_plugins.extend(narrowed_by.iter().copied());
    let without_reasons = diagnosis.nodes.saturating_sub(with_reasons);
    if without_reasons > 0 && attempt.pre_filter.nodes().is_some() {
        diagnosis.reasons.add(&excluded_node_reason(&narrowed_by).into(), without_reasons);
    }
    if by_extenders.is_some() {
        diagnosis.add_rejector(EXTENDER, Code::Unschedulable);
        // The plugins of the overruled rejections are recorded, too: their events can make the pod schedulable.
        overruled.iter().for_each(|verdict| diagnosis.add_rejector(verdict.plugin, verdict.code));
        let resolvable = Arc::make_mut(&mut diagnosis.resolvable);
        for (node, ExtenderRejection { code, reason, .. }) in rejections {
            if *code == Code::Unschedulable {
                resolvable.insert(node);
            }
            diagnosis.reasons.add(&reason.clone().into(), 1);
        }
    }
    diagnosis
}

/// Returns the reason of a node that PreFilter excluded.
pub(crate) fn excluded_node_reason(plugins: &[&str]) -> String {
    format!("node(s) didn't satisfy plugin(s) [{}]", plugins.join(" "))
}
