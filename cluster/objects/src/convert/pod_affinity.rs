//! Pod affinity and anti-affinity, as kube-scheduler's `PodInfo.Update` parses them.
//!
//! An API server merges `matchLabelKeys` and `mismatchLabelKeys` into the selector, so they are ignored here.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm};

use super::label_selector::label_selector;

/// Name of the required affinity in kube-scheduler's error messages.
const REQUIRED: &str = "requiredAffinityTerms";
/// Name of the required anti-affinity in kube-scheduler's error messages.
const ANTI_REQUIRED: &str = "requiredAntiAffinityTerms";

/// Converts the pod affinity and anti-affinity of a pod in `namespace`. If a term cannot be parsed, its list is empty,
/// and the result contains the error; the other lists are not affected.
pub(super) fn pod_affinity(
    affinity: Option<&api::Affinity>,
    namespace: Symbol,
    interner: &mut Interner,
) -> PodAffinity {
    let Some(affinity) = affinity else { return PodAffinity::default() };
    let pod_affinity = affinity.pod_affinity.as_ref();
    let anti_affinity = affinity.pod_anti_affinity.as_ref();
    let mut reader = Reader { namespace, interner, broken: Vec::new() };
    let required =
        pod_affinity.and_then(|pod_affinity| pod_affinity.required_during_scheduling_ignored_during_execution.as_ref());
    let required = reader.terms(REQUIRED, required);
    let anti_required = anti_affinity
        .and_then(|anti_affinity| anti_affinity.required_during_scheduling_ignored_during_execution.as_ref());
    let anti_required = reader.terms(ANTI_REQUIRED, anti_required);
    let preferred = pod_affinity
        .and_then(|pod_affinity| pod_affinity.preferred_during_scheduling_ignored_during_execution.as_ref());
    let preferred = reader.weighted_terms("preferredAffinityTerms", preferred);
    let anti_preferred = anti_affinity
        .and_then(|anti_affinity| anti_affinity.preferred_during_scheduling_ignored_during_execution.as_ref());
    let anti_preferred = reader.weighted_terms("preferredAntiAffinityTerms", anti_preferred);
    let broken = match &reader.broken[..] {
        [] => None,
        [problem] => Some(problem.as_str().into()),
        problems => Some(format!("[{}]", problems.join(", ")).into()),
    };
    let of_list = |list: &str| {
        let problem = reader.broken.iter().find_map(|problem| problem.strip_prefix(list)?.strip_prefix(": "));
        problem.map(Arc::from)
    };
    let broken_required = of_list(REQUIRED);
    let broken_anti_required = of_list(ANTI_REQUIRED);
    PodAffinity { required, anti_required, preferred, anti_preferred, broken, broken_required, broken_anti_required }
}

struct Reader<'a> {
    namespace: Symbol,
    interner: &'a mut Interner,
    broken: Vec<String>,
}

impl Reader<'_> {
    fn terms(&mut self, list: &str, terms: Option<&Vec<api::PodAffinityTerm>>) -> Box<[PodAffinityTerm]> {
        let terms = terms.into_iter().flatten().map(|term| self.term(term)).collect();
        self.unless_broken(list, terms)
    }

    fn weighted_terms(
        &mut self,
        list: &str,
        terms: Option<&Vec<api::WeightedPodAffinityTerm>>,
    ) -> Box<[WeightedPodAffinityTerm]> {
        let weighted = |reader: &mut Self, weighted: &api::WeightedPodAffinityTerm| {
            let term = reader.term(&weighted.pod_affinity_term)?;
            Ok(WeightedPodAffinityTerm { weight: weighted.weight, term })
        };
        let terms = terms.into_iter().flatten().map(|term| weighted(self, term)).collect();
        self.unless_broken(list, terms)
    }

    /// Parses a term (`newAffinityTerm`) or returns its error.
    fn term(&mut self, term: &api::PodAffinityTerm) -> Result<PodAffinityTerm, String> {
        let selector = label_selector(term.label_selector.as_ref(), self.interner)?;
        let listed = term.namespaces.as_deref().unwrap_or_default();
        let mut namespaces: Vec<_> = listed.iter().map(|name| self.interner.intern(name)).collect();
        if namespaces.is_empty() && term.namespace_selector.is_none() {
            namespaces.push(self.namespace);
        }
        namespaces.sort_unstable();
        namespaces.dedup();
        Ok(PodAffinityTerm {
            topology_key: self.interner.intern(&term.topology_key),
            selector,
            namespaces: namespaces.into(),
            namespace_selector: label_selector(term.namespace_selector.as_ref(), self.interner)?,
        })
    }

    fn unless_broken<T>(&mut self, list: &str, terms: Result<Box<[T]>, String>) -> Box<[T]> {
        terms.unwrap_or_else(|problem| {
            self.broken.push(format!("{list}: {problem}"));
            Box::default()
        })
    }
}

#[cfg(test)]
mod tests;
