//! What pods say about pods near them.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Namespace, NodeIndex, Object, Pod, PodAffinity, PodSpec};

mod affinity_groups;
mod term_table;

pub use term_table::{AffinityTermEntry, TermId};

use affinity_groups::{AffinityGroup, AffinityGroups};
use term_table::TermTable;

/// The distinct terms of pod affinity and anti-affinity that pods carry: those on nodes, each with the nodes that they are
/// on, and those that are waiting. A pod is compared with every term that its labels can match once, when it is compiled,
/// however many pods carry it.
///
/// What [`AffinityTerms::anti_required_matching`] and [`AffinityTerms::scored_matching`] return holds until
/// [`AffinityTerms::epoch`] is another one.
#[derive(Clone, Debug, Default)]
pub struct AffinityTerms {
    groups: AffinityGroups,
    anti_required: TermTable<()>,
    scored: TermTable<ScoredTermKind>,
    namespaces: Map<Symbol, Arc<Namespace>>,
    /// How often other labels of a namespace may have mattered.
    relabellings: u64,
}

/// What a carried term adds to the score of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScoredTermKind {
    /// Required affinity: as much as the profile's `hard-pod-affinity-weight` says.
    Required,
    /// A preferred term: its weight, negative for anti-affinity.
    Preferred(i64),
}

impl AffinityTerms {
    /// The required anti-affinity terms that match a pod, in an order of their own.
    pub fn anti_required_matching(&self, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> Vec<TermId> {
        self.anti_required.matching(namespace, labels, self.namespace_labels(namespace))
    }

    /// The required affinity terms and the preferred terms that match a pod, in an order of their own.
    pub fn scored_matching(&self, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> Vec<TermId> {
        self.scored.matching(namespace, labels, self.namespace_labels(namespace))
    }

    /// A required anti-affinity term, `None` if its time is over.
    #[inline]
    pub fn anti_required(&self, id: TermId) -> Option<&AffinityTermEntry<()>> {
        self.anti_required.get(id)
    }

    /// A required affinity term or a preferred term, `None` if its time is over.
    #[inline]
    pub fn scored(&self, id: TermId) -> Option<&AffinityTermEntry<ScoredTermKind>> {
        self.scored.get(id)
    }

    /// The required anti-affinity terms of a pod, `None` if nobody is known to say what it says.
    pub fn anti_required_of(&self, pod: &Arc<PodSpec>) -> Option<&[TermId]> {
        self.groups.find(pod).map(|group| &*group.anti_required)
    }

    /// Grows when other terms match than before: there is a new one, unused ones are forgotten, or a namespace has other
    /// labels.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.anti_required.epoch() + self.scored.epoch() + self.relabellings
    }

    /// The labels of a namespace, none if it is not known.
    pub fn namespace_labels(&self, namespace: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&namespace).map_or(&[], |namespace| &namespace.labels)
    }

    /// Takes in what a pod says that may come to a node.
    pub fn register(&mut self, affinity: &PodAffinity) {
        if !affinity.is_empty() && self.groups.id(affinity).is_none() {
            self.acquire(affinity);
        }
    }

    /// The number of those that say what the pod says.
    #[inline]
    fn group(&mut self, pod: &Arc<PodSpec>) -> usize {
        if let Some(id) = self.groups.recent(pod) {
            return id;
        }
        let id = self.groups.id(&pod.affinity).unwrap_or_else(|| self.acquire(&pod.affinity));
        self.groups.remember(pod, id);
        id
    }

    /// Takes in what nobody said before.
    #[cold]
    fn acquire(&mut self, affinity: &PodAffinity) -> usize {
        let AffinityTerms { groups, anti_required, scored, .. } = self;
        for evicted in groups.forget() {
            evicted.anti_required.into_iter().for_each(|id| anti_required.release(id));
            evicted.scored.into_iter().for_each(|id| scored.release(id));
        }
        let required = affinity.required.iter().map(|term| (ScoredTermKind::Required, term));
        let preferred = affinity.preferred_by_weight().map(|(weight, term)| (ScoredTermKind::Preferred(weight), term));
        // A term without a selector matches no pod.
        let selecting = required.chain(preferred).filter(|(_, term)| term.selector.is_some());
        let scored = selecting.map(|(kind, term)| scored.acquire(kind, term)).collect();
        let selecting = affinity.anti_required.iter().filter(|term| term.selector.is_some());
        let anti_required = selecting.map(|term| anti_required.acquire((), term)).collect();
        groups.insert(affinity, AffinityGroup { pods: 0, anti_required, scored })
    }

    /// A pod comes to a node or leaves it.
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

    /// What a pod says that may be nominated has to be known when others are compiled.
    fn set_pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        if let Some(new) = new.filter(|new| !new.spec.affinity.is_empty()) {
            let id = self.group(&new.spec);
            self.groups.count(id, true);
        }
        if let Some(old) = old.filter(|old| !old.spec.affinity.is_empty()) {
            let id = self.group(&old.spec);
            self.groups.count(id, false);
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
