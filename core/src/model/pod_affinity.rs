//! Pod affinity and anti-affinity.

use std::sync::Arc;

use super::LabelSelector;
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// A term of pod affinity or anti-affinity: pods and a topology key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct PodAffinityTerm {
    /// `topologyKey`: nodes with one value of this label form a domain.
    pub topology_key: Symbol,
    /// The pods. `None` matches no pod.
    pub selector: Option<LabelSelector>,
    /// Namespaces of these pods, sorted, as written. If the term has neither names nor a namespace selector, the
    /// namespace of the pod that has the term.
    pub namespaces: Arc<[Symbol]>,
    /// Further namespaces, by their labels. `None` adds none.
    pub namespace_selector: Option<LabelSelector>,
}

impl PodAffinityTerm {
    /// Returns whether the term selects a pod: kube-scheduler's `AffinityTerm.Matches`. `namespace_labels` are those of
    /// the pod's namespace, empty if it is unknown.
    pub fn matches(
        &self,
        namespace: Symbol,
        labels: &[(Symbol, Symbol)],
        namespace_labels: &[(Symbol, Symbol)],
    ) -> bool {
        let is_in_namespaces = self.namespaces.contains(&namespace)
            || self.namespace_selector.as_ref().is_some_and(|selector| selector.matches(namespace_labels));
        is_in_namespaces && self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }
}

/// A preferred term with its weight.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct WeightedPodAffinityTerm {
    /// Weight that is added to the score of a domain for each matching pod.
    pub weight: i32,
    /// The term.
    pub term: PodAffinityTerm,
}

/// Affinity and anti-affinity of a pod: kube-scheduler's parsed terms of a `PodInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct PodAffinity {
    /// Required affinity.
    pub required: Box<[PodAffinityTerm]>,
    /// Required anti-affinity.
    pub anti_required: Box<[PodAffinityTerm]>,
    /// Preferred affinity.
    pub preferred: Box<[WeightedPodAffinityTerm]>,
    /// Preferred anti-affinity.
    pub anti_preferred: Box<[WeightedPodAffinityTerm]>,
    /// Errors of the terms, in Kubernetes' words. A list with a wrong term is empty; the other lists apply.
    pub broken: Option<Arc<str>>,
    /// Errors of required affinity alone.
    pub broken_required: Option<Arc<str>>,
    /// Errors of required anti-affinity alone.
    pub broken_anti_required: Option<Arc<str>>,
}

impl PodAffinity {
    /// Returns whether it has no terms.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.required.is_empty()
            && self.anti_required.is_empty()
            && self.preferred.is_empty()
            && self.anti_preferred.is_empty()
    }

    /// Returns whether it has preferred terms.
    #[inline]
    pub fn has_preferences(&self) -> bool {
        !self.preferred.is_empty() || !self.anti_preferred.is_empty()
    }

    /// Returns all preferred terms with their weights in a domain's score, negative for anti-affinity.
    pub fn preferred_by_weight(&self) -> impl Iterator<Item = (i64, &PodAffinityTerm)> {
        let affinity = self.preferred.iter().map(|preferred| (preferred.weight, &preferred.term));
        // kube-scheduler negates the weight as a 32-bit number.
        let anti_affinity =
            self.anti_preferred.iter().map(|preferred| (preferred.weight.wrapping_neg(), &preferred.term));
        affinity.chain(anti_affinity).map(|(weight, term)| (weight.into(), term))
    }
}
