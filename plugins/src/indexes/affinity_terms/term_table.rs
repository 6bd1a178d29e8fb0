//! Distinct terms with the nodes that they are carried on.

use std::hash::Hash;

use schedc_core::change_log::ChangeLog;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Operator, PodAffinityTerm};

use crate::indexes::NodeCounts;

/// A term that pods carry. It never comes to mean another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId {
    slot: u32,
    /// How many terms were forgotten before this one came.
    generation: u32,
}

/// Terms, each with what it counts as. Two terms that count differently are different.
#[derive(Clone, Debug)]
pub(super) struct TermTable<T> {
    entries: Vec<Option<AffinityTermEntry<T>>>,
    free: Vec<u32>,
    generation: u32,
    ids: Map<(T, PodAffinityTerm), TermId>,
    /// Terms that match only pods with one of these labels.
    by_label: Map<(Symbol, Symbol), Vec<TermId>>,
    /// The others.
    by_no_label: Vec<TermId>,
    /// How many look at labels of namespaces.
    selecting_namespaces: usize,
    /// How many terms ever came and went.
    epoch: u64,
}

/// A term and where it is carried.
#[derive(Clone, Debug)]
pub struct AffinityTermEntry<T> {
    tag: T,
    term: PodAffinityTerm,
    generation: u32,
    /// How often it is in lists of terms.
    users: u32,
    nodes: NodeCounts,
    log: ChangeLog<(NodeIndex, i32)>,
}

impl<T: Copy> AffinityTermEntry<T> {
    /// What it counts as.
    pub fn tag(&self) -> T {
        self.tag
    }
    /// Its topology key.
    pub fn key(&self) -> Symbol {
        self.term.topology_key
    }
    /// The nodes that it is carried on, and how often.
    pub fn nodes(&self) -> &NodeCounts {
        &self.nodes
    }
    /// What has happened to them: it came to a node with a pod (1) or left it (-1).
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
    /// The term's id, for another user of it.
    pub(super) fn acquire(&mut self, tag: T, term: &PodAffinityTerm) -> TermId {
        let wanted = (tag, term.clone());
        if let Some(&id) = self.ids.get(&wanted) {
            if let Some(entry) = self.get_mut(id) {
                entry.users += 1;
            }
            return id;
        }
        let generation = self.generation;
        let (nodes, log) = (NodeCounts::default(), ChangeLog::default());
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

    /// A user of the term is gone; with the last one, the term.
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

    /// A pod with the term comes to a node or leaves it.
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

    /// The terms that mean a pod, sorted.
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

    /// Grows with each term that comes or goes.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether there is a term that looks at labels of namespaces.
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

/// Labels of which a pod must have one to match, if there is such a condition.
fn needed_labels(term: &PodAffinityTerm) -> Option<Vec<(Symbol, Symbol)>> {
    let conditions = &term.selector.as_ref()?.requirements;
    let listed = conditions.iter().find(|condition| condition.operator == Operator::In)?;
    let mut labels: Vec<_> = listed.values.iter().map(|&value| (listed.key, value)).collect();
    labels.sort_unstable();
    labels.dedup();
    Some(labels)
}
