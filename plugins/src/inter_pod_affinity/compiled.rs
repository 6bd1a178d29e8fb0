//! The pod's affinity terms, and the terms of other pods that match it.

use std::sync::Arc;

use schedc_core::incremental::ExcludedFromSignature;
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelSelector, Labels, PodAffinityTerm, PodSpec};
use smallvec::SmallVec;

use super::InterPodAffinityArgs;
use crate::indexes::{AffinityTerms, PodQuery, PodQueryId, PodTerm, ScoredTermKind, SelectorCounts, TermId};

/// The pod's affinity terms, and the terms of other pods that match it. Pods with equal terms of both kinds have equal
/// values, even if their labels or namespaces differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InterPodAffinityPod {
    /// Required affinity.
    pub(super) affinity: Option<RequiredAffinity>,
    /// Required anti-affinity.
    pub(super) anti_affinity: SmallVec<[AntiAffinityTerm; 1]>,
    /// Required anti-affinity of existing pods that matches the pod.
    pub(super) existing_anti_affinity: ExistingAntiAffinityTerms,
    /// Terms that affect scores.
    pub(super) preferences: Preferences,
    /// The error in the pod's terms, if there is one.
    pub(super) broken: Option<Arc<str>>,
    /// The pod's namespace and labels, for terms that are not registered.
    pub(super) identity: ExcludedFromSignature<PodIdentity>,
}

/// Required affinity: pods that match every term must exist in the node's domain of each topology key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RequiredAffinity {
    pub(super) pods: PodQueryId,
    pub(super) keys: SmallVec<[Symbol; 1]>,
    /// Whether the pod matches every one of its terms.
    pub(super) matches_itself: bool,
}

/// A term of required anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AntiAffinityTerm {
    pub(super) pods: PodQueryId,
    pub(super) key: Symbol,
}

/// Anti-affinity terms of existing pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExistingAntiAffinityTerms {
    /// The topology keys of the terms, each once.
    pub(super) keys: Box<[Symbol]>,
    /// The terms, each with the index of its key in `keys`.
    pub(super) terms: Box<[(TermId, usize)]>,
}

/// Terms that affect scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Preferences {
    /// The topology keys of all terms, each once.
    pub(super) keys: Box<[Symbol]>,
    /// The pod's preferred terms.
    pub(super) own: Box<[WeightedPods<PodQueryId>]>,
    /// Terms of other pods that match the pod.
    pub(super) others: Box<[WeightedPods<TermId>]>,
}

/// Pods that contribute to the scores of domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WeightedPods<P> {
    pub(super) pods: P,
    /// Index of the topology key in [`Preferences::keys`].
    pub(super) key: usize,
    /// Contribution of each pod, negative for anti-affinity.
    pub(super) weight: i64,
}

/// The namespace and labels of a pod, which terms select by.
#[derive(Clone, Debug)]
pub(super) struct PodIdentity {
    pub(super) namespace: Symbol,
    pub(super) labels: Labels,
}

impl InterPodAffinityPod {
    pub(super) fn new(
        args: &InterPodAffinityArgs,
        pod: &PodSpec,
        counts: &mut SelectorCounts,
        affinity_terms: &AffinityTerms,
    ) -> Self {
        let affinity = (!pod.affinity.required.is_empty()).then(|| {
            let pods = counts.register(query(&pod.affinity.required));
            let keys = pod.affinity.required.iter().map(|term| term.topology_key).collect();
            RequiredAffinity { pods, keys, matches_itself: counts.selects(pods, pod) }
        });
        let mut anti_affinity = |term: &PodAffinityTerm| {
            let pods = counts.register(query(std::slice::from_ref(term)));
            AntiAffinityTerm { pods, key: term.topology_key }
        };
        InterPodAffinityPod {
            affinity,
            anti_affinity: pod.affinity.anti_required.iter().map(&mut anti_affinity).collect(),
            existing_anti_affinity: ExistingAntiAffinityTerms::new(pod, affinity_terms),
            preferences: Preferences::new(args, pod, counts, affinity_terms),
            broken: pod.affinity.broken.clone(),
            identity: ExcludedFromSignature(PodIdentity { namespace: pod.namespace, labels: pod.labels.clone() }),
        }
    }

    /// Returns all topology keys in use, with repetitions.
    pub(super) fn keys(&self) -> impl Iterator<Item = Symbol> {
        let affinity = self.affinity.iter().flat_map(|affinity| &affinity.keys).copied();
        let anti_affinity = self.anti_affinity.iter().map(|term| term.key);
        affinity
            .chain(anti_affinity)
            .chain(self.existing_anti_affinity.keys.iter().copied())
            .chain(self.preferences.keys.iter().copied())
    }

    /// Returns whether the scores of nodes can differ.
    #[inline]
    pub(super) fn has_preferences(&self) -> bool {
        !self.preferences.keys.is_empty()
    }

    /// Returns whether no node can be rejected.
    #[inline]
    pub(super) fn has_no_requirements(&self) -> bool {
        self.affinity.is_none() && self.anti_affinity.is_empty() && self.existing_anti_affinity.terms.is_empty()
    }
}

impl ExistingAntiAffinityTerms {
    fn new(pod: &PodSpec, affinity_terms: &AffinityTerms) -> Self {
        let terms = affinity_terms.anti_required_matching(pod.namespace, &pod.labels);
        if terms.is_empty() {
            return ExistingAntiAffinityTerms::default();
        }
        let mut keys = Vec::new();
        let terms = terms
            .into_iter()
            .filter_map(|id| Some((id, key_index(&mut keys, affinity_terms.anti_required(id)?.key()))));
        let terms = terms.collect();
        ExistingAntiAffinityTerms { keys: keys.into(), terms }
    }
}

impl Preferences {
    fn new(
        args: &InterPodAffinityArgs,
        pod: &PodSpec,
        counts: &mut SelectorCounts,
        affinity_terms: &AffinityTerms,
    ) -> Self {
        let matching = match args.ignore_preferred_terms_of_existing_pods && !pod.affinity.has_preferences() {
            true => Vec::new(),
            false => affinity_terms.scored_matching(pod.namespace, &pod.labels),
        };
        if matching.is_empty() && !pod.affinity.has_preferences() {
            return Preferences::default();
        }
        let mut keys = Vec::new();
        let own = pod.affinity.preferred_by_weight().map(|(weight, term)| {
            let pods = counts.register(query(std::slice::from_ref(term)));
            WeightedPods { pods, key: key_index(&mut keys, term.topology_key), weight }
        });
        let own: Box<[_]> = own.collect();
        let others = matching.into_iter().filter_map(|pods| {
            let term = affinity_terms.scored(pods)?;
            let weight = match term.tag() {
                ScoredTermKind::Required if args.hard_pod_affinity_weight == 0 => return None,
                ScoredTermKind::Required => args.hard_pod_affinity_weight.into(),
                ScoredTermKind::Preferred(weight) => weight,
            };
            Some(WeightedPods { pods, key: key_index(&mut keys, term.key()), weight })
        });
        let others = others.collect();
        Preferences { keys: keys.into(), own, others }
    }
}

/// Returns the index of a topology key, and adds the key if needed.
fn key_index(keys: &mut Vec<Symbol>, key: Symbol) -> usize {
    keys.iter().position(|known| *known == key).unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    })
}

/// Returns the query for pods that match all terms of a new pod.
fn query(terms: &[PodAffinityTerm]) -> PodQuery {
    let terms = terms.iter().map(|term| PodTerm {
        namespaces: term.namespaces.clone(),
        namespace_selector: term.namespace_selector.as_ref().map(selected_namespaces),
        selector: term.selector.clone(),
    });
    PodQuery { terms: terms.collect(), terminating: true }
}

/// Returns the namespace selector of a query for a new pod's term. kube-scheduler also applies this selector to an
/// empty label set. Therefore a selector that matches an empty label set selects every namespace.
fn selected_namespaces(selector: &LabelSelector) -> LabelSelector {
    if selector.matches(&[]) { LabelSelector::default() } else { selector.clone() }
}
