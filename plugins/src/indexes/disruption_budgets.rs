//! Disruption budgets by namespace.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Object, PodDisruptionBudget};

/// The budgets that can match a pod: those with a selector that is not empty. In kube-scheduler's preemption, an empty
/// selector matches no pod.
#[derive(Clone, Debug, Default)]
pub struct DisruptionBudgets {
    /// The budgets of each namespace, sorted by name.
    by_namespace: Map<Symbol, Vec<Arc<PodDisruptionBudget>>>,
    version: BudgetsVersion,
}

/// Version of the budgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetsVersion {
    /// Incremented with every change of a budget.
    pub budgets: u64,
    /// Incremented when a namespace gets its first budget.
    pub namespaces: u64,
}

/// Ignores the version: it depends on the history of events.
impl PartialEq for DisruptionBudgets {
    fn eq(&self, other: &Self) -> bool {
        self.by_namespace == other.by_namespace
    }
}

impl DisruptionBudgets {
    /// Returns the budgets of a namespace.
    pub fn of(&self, namespace: Symbol) -> &[Arc<PodDisruptionBudget>] {
        self.by_namespace.get(&namespace).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether there are no budgets.
    pub fn is_empty(&self) -> bool {
        self.by_namespace.is_empty()
    }

    /// Returns the current version.
    pub fn version(&self) -> BudgetsVersion {
        self.version
    }
}

fn budget(object: Option<&Object>) -> Option<&Arc<PodDisruptionBudget>> {
    match object {
        Some(Object::PodDisruptionBudget(budget)) => Some(budget),
        _ => None,
    }
}

impl Index for DisruptionBudgets {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let old = budget(old);
        let new = budget(new).filter(|new| new.selector.as_ref().is_some_and(|selector| !selector.is_empty()));
        if let Some(new) = new {
            let budgets = self.by_namespace.entry(new.namespace).or_default();
            self.version.namespaces += u64::from(budgets.is_empty());
            let at = budgets.partition_point(|budget| budget.name < new.name);
            // A budget with the same name is replaced.
            let replaced = budgets.get(at).is_some_and(|budget| budget.name == new.name);
            budgets.splice(at..at + usize::from(replaced), [new.clone()]);
            self.version.budgets += 1;
        } else if let Some(old) = old
            && let Some(budgets) = self.by_namespace.get_mut(&old.namespace)
        {
            budgets.retain(|budget| budget.name != old.name);
            if budgets.is_empty() {
                self.by_namespace.remove(&old.namespace);
            }
            self.version.budgets += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_objects::testing::object;

    use super::*;

    const SELECTORS: [&str; 4] =
        ["{}", "{selector: {}}", "{selector: {matchLabels: {a: b}}}", "{selector: {matchLabels: {c: d}}}"];

    #[test]
    fn budgets_that_match_nothing_are_omitted() {
        let mut interner = Interner::default();
        let mut index = DisruptionBudgets::default();
        for (at, spec) in SELECTORS.iter().enumerate() {
            let budget = object(
                &format!("{{kind: PodDisruptionBudget, metadata: {{name: b{at}}}, spec: {spec}}}"),
                &mut interner,
            );
            index.set_object(None, Some(&budget));
        }
        let namespace = interner.intern("default");
        let names: Vec<_> = index.of(namespace).iter().map(|budget| interner.resolve(budget.name)).collect();
        assert_eq!(names, ["b2", "b3"]);
        assert!(index.of(interner.intern("elsewhere")).is_empty());
    }

    proptest! {
        #[test]
        fn removed_budgets_leave_no_trace(
            history in prop::collection::vec((0..4_usize, prop::option::of(0..SELECTORS.len())), 0..20),
        ) {
            let mut interner = Interner::default();
            let mut index = DisruptionBudgets::default();
            let mut budgets: [Option<Object>; 4] = [None, None, None, None];
            for (slot, selector) in history {
                let new = selector.map(|selector| {
                    let metadata = format!("{{name: b{slot}, namespace: n{}}}", slot % 2);
                    let spec = SELECTORS[selector];
                    object(&format!("{{kind: PodDisruptionBudget, metadata: {metadata}, spec: {spec}}}"), &mut interner)
                });
                let old = std::mem::replace(&mut budgets[slot], new);
                index.set_object(old.as_ref(), budgets[slot].as_ref());
                let mut rebuilt = DisruptionBudgets::default();
                budgets.iter().for_each(|budget| rebuilt.set_object(None, budget.as_ref()));
                prop_assert_eq!(&index, &rebuilt);
            }
        }
    }
}
