//! Taints and tolerations.

use crate::intern::Symbol;

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// New pods stay away.
    NoSchedule,
    /// New pods go elsewhere if they can.
    PreferNoSchedule,
    /// New pods stay away and running ones are evicted.
    NoExecute,
    /// Not an effect that Kubernetes knows: no scheduling plugin acts on it.
    Other(Symbol),
}

/// A taint of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    /// The key.
    pub key: Symbol,
    /// The value, often empty.
    pub value: Symbol,
    /// The effect.
    pub effect: Effect,
}

/// How a toleration compares values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TolerationOperator {
    /// The values are equal (also for an operator that was left out).
    Equal,
    /// Any value.
    Exists,
    /// `Lt` and `Gt` (a feature that is off), and whatever else is written: matches nothing.
    Never,
}

/// A toleration of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The key that is tolerated; `None` (an empty key) is any.
    pub key: Option<Symbol>,
    /// How values compare.
    pub operator: TolerationOperator,
    /// The value for [`TolerationOperator::Equal`].
    pub value: Symbol,
    /// The effect that is tolerated; `None` (an empty effect) is any.
    pub effect: Option<Effect>,
}

impl Toleration {
    /// Whether this toleration tolerates `taint`: Kubernetes' `Toleration.ToleratesTaint`.
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
