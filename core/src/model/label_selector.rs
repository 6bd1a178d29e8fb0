//! Label selectors: which objects a pod's terms, a workload or a budget mean.

use super::selector::Requirement;
use crate::intern::Symbol;

/// Conditions on labels that must all hold: `metav1.LabelSelector`. Without conditions it matches everything.
///
/// A selector that is missing altogether matches nothing: wherever one may be missing, it is an `Option`.
/// Its operators are `In`, `NotIn`, `Exists` and `DoesNotExist`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// The conditions, `matchLabels` among them as `In` with one value.
    pub requirements: Box<[Requirement]>,
}

impl LabelSelector {
    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
    /// Whether labels meet all conditions.
    #[inline]
    pub fn matches(&self, labels: &[(Symbol, Symbol)]) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels, |_| None))
    }
}
