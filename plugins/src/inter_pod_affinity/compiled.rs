//! What a pod says about the pods near it, and what others say about it.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::incremental::ExcludedFromSignature;
use schedc_core::model::{LabelSelector, Labels, PodAffinityTerm, PodSpec};

use super::InterPodAffinityArgs;
use crate::indexes::{CarriedTerms, PodQuestion, PodTerm, QuestionId, SelectorCounts, Stance, TermId};

/// What a pod says about the pods near it, and what others say about it. Pods of which the same is said are alike, whatever
/// their labels and namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InterPodAffinityPod {
    /// Required affinity.
    pub(super) near: Option<Near>,
    /// Required anti-affinity.
    pub(super) apart: Box<[Apart]>,
    /// Required anti-affinity of others that matches the pod.
    pub(super) against: Against,
    /// What counts for scores.
    pub(super) liking: Liking,
    pub(super) broken: Option<Arc<str>>,
    /// What terms are compared with that nobody was known to carry.
    pub(super) itself: ExcludedFromSignature<Itself>,
}

/// Required affinity: pods that match every term must be in one place with the node, for each of the topology keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Near {
    pub(super) pods: QuestionId,
    pub(super) keys: Box<[Symbol]>,
    /// Whether the pod matches every term itself.
    pub(super) matches_itself: bool,
}

/// A term of required anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Apart {
    pub(super) pods: QuestionId,
    pub(super) key: Symbol,
}

/// Anti-affinity terms that others carry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Against {
    /// Their topology keys, each once.
    pub(super) keys: Box<[Symbol]>,
    /// Each with the number of its key.
    pub(super) terms: Box<[(TermId, usize)]>,
}

/// What counts for scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Liking {
    /// The topology keys of all terms, each once.
    pub(super) keys: Box<[Symbol]>,
    /// The pod's preferred terms.
    pub(super) own: Box<[Weighed<QuestionId>]>,
    /// Terms of others that match the pod.
    pub(super) others: Box<[Weighed<TermId>]>,
}

/// Pods that add to the scores of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Weighed<P> {
    pub(super) pods: P,
    /// The number of its topology key.
    pub(super) key: usize,
    /// What each pod adds, negative for anti-affinity.
    pub(super) weight: i64,
}

/// A pod as terms see it.
#[derive(Clone, Debug)]
pub(super) struct Itself {
    pub(super) namespace: Symbol,
    pub(super) labels: Labels,
}

impl InterPodAffinityPod {
    pub(super) fn new(
        args: &InterPodAffinityArgs,
        pod: &PodSpec,
        counts: &mut SelectorCounts,
        carried: &CarriedTerms,
    ) -> Self {
        if pod.affinity.is_empty() {
            return InterPodAffinityPod {
                near: None,
                apart: Box::default(),
                against: Against::new(pod, carried),
                liking: Liking::new(args, pod, counts, carried),
                broken: pod.affinity.broken.clone(),
                itself: ExcludedFromSignature(Itself { namespace: pod.namespace, labels: pod.labels.clone() }),
            };
        }
        let near = (!pod.affinity.required.is_empty()).then(|| {
            let pods = counts.register(question(&pod.affinity.required));
            let keys = pod.affinity.required.iter().map(|term| term.topology_key).collect();
            Near { pods, keys, matches_itself: counts.selects(pods, pod) }
        });
        let mut apart = |term: &PodAffinityTerm| {
            let pods = counts.register(question(std::slice::from_ref(term)));
            Apart { pods, key: term.topology_key }
        };
        InterPodAffinityPod {
            near,
            apart: pod.affinity.anti_required.iter().map(&mut apart).collect(),
            against: Against::new(pod, carried),
            liking: Liking::new(args, pod, counts, carried),
            broken: pod.affinity.broken.clone(),
            itself: ExcludedFromSignature(Itself { namespace: pod.namespace, labels: pod.labels.clone() }),
        }
    }

    /// All topology keys that matter, with repetitions.
    pub(super) fn keys(&self) -> impl Iterator<Item = Symbol> {
        let near = self.near.iter().flat_map(|near| &near.keys).copied();
        let apart = self.apart.iter().map(|term| term.key);
        near.chain(apart).chain(self.against.keys.iter().copied()).chain(self.liking.keys.iter().copied())
    }

    /// Whether a node may be better than others.
    #[inline]
    pub(super) fn prefers(&self) -> bool {
        !self.liking.keys.is_empty()
    }

    /// Whether no node is rejected, whatever pods there are.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.near.is_none() && self.apart.is_empty() && self.against.terms.is_empty()
    }
}

impl Against {
    fn new(pod: &PodSpec, carried: &CarriedTerms) -> Self {
        let terms = carried.anti_required_matching(pod.namespace, &pod.labels);
        if terms.is_empty() {
            return Against::default();
        }
        let mut keys = Vec::new();
        let terms = terms.into_iter().filter_map(|id| Some((id, number(&mut keys, carried.anti_required(id)?.key()))));
        let terms = terms.collect();
        Against { keys: keys.into(), terms }
    }
}

impl Liking {
    fn new(args: &InterPodAffinityArgs, pod: &PodSpec, counts: &mut SelectorCounts, carried: &CarriedTerms) -> Self {
        let matching = match args.ignore_preferred_terms_of_existing_pods && !pod.affinity.prefers() {
            true => Vec::new(),
            false => carried.scored_matching(pod.namespace, &pod.labels),
        };
        if matching.is_empty() && !pod.affinity.prefers() {
            return Liking::default();
        }
        let mut keys = Vec::new();
        let own = pod.affinity.preferred_by_weight().map(|(weight, term)| {
            let pods = counts.register(question(std::slice::from_ref(term)));
            Weighed { pods, key: number(&mut keys, term.topology_key), weight }
        });
        let own: Box<[_]> = own.collect();
        let others = matching.into_iter().filter_map(|pods| {
            let term = carried.scored(pods)?;
            let weight = match term.tag() {
                Stance::Required if args.hard_pod_affinity_weight == 0 => return None,
                Stance::Required => args.hard_pod_affinity_weight.into(),
                Stance::Preferred(weight) => weight,
            };
            Some(Weighed { pods, key: number(&mut keys, term.key()), weight })
        });
        let others = others.collect();
        Liking { keys: keys.into(), own, others }
    }
}

/// The number of a topology key, new if it has none yet.
fn number(keys: &mut Vec<Symbol>, key: Symbol) -> usize {
    keys.iter().position(|known| *known == key).unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    })
}

/// Which pods match all of a new pod's terms.
fn question(terms: &[PodAffinityTerm]) -> PodQuestion {
    let terms = terms.iter().map(|term| PodTerm {
        namespaces: term.namespaces.clone(),
        namespace_selector: term.namespace_selector.as_ref().map(selected_namespaces),
        selector: term.selector.clone(),
    });
    PodQuestion { terms: terms.collect(), terminating: true }
}

/// A new pod's selector of namespaces means those that are known and match. kube-scheduler then tries it on no labels as
/// well, so that a selector which those satisfy means every namespace.
fn selected_namespaces(selector: &LabelSelector) -> LabelSelector {
    if selector.matches(&[]) { LabelSelector::default() } else { selector.clone() }
}
