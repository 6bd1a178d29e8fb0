//! Labels and name of a node, for node selectors.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Labels, Node, NodeSelector, NodeSelectorTerm, label_integer};

/// The fields of a node that node selectors read.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLabels {
    /// `metadata.name`; empty in a slot without a node.
    pub name: Symbol,
    /// `metadata.labels`, sorted by the symbols of the keys.
    pub labels: Labels,
    /// Keys and values of the labels with integer values, for the operators `Gt` and `Lt`.
    pub integers: Box<[(Symbol, i64)]>,
}

impl Default for NodeLabels {
    fn default() -> Self {
        NodeLabels { name: Symbol::EMPTY, labels: Labels::default(), integers: Box::default() }
    }
}

impl NodeLabels {
    /// Returns the integer value of a label; `None` if the label is missing or not an integer.
    #[inline(always)]
    pub fn integer(&self, key: Symbol) -> Option<i64> {
        self.integers.iter().find(|label| label.0 == key).map(|label| label.1)
    }

    /// Returns whether the node has all of these labels (a pod's `nodeSelector`).
    #[inline(always)]
    pub fn has_all(&self, wanted: &[(Symbol, Symbol)]) -> bool {
        wanted.iter().all(|label| self.labels.contains(label))
    }

    /// Returns whether the node matches a selector.
    #[inline(always)]
    pub fn matches(&self, selector: &NodeSelector) -> bool {
        selector.matches(self.name, &self.labels, |key| self.integer(key))
    }

    /// Returns whether the node matches the pod's `nodeSelector` and its required node affinity.
    #[inline(always)]
    pub(crate) fn matches_pod(&self, selector: &[(Symbol, Symbol)], required: Option<&NodeSelector>) -> bool {
        self.has_all(selector) && required.is_none_or(|required| self.matches(required))
    }

    /// Returns whether the node matches a term.
    #[inline(always)]
    pub fn matches_term(&self, term: &NodeSelectorTerm) -> bool {
        term.matches(self.name, &self.labels, |key| self.integer(key))
    }
}

impl Column for NodeLabels {
    const READS_ONLY_NODE: bool = true;

    fn build(node: &Node, interner: &Interner) -> Self {
        let integer = |&(key, value): &(Symbol, Symbol)| Some((key, label_integer(interner, value)?));
        NodeLabels {
            name: node.name,
            labels: node.labels.clone(),
            integers: node.labels.iter().filter_map(integer).collect(),
        }
    }
}
