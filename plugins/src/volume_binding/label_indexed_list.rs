//! List in order of preference, indexed by the node label that an item requires.

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{LabelsExt, NodeSelector, Operator, Requirement};

use crate::columns::NodeLabels;

/// A list that finds the first matching item for a node. It skips the items that require other values of a
/// label, such as local volumes of other nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelIndexedList<T> {
    items: Vec<T>,
    /// Indexes of the items that require a label, ascending, by label key and value.
    by_label: Vec<(Symbol, Map<Symbol, Vec<u32>>)>,
    /// Indexes of the other items, ascending.
    free: Vec<u32>,
}

impl<T> LabelIndexedList<T> {
    /// Creates a list. `required_label` returns a label requirement that every node must meet to match the item; `None`
    /// if there is none.
    pub(super) fn new(items: Vec<T>, required_label: impl Fn(&T) -> Option<&Requirement>) -> Self {
        let mut by_label: Vec<(Symbol, Map<Symbol, Vec<u32>>)> = Vec::new();
        let mut free = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let at = at as u32;
            let Some(required_label) = required_label(item) else {
                free.push(at);
                continue;
            };
            let known = by_label.iter().position(|(key, _)| *key == required_label.key);
            let key = known.unwrap_or_else(|| {
                by_label.push((required_label.key, Map::default()));
                by_label.len() - 1
            });
            for value in &required_label.values {
                by_label[key].1.entry(*value).or_default().push(at);
            }
        }
        LabelIndexedList { items, by_label, free }
    }

    /// Returns all items in order.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the first item for which `fits` returns true. `fits` is not called for items that require other label
    /// values.
    pub(super) fn first(&self, node: &NodeLabels, fits: impl Fn(&T) -> bool) -> Option<&T> {
        let mut best = u32::MAX;
        let mut look = |list: &[u32]| {
            let mut better = list.iter().copied().take_while(|&at| at < best);
            if let Some(at) = better.find(|&at| fits(&self.items[at as usize])) {
                best = at;
            }
        };
        look(&self.free);
        for (key, values) in &self.by_label {
            if let Some(list) = node.labels.value(*key).and_then(|value| values.get(&value)) {
                look(list);
            }
        }
        self.items.get(best as usize)
    }
}

/// Returns the requirement that lists the fewest values of a label, if any requirement lists values.
pub(super) fn required_label(requirements: &[Requirement]) -> Option<&Requirement> {
    requirements.iter().filter(|requirement| requirement.operator == Operator::In).min_by_key(|r| r.values.len())
}

/// Returns the [`required_label`] of a selector with a single term; `None` for other selectors.
pub(super) fn selector_required_label(selector: &NodeSelector) -> Option<&Requirement> {
    match &*selector.terms {
        [term] => required_label(&term.match_expressions),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::column::Column;
    use schedc_core::intern::Interner;
    use schedc_objects::testing;

    use super::*;

    /// Returns a requirement for one of two labels.
    fn any_requirement() -> impl Strategy<Value = (usize, bool, Vec<usize>)> {
        (0..2_usize, any::<bool>(), prop::collection::vec(0..3_usize, 0..3))
    }

    proptest! {
        #[test]
        fn the_first_match_equals_a_linear_search(
            items in prop::collection::vec(prop::collection::vec(any_requirement(), 0..3), 0..8),
            labels in prop::collection::btree_map(0..2_usize, 0..3_usize, 0..3),
        ) {
            let mut interner = Interner::default();
            let keys = ["k0", "k1"].map(|key| interner.intern(key));
            let values = ["v0", "v1", "v2"].map(|value| interner.intern(value));
            let items: Vec<Vec<Requirement>> = items
                .into_iter()
                .map(|requirements| {
                    let requirement = |(key, is_in, listed): (usize, bool, Vec<usize>)| Requirement {
                        key: keys[key],
                        operator: if is_in { Operator::In } else { Operator::NotIn },
                        values: listed.into_iter().map(|value| values[value]).collect(),
                    };
                    requirements.into_iter().map(requirement).collect()
                })
                .collect();
            let labels: Vec<_> = labels.iter().map(|(key, value)| format!("k{key}: v{value}")).collect();
            let node = format!("metadata: {{name: n1, labels: {{{}}}}}", labels.join(", "));
            let node = NodeLabels::build(&testing::node(&node, &mut interner), &interner);
            let fits = |item: &Vec<Requirement>| item.iter().all(|r| r.matches(&node.labels, |_| None));
            let by_label = LabelIndexedList::new(items.clone(), |item| required_label(item));
            prop_assert_eq!(by_label.first(&node, fits), items.iter().find(|item| fits(item)));
        }
    }
}
