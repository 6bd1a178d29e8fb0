//! Pod affinity and anti-affinity terms of all pods.

use std::sync::Arc;

use schedc_core::column::{CacheSize, Index};
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Namespace, NodeIndex, Object, Pod, PodAffinity, PodSpec};

mod affinity_groups;
mod term_table;

pub use term_table::{AffinityTermEntry, TermId};

use affinity_groups::{AffinityGroup, AffinityGroups};
use term_table::TermTable;

/// The distinct pod affinity and anti-affinity terms of all pods, on nodes and pending. Each term has the nodes of its
/// pods. A pod is compared once, when it is compiled, with every term that can match its labels; the cost does not
/// depend on the number of pods with a term.
///
/// The results of `anti_required_matching` and `scored_matching` are valid
/// until [`AffinityTerms::epoch`] changes.
#[derive(Clone, Debug, Default)]
pub struct AffinityTerms {
    groups: AffinityGroups,
    anti_required: TermTable<()>,
    scored: TermTable<ScoredTermKind>,
    namespaces: Map<Symbol, Arc<Namespace>>,
    /// Number of namespace label changes that may have changed matches.
    relabellings: u64,
}

/// Contribution of a term to the score of a topology domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScoredTermKind {
    /// Required affinity: the profile's `hard-pod-affinity-weight`.
    Required,
    /// A preferred term: its weight, negative for anti-affinity.
    Preferred(i64),
}

impl AffinityTerms {
    /// Returns the required anti-affinity terms that match a pod, in an internal order.
    pub(crate) fn anti_required_matching(&self, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> Vec<TermId> {
        self.anti_required.matching(namespace, labels, self.namespace_labels(namespace))
    }

    /// Returns the required affinity terms and the preferred terms that match a pod, in an internal order.
    pub(crate) fn scored_matching(&self, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> Vec<TermId> {
        self.scored.matching(namespace, labels, self.namespace_labels(namespace))
    }

    /// Returns a required anti-affinity term, `None` if it was forgotten.
    #[inline]
    pub fn anti_required(&self, id: TermId) -> Option<&AffinityTermEntry<()>> {
        self.anti_required.get(id)
    }

    /// Returns a required affinity term or a preferred term, `None` if it was forgotten.
    #[inline]
    pub fn scored(&self, id: TermId) -> Option<&AffinityTermEntry<ScoredTermKind>> {
        self.scored.get(id)
    }

    /// Returns the required anti-affinity terms of a pod, `None` if its affinity is not registered.
    pub(crate) fn anti_required_of(&self, pod: &Arc<PodSpec>) -> Option<&[TermId]> {
        self.groups.find(pod).map(|group| &*group.anti_required)
    }

    /// Returns a number that grows when the matches can change: a term is added, unused terms are forgotten, or the
    /// labels of a namespace change.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.anti_required.epoch() + self.scored.epoch() + self.relabellings
    }

    /// Returns the labels of a namespace; empty if the namespace is unknown.
    pub fn namespace_labels(&self, namespace: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&namespace).map_or(&[], |namespace| &namespace.labels)
    }

    /// Registers the affinity of a pod that may be placed on a node.
    pub fn register(&mut self, affinity: &PodAffinity) {
        if !affinity.is_empty() && self.groups.id(affinity).is_none() {
            self.acquire(affinity);
        }
    }

    /// Returns the id of the pod's affinity group.
    #[inline]
    fn group(&mut self, pod: &Arc<PodSpec>) -> usize {
        if let Some(id) = self.groups.recent(pod) {
            return id;
        }
        let id = self.groups.id(&pod.affinity).unwrap_or_else(|| self.acquire(&pod.affinity));
        self.groups.remember(pod, id);
        id
    }

    /// Removes groups without pods, if there are too many.
    fn forget_unused(&mut self) {
        for evicted in self.groups.forget() {
            evicted.anti_required.into_iter().for_each(|id| self.anti_required.release(id));
            evicted.scored.into_iter().for_each(|id| self.scored.release(id));
        }
    }

    /// Registers an unknown affinity.
    #[cold]
    fn acquire(&mut self, affinity: &PodAffinity) -> usize {
        self.forget_unused();
        let AffinityTerms { groups, anti_required, scored, .. } = self;
        let required = affinity.required.iter().map(|term| (ScoredTermKind::Required, term));
        let preferred = affinity.preferred_by_weight().map(|(weight, term)| (ScoredTermKind::Preferred(weight), term));
        // A term without a selector matches no pod.
        let selecting = required.chain(preferred).filter(|(_, term)| term.selector.is_some());
        let scored = selecting.map(|(kind, term)| scored.acquire(kind, term)).collect();
        let selecting = affinity.anti_required.iter().filter(|term| term.selector.is_some());
        let anti_required = selecting.map(|term| anti_required.acquire((), term)).collect();
        groups.insert(affinity, AffinityGroup { pods: 0, anti_required, scored })
    }

    /// Counts a pod that is added to a node or removed from it.
    fn count(&mut self, node: NodeIndex, pod: &Pod, added: bool) {
        let id = self.group(&pod.spec);
        let group = self.groups.count(id, added);
        for &id in group.into_iter().flat_map(|group| &group.anti_required) {
            self.anti_required.count(id, node, added);
        }
        for &id in group.into_iter().flat_map(|group| &group.scored) {
            self.scored.count(id, node, added);
        }
    }
}

impl Index for AffinityTerms {
    fn cache_sizes(&self) -> Vec<CacheSize> {
        let terms = self.anti_required.len() + self.scored.len();
        vec![self.groups.cache_size(), CacheSize::of_objects("affinity_terms", terms)]
    }
    #[inline]
    fn add_pod(&mut self, node: NodeIndex, pod: &Pod) {
        if !pod.spec.affinity.is_empty() {
            self.count(node, pod, true);
        }
    }

    #[inline]
    fn remove_pod(&mut self, node: NodeIndex, pod: &Pod) {
        if !pod.spec.affinity.is_empty() {
            self.count(node, pod, false);
        }
    }

    /// Registers the affinity of a pending pod. The compilation of other pods reads it, because the pod may be
    /// nominated.
    fn set_pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        if let Some(new) = new.filter(|new| !new.spec.affinity.is_empty()) {
            let id = self.group(&new.spec);
            self.groups.count(id, true);
        }
        if let Some(old) = old.filter(|old| !old.spec.affinity.is_empty()) {
            let id = self.group(&old.spec);
            self.groups.count(id, false);
            // Registrations also forget unused groups, but after a burst of pods, there are possibly no further
            // registrations.
            self.forget_unused();
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let Some(Object::Namespace(namespace)) = new.or(old) else { return };
        let name = namespace.name;
        let old = match new {
            Some(Object::Namespace(new)) => self.namespaces.insert(name, new.clone()),
            _ => self.namespaces.remove(&name),
        };
        let selects_by_labels = self.anti_required.selects_namespaces() || self.scored.selects_namespaces();
        if selects_by_labels && old.as_ref().map_or(&[][..], |old| &old.labels) != self.namespace_labels(name) {
            self.relabellings += 1;
        }
    }
}

#[cfg(test)]
mod tests;
