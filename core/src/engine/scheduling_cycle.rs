//! Inputs of one decision.

use std::sync::Arc;

use crate::model::Pod;
use crate::model::cache::Cache;
use crate::profile_api::profile::Profile;

/// Inputs that do not depend on the cluster; see [`SchedulingCycle`].
pub(crate) struct CycleInputs<D> {
    pub(crate) now: i64,
    pub(crate) lists_preemption_candidates: bool,
    pub(crate) draw: D,
}

/// The scheduling cycle of one pod: all inputs of its decision except the plugins.
pub(crate) struct SchedulingCycle<'a, P: Profile, D, O> {
    pub(crate) pod: &'a Arc<Pod>,
    pub(crate) cache: &'a Cache<P::State>,
    /// Time in nanoseconds since 1970, or [`UNTIMED`](super::UNTIMED).
    pub(crate) now: i64,
    /// Whether the result of PostFilter lists all preemption candidates, for reports and tests.
    pub(crate) lists_preemption_candidates: bool,
    /// Picks one of `n` equally good nodes. For a pod without a feasible node, `usize::MAX` as `n` requests a seed for
    /// PostFilter plugins.
    pub(crate) draw: D,
    /// Callbacks around the decision: an [`Observer`](super::observer::Observer).
    pub(crate) observer: &'a mut O,
}
