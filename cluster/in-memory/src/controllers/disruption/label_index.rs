//! Pods and budgets of a namespace by label. The index finds the few budgets that a change of a pod concerns, and the
//! few pods of a new budget, among thousands of pods and hundreds of budgets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::Labels;

/// A label: key and value.
pub(super) type Label = (Symbol, Symbol);

/// Names of pods and budgets.
type Names = BTreeSet<Arc<str>>;

/// Pods by their labels, and budgets by a label that they require.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelIndex {
    pods: BTreeMap<Arc<str>, Labels>,
    pods_by_label: Map<Label, Names>,
    budgets_by_label: Map<Label, Names>,
    /// Budgets that require no label.
    other_budgets: Names,
}

impl LabelIndex {
    /// Records the labels of a pod; `None`: the pod no longer exists. Returns the budgets that may select the pod with
    /// its new or previous labels.
    pub(super) fn set_pod(&mut self, name: &str, labels: Option<Labels>) -> Names {
        let before = match &labels {
            Some(labels) => self.pods.insert(name.into(), labels.clone()),
            None => self.pods.remove(name),
        };
        if before != labels {
            for label in before.iter().flat_map(|labels| labels.iter()) {
                remove(&mut self.pods_by_label, *label, name);
            }
            for label in labels.iter().flat_map(|labels| labels.iter()) {
                self.pods_by_label.entry(*label).or_default().insert(name.into());
            }
        }
        let all = before.iter().chain(&labels).flat_map(|labels| labels.iter());
        let mut concerned: Names = self.other_budgets.clone();
        concerned.extend(all.filter_map(|label| self.budgets_by_label.get(label)).flatten().cloned());
        concerned
    }

    /// Returns the symbols of the labels of all pods, some of them repeatedly.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.pods.values().flat_map(|labels| labels.iter()).flat_map(|&(key, value)| [key, value])
    }

    /// Adds a budget, with a label that it requires, if any.
    pub(super) fn add_budget(&mut self, name: &Arc<str>, required: Option<Label>) {
        let budgets = match required {
            Some(label) => self.budgets_by_label.entry(label).or_default(),
            None => &mut self.other_budgets,
        };
        budgets.insert(name.clone());
    }

    pub(super) fn remove_budget(&mut self, name: &str, required: Option<Label>) {
        match required {
            Some(label) => remove(&mut self.budgets_by_label, label, name),
            None => _ = self.other_budgets.remove(name),
        }
    }

    /// Returns the names of the pods that a budget may select, sorted.
    pub(super) fn pods(&self, required: Option<Label>) -> Vec<&Arc<str>> {
        match required {
            Some(label) => self.pods_by_label.get(&label).into_iter().flatten().collect(),
            None => self.pods.keys().collect(),
        }
    }
}

fn remove(names: &mut Map<Label, Names>, label: Label, name: &str) {
    if let Some(of_label) = names.get_mut(&label) {
        of_label.remove(name);
        if of_label.is_empty() {
            names.remove(&label);
        }
    }
}
