//! Namespaces.

use super::Labels;
use crate::model::intern::Symbol;

/// A namespace, for the selectors of pod affinity terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
}
