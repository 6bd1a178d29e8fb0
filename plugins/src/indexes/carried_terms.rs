//! What the pods on nodes say about pods near them.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::{Map, Set};
use schedc_core::model::{Namespace, NodeIndex, Object, Pod, PodAffinity};

use super::NodeCounts;

mod term_table;

use term_table::{TermId, TermTable};

/// The distinct terms of pod affinity and anti-affinity that pods on nodes carry, each with the nodes that they are on.
/// A new pod is compared once with every term that its labels can match, however many pods carry it.
#[derive(Clone, Debug, Default)]
pub struct CarriedTerms {
    /// Pods of one template say the same: looked up once for all their terms.
    bearers: Map<PodAffinity, Bearers>,
    anti_required: TermTable<()>,
    scored: TermTable<Stance>,
    /// The topology keys of all terms, and how many lists of terms have them.
    keys: Map<Symbol, u32>,
    /// Those that there ever were.
    seen_keys: Set<Symbol>,
    namespaces: Map<Symbol, Arc<Namespace>>,
}

/// What a carried term adds to the score of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stance {
    /// Required affinity: as much as the profile's `hard-pod-affinity-weight` says.
    Required,
    /// A preferred term: its weight, negative for anti-affinity.
    Preferred(i64),
}

/// A carried term that matches a pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedTerm<'a, T> {
    /// What it counts as.
    pub tag: T,
    /// Its topology key.
    pub key: Symbol,
    /// The nodes where pods carry it, and how often.
    pub nodes: &'a NodeCounts,
}

/// Pods that say the same.
#[derive(Clone, Debug)]
struct Bearers {
    pods: u32,
    anti_required: Box<[TermId]>,
    scored: Box<[TermId]>,
}

impl CarriedTerms {
    /// The required anti-affinity terms that match a pod.
    pub fn anti_required<'a>(
        &'a self,
        namespace: Symbol,
        labels: &'a [(Symbol, Symbol)],
    ) -> impl Iterator<Item = CarriedTerm<'a, ()>> {
        self.matching(&self.anti_required, namespace, labels)
    }

    /// The required affinity terms and the preferred terms that match a pod.
    pub fn scored<'a>(
        &'a self,
        namespace: Symbol,
        labels: &'a [(Symbol, Symbol)],
    ) -> impl Iterator<Item = CarriedTerm<'a, Stance>> {
        self.matching(&self.scored, namespace, labels)
    }

    /// The topology keys of all carried terms.
    pub fn topology_keys(&self) -> impl Iterator<Item = Symbol> {
        self.keys.keys().copied()
    }

    /// Grows with each topology key that is new.
    pub fn epoch(&self) -> u64 {
        self.seen_keys.len() as u64
    }

    /// The labels of a namespace, none if it is not known.
    pub fn namespace_labels(&self, namespace: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&namespace).map_or(&[], |namespace| &namespace.labels)
    }

    fn matching<'a, T: Copy + Eq + std::hash::Hash>(
        &'a self,
        table: &'a TermTable<T>,
        namespace: Symbol,
        labels: &'a [(Symbol, Symbol)],
    ) -> impl Iterator<Item = CarriedTerm<'a, T>> {
        let of_namespace = self.namespace_labels(namespace);
        table
            .candidates(labels)
            .filter(move |entry| entry.term.matches(namespace, labels, of_namespace))
            .map(|entry| CarriedTerm { tag: entry.tag, key: entry.term.topology_key, nodes: &entry.nodes })
    }

    /// Takes in what pods say that nobody said before.
    fn acquire(&mut self, affinity: &PodAffinity) -> Bearers {
        for key in topology_keys(affinity) {
            *self.keys.entry(key).or_default() += 1;
            self.seen_keys.insert(key);
        }
        let required = affinity.required.iter().map(|term| (Stance::Required, term));
        let preferred = affinity.preferred_by_weight().map(|(weight, term)| (Stance::Preferred(weight), term));
        // A term without a selector matches no pod.
        let scored = required.chain(preferred).filter(|(_, term)| term.selector.is_some());
        let scored = scored.map(|(stance, term)| self.scored.acquire(stance, term)).collect();
        let anti_required = affinity.anti_required.iter().filter(|term| term.selector.is_some());
        let anti_required = anti_required.map(|term| self.anti_required.acquire((), term)).collect();
        Bearers { pods: 0, anti_required, scored }
    }

    /// Forgets what no pod says any more.
    fn release(&mut self, affinity: &PodAffinity) {
        let Some(bearers) = self.bearers.remove(affinity) else { return };
        bearers.anti_required.into_iter().for_each(|id| self.anti_required.release(id));
        bearers.scored.into_iter().for_each(|id| self.scored.release(id));
        for key in topology_keys(affinity) {
            if let Some(users) = self.keys.get_mut(&key) {
                *users -= 1;
                if *users == 0 {
                    self.keys.remove(&key);
                }
            }
        }
    }
}

/// The topology keys of all terms, with repetitions.
fn topology_keys(affinity: &PodAffinity) -> impl Iterator<Item = Symbol> {
    let required = affinity.required.iter().chain(&affinity.anti_required);
    let preferred = affinity.preferred.iter().chain(&affinity.anti_preferred).map(|preferred| &preferred.term);
    required.chain(preferred).map(|term| term.topology_key)
}

impl Index for CarriedTerms {
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        let affinity = &pod.spec.affinity;
        if affinity.is_empty() {
            return;
        }
        if !self.bearers.contains_key(affinity) {
            let bearers = self.acquire(affinity);
            self.bearers.insert(affinity.clone(), bearers);
        }
        let Some(bearers) = self.bearers.get_mut(affinity) else { return };
        bearers.pods += 1;
        bearers.anti_required.iter().for_each(|&id| self.anti_required.add(id, index));
        bearers.scored.iter().for_each(|&id| self.scored.add(id, index));
    }

    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        let affinity = &pod.spec.affinity;
        if affinity.is_empty() {
            return;
        }
        let Some(bearers) = self.bearers.get_mut(affinity) else { return };
        bearers.pods -= 1;
        bearers.anti_required.iter().for_each(|&id| self.anti_required.remove(id, index));
        bearers.scored.iter().for_each(|&id| self.scored.remove(id, index));
        if bearers.pods == 0 {
            self.release(affinity);
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(Object::Namespace(gone)) = old {
            self.namespaces.remove(&gone.name);
        }
        if let Some(Object::Namespace(namespace)) = new {
            self.namespaces.insert(namespace.name, namespace.clone());
        }
    }
}

#[cfg(test)]
mod tests;
