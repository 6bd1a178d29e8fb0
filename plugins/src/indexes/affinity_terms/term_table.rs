//! Distinct terms with the nodes of their pods.

use std::hash::Hash;

use schedc_core::change_log::ChangeLog;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Operator, PodAffinityTerm};

use crate::indexes::NodeCounts;

/// Id of a term. An id is never used for another term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId {
    slot: u32,
    /// Number of terms forgotten before this one was added.
    generation: u32,
}

/// Terms with their tags, such as `ScoredTermKind`. Equal terms with different tags are different entries.
#[derive(Clone, Debug)]
pub(super) struct TermTable<T> {
    entries: Vec<Option<AffinityTermEntry<T>>>,
    free: Vec<u32>,
    generation: u32,
    ids: Map<(T, PodAffinityTerm), TermId>,
    /// Terms that match only pods with one of a few labels, listed for each of these labels.
    by_label: Map<(Symbol, Symbol), Vec<TermId>>,
    /// All other terms: pods with any labels may match them.
    by_no_label: Vec<TermId>,
    /// Number of terms with a namespace selector.
    selecting_namespaces: usize,
    /// Number of additions and removals of terms.
    epoch: u64,
}

/// A term and the nodes of its pods.
#[derive(Clone, Debug)]
pub struct AffinityTermEntry<T> {
    tag: T,
    term: PodAffinityTerm,
    generation: u32,
    /// Number of uses in affinity groups.
    users: u32,
    nodes: NodeCounts,
    log: ChangeLog<(NodeIndex, i32)>,
}

impl<T: Copy> AffinityTermEntry<T> {
    /// Returns the term's tag.
    pub fn tag(&self) -> T {
        self.tag
    }
    /// Returns the topology key.
    pub fn key(&self) -> Symbol {
        self.term.topology_key
    }
    /// Returns the nodes of the term's pods, each with the number of these pods.
    pub fn nodes(&self) -> &NodeCounts {
        &self.nodes
    }
    /// Returns the changes of the numbers of pods: a pod was added to a node (1) or removed from it (-1).
    #[inline]
    pub fn log(&self) -> &ChangeLog<(NodeIndex, i32)> {
        &self.log
    }
}

impl<T> Default for TermTable<T> {
    fn default() -> Self {
        TermTable {
            entries: Vec::new(),
            free: Vec::new(),
            generation: 0,
            ids: Map::default(),
            by_label: Map::default(),
            by_no_label: Vec::new(),
            selecting_namespaces: 0,
            epoch: 0,
        }
    }
}

impl<T: Copy + Eq + Hash> TermTable<T> {
    /// Returns the term's id, and counts another user.
    pub(super) fn acquire(&mut self, tag: T, term: &PodAffinityTerm) -> TermId {
        let wanted = (tag, term.clone());
        if let Some(&id) = self.ids.get(&wanted) {
            if let Some(entry) = self.get_mut(id) {
                entry.users += 1;
            }
            return id;
        }
        let generation = self.generation;
        let (mut nodes, mut log) = (NodeCounts::default(), ChangeLog::default());
        // Most terms are added with a pending pod. The decision that places the pod then allocates no memory for them.
        nodes.reserve_first();
        log.reserve_first();
        let entry = AffinityTermEntry { tag, term: term.clone(), generation, users: 1, nodes, log };
        let slot = self.free.pop().unwrap_or(self.entries.len() as u32);
        if slot as usize == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[slot as usize] = Some(entry);
        let id = TermId { slot, generation };
        match needed_labels(term) {
            Some(labels) => labels.into_iter().for_each(|label| self.by_label.entry(label).or_default().push(id)),
            None => self.by_no_label.push(id),
        }
        self.selecting_namespaces += usize::from(selects_namespaces(term));
        self.ids.insert(wanted, id);
        self.epoch += 1;
        id
    }

    /// Removes a user of the term, and the term after its last user.
    pub(super) fn release(&mut self, id: TermId) {
        let Some(entry) = self.get_mut(id) else { return };
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let Some(entry) = self.entries[id.slot as usize].take() else { return };
        self.free.push(id.slot);
        self.generation += 1;
        self.epoch += 1;
        for label in needed_labels(&entry.term).unwrap_or_default() {
            if let Some(ids) = self.by_label.get_mut(&label) {
                ids.retain(|&other| other != id);
                if ids.is_empty() {
                    self.by_label.remove(&label);
                }
            }
        }
        self.by_no_label.retain(|&other| other != id);
        self.selecting_namespaces -= usize::from(selects_namespaces(&entry.term));
        self.ids.remove(&(entry.tag, entry.term));
    }

    /// Counts a pod with the term that is added to a node or removed from it.
    #[inline]
    pub(super) fn count(&mut self, id: TermId, node: NodeIndex, added: bool) {
        let Some(entry) = self.get_mut(id) else { return };
        if added {
            entry.nodes.add(node, 1);
        } else {
            entry.nodes.subtract(node, 1);
        }
        entry.log.push((node, if added { 1 } else { -1 }));
    }

    #[inline]
    pub(super) fn get(&self, id: TermId) -> Option<&AffinityTermEntry<T>> {
        self.entries.get(id.slot as usize)?.as_ref().filter(|entry| entry.generation == id.generation)
    }

    #[inline]
    fn get_mut(&mut self, id: TermId) -> Option<&mut AffinityTermEntry<T>> {
        self.entries.get_mut(id.slot as usize)?.as_mut().filter(|entry| entry.generation == id.generation)
    }

    /// Returns the terms that match a pod, sorted by id. `of_namespace`: labels of the pod's namespace.
    pub(super) fn matching(
        &self,
        namespace: Symbol,
        labels: &[(Symbol, Symbol)],
        of_namespace: &[(Symbol, Symbol)],
    ) -> Vec<TermId> {
        if self.by_label.is_empty() && self.by_no_label.is_empty() {
            return Vec::new();
        }
        let labels_that_matter = if self.by_label.is_empty() { &[] } else { labels };
        let by_label = labels_that_matter.iter().filter_map(|label| self.by_label.get(label)).flatten();
        let mut matching: Vec<TermId> = by_label
            .chain(&self.by_no_label)
            .filter(|id| self.get(**id).is_some_and(|entry| entry.term.matches(namespace, labels, of_namespace)))
            .copied()
            .collect();
        matching.sort_unstable();
        matching
    }

    /// Returns a number that grows when a term is added or removed.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether a term has a namespace selector.
    pub(super) fn selects_namespaces(&self) -> bool {
        self.selecting_namespaces > 0
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = &AffinityTermEntry<T>> {
        self.entries.iter().flatten()
    }
}

fn selects_namespaces(term: &PodAffinityTerm) -> bool {
    term.namespace_selector.as_ref().is_some_and(|selector| !selector.is_empty())
}

/// Returns labels of which a matching pod must have one, if the term has such a condition.
fn needed_labels(term: &PodAffinityTerm) -> Option<Vec<(Symbol, Symbol)>> {
    let conditions = &term.selector.as_ref()?.requirements;
    let listed = conditions.iter().find(|condition| condition.operator == Operator::In)?;
    let mut labels: Vec<_> = listed.values.iter().map(|&value| (listed.key, value)).collect();
    labels.sort_unstable();
    labels.dedup();
    Some(labels)
}
