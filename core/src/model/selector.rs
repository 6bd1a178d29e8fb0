//! Labels, and the selectors that match nodes by labels and fields.

use std::sync::Arc;

use crate::model::intern::{Interner, Symbol};
use crate::model::symbols::Symbols;

/// Labels, shared, sorted by key symbol, each key once.
pub type Labels = Arc<[(Symbol, Symbol)]>;

/// Makes labels of keys and values. Keys must be distinct.
pub fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>, interner: &mut Interner) -> Labels {
    let symbols = pairs.into_iter().map(|(key, value)| (interner.intern(key), interner.intern(value)));
    let mut labels: Vec<_> = symbols.collect();
    labels.sort_unstable();
    labels.into()
}

/// Lookups in labels.
pub trait LabelsExt {
    /// Returns the value of a label.
    fn value(&self, key: Symbol) -> Option<Symbol>;
}

impl LabelsExt for [(Symbol, Symbol)] {
    #[inline(always)]
    fn value(&self, key: Symbol) -> Option<Symbol> {
        // Few labels: a scan beats a binary search.
        self.iter().find(|label| label.0 == key).map(|label| label.1)
    }
}

/// Comparison of a [`Requirement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The label exists and has one of the values.
    In,
    /// The label does not exist or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The label is an integer greater than this.
    Gt(i64),
    /// The label is an integer less than this.
    Lt(i64),
}

/// One condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct Requirement {
    /// The label's key.
    pub key: Symbol,
    /// The comparison.
    pub operator: Operator,
    /// The values for `In` and `NotIn`.
    pub values: Box<[Symbol]>,
}

impl Requirement {
    /// Returns whether labels meet the condition. `integer` returns the integer value of the label with a key, if it
    /// has one.
    #[inline(always)]
    pub fn matches(&self, labels: &[(Symbol, Symbol)], integer: impl Fn(Symbol) -> Option<i64>) -> bool {
        let value = labels.value(self.key);
        match self.operator {
            Operator::In => value.is_some_and(|v| self.values.contains(&v)),
            Operator::NotIn => value.is_none_or(|v| !self.values.contains(&v)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt(bound) => value.is_some() && integer(self.key).is_some_and(|n| n > bound),
            Operator::Lt(bound) => value.is_some() && integer(self.key).is_some_and(|n| n < bound),
        }
    }
}

/// One condition on `metadata.name`, the only field that node selectors support.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct FieldRequirement {
    /// `In` if false, `NotIn` if true.
    pub negated: bool,
    /// The node's name.
    pub name: Symbol,
}

impl FieldRequirement {
    /// Returns whether a node with this name meets the condition.
    #[inline(always)]
    pub fn matches(&self, node: Symbol) -> bool {
        (node == self.name) != self.negated
    }
}

/// Conditions, all of which a node must meet.
///
/// Terms without any condition match nothing and are left out when a selector is made, as in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Symbols)]
pub struct NodeSelectorTerm {
    /// Conditions on labels.
    pub match_expressions: Box<[Requirement]>,
    /// Conditions on the name.
    pub match_fields: Box<[FieldRequirement]>,
}

impl NodeSelectorTerm {
    /// Returns whether a node meets all conditions.
    #[inline(always)]
    pub fn matches(
        &self,
        name: Symbol,
        labels: &[(Symbol, Symbol)],
        integer: impl Fn(Symbol) -> Option<i64> + Copy,
    ) -> bool {
        self.match_expressions.iter().all(|r| r.matches(labels, integer))
            && self.match_fields.iter().all(|r| r.matches(name))
    }
}

/// Alternatives: a node that meets one of the terms matches.
///
/// A term that Kubernetes cannot parse matches nothing and is left out. Where its node names matter to NodeAffinity's
/// PreFilter, a term that cannot match replaces it. An empty list matches no node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Symbols)]
pub struct NodeSelector {
    /// The terms, without those that are left out.
    pub terms: Arc<[NodeSelectorTerm]>,
}

impl NodeSelector {
    /// Returns whether a node meets one of the terms.
    #[inline(always)]
    pub fn matches(
        &self,
        name: Symbol,
        labels: &[(Symbol, Symbol)],
        integer: impl Fn(Symbol) -> Option<i64> + Copy,
    ) -> bool {
        self.terms.iter().any(|term| term.matches(name, labels, integer))
    }
}

/// Returns the integer value of a label value, parsed like Go's `strconv.ParseInt(value, 10, 64)`: for `Gt` and `Lt`.
pub fn label_integer(interner: &Interner, value: Symbol) -> Option<i64> {
    interner.resolve(value).parse().ok()
}
