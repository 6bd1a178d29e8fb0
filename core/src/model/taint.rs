//! Taints and tolerations.

use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// Effect of a taint on pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub enum Effect {
    /// New pods are not scheduled here.
    NoSchedule,
    /// New pods are scheduled elsewhere if possible.
    PreferNoSchedule,
    /// New pods are not scheduled here and running pods are evicted.
    NoExecute,
    /// Any other value: no scheduling plugin acts on it.
    Other(Symbol),
}

/// A taint of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct Taint {
    /// The key.
    pub key: Symbol,
    /// The value, often empty.
    pub value: Symbol,
    /// The effect.
    pub effect: Effect,
}

/// Comparison of a toleration's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TolerationOperator {
    /// The values must be equal. A toleration without an operator has this one.
    Equal,
    /// Any value.
    Exists,
    /// `Lt` and `Gt` (a disabled feature), and any other value: matches nothing.
    Never,
}

/// A toleration of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct Toleration {
    /// The tolerated key; `None` (an empty key) is any.
    pub key: Option<Symbol>,
    /// How values compare.
    pub operator: TolerationOperator,
    /// The value for [`TolerationOperator::Equal`].
    pub value: Symbol,
    /// The tolerated effect; `None` (an empty effect) is any.
    pub effect: Option<Effect>,
}

impl Toleration {
    /// Returns whether this toleration tolerates `taint`: Kubernetes' `Toleration.ToleratesTaint`.
    #[inline(always)]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if self.effect.is_some_and(|effect| effect != taint.effect) || self.key.is_some_and(|key| key != taint.key) {
            return false;
        }
        match self.operator {
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Exists => true,
            TolerationOperator::Never => false,
        }
    }
}
