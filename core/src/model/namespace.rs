//! Namespaces.

use super::Labels;
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// A namespace, for the selectors of pod affinity terms.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct Namespace {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
}
