//! Distinct terms with the nodes that they are carried on.

use std::hash::Hash;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Operator, PodAffinityTerm};

use crate::indexes::NodeCounts;

/// A term of a [`TermTable`]. Those of terms that nobody uses any more are given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TermId(u32);

/// Terms, each with what it counts as. Two terms that count differently are different.
#[derive(Clone, Debug)]
pub(super) struct TermTable<T> {
    entries: Vec<Option<Entry<T>>>,
    free: Vec<TermId>,
    ids: Map<(T, PodAffinityTerm), TermId>,
    /// Terms that match only pods with one of these labels.
    by_label: Map<(Symbol, Symbol), Vec<TermId>>,
    /// The others.
    by_no_label: Vec<TermId>,
}

/// A term and where it is carried.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) tag: T,
    pub(super) term: PodAffinityTerm,
    /// How often it is in lists of terms.
    users: u32,
    /// The nodes that it is carried on, and how often.
    pub(super) nodes: NodeCounts,
}

impl<T> Default for TermTable<T> {
    fn default() -> Self {
        TermTable {
            entries: Vec::new(),
            free: Vec::new(),
            ids: Map::default(),
            by_label: Map::default(),
            by_no_label: Vec::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> TermTable<T> {
    /// The term's id, for another user of it.
    pub(super) fn acquire(&mut self, tag: T, term: &PodAffinityTerm) -> TermId {
        let wanted = (tag, term.clone());
        if let Some(&id) = self.ids.get(&wanted) {
            if let Some(entry) = &mut self.entries[id.0 as usize] {
                entry.users += 1;
            }
            return id;
        }
        let entry = Entry { tag, term: term.clone(), users: 1, nodes: NodeCounts::default() };
        let id = self.free.pop().unwrap_or(TermId(self.entries.len() as u32));
        if id.0 as usize == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[id.0 as usize] = Some(entry);
        match needed_labels(term) {
            Some(labels) => labels.into_iter().for_each(|label| self.by_label.entry(label).or_default().push(id)),
            None => self.by_no_label.push(id),
        }
        self.ids.insert(wanted, id);
        id
    }

    /// A user of the term is gone; with the last one, the term.
    pub(super) fn release(&mut self, id: TermId) {
        let slot = &mut self.entries[id.0 as usize];
        let Some(entry) = slot else { return };
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let Some(entry) = slot.take() else { return };
        self.free.push(id);
        for label in needed_labels(&entry.term).unwrap_or_default() {
            if let Some(ids) = self.by_label.get_mut(&label) {
                ids.retain(|&other| other != id);
                if ids.is_empty() {
                    self.by_label.remove(&label);
                }
            }
        }
        self.by_no_label.retain(|&other| other != id);
        self.ids.remove(&(entry.tag, entry.term));
    }

    /// A pod with the term comes to a node.
    pub(super) fn add(&mut self, id: TermId, node: NodeIndex) {
        if let Some(entry) = &mut self.entries[id.0 as usize] {
            entry.nodes.add(node, 1);
        }
    }

    /// A pod with the term leaves a node.
    pub(super) fn remove(&mut self, id: TermId, node: NodeIndex) {
        if let Some(entry) = &mut self.entries[id.0 as usize] {
            entry.nodes.subtract(node, 1);
        }
    }

    /// The terms that pods with these labels may match.
    pub(super) fn candidates<'a>(&'a self, labels: &'a [(Symbol, Symbol)]) -> impl Iterator<Item = &'a Entry<T>> {
        let labels = if self.by_label.is_empty() { &[] } else { labels };
        let by_label = labels.iter().filter_map(|label| self.by_label.get(label)).flatten();
        by_label.chain(&self.by_no_label).filter_map(|id| self.entries[id.0 as usize].as_ref())
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter().flatten()
    }
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
