//! The interface of all kinds of remedies.

use std::fmt;

use super::fork::Fork;

/// A kind of change that can make a pod schedulable.
pub(super) trait Change: fmt::Display {
    /// Applies the change. Returns false if it is not possible.
    fn apply(&self, fork: &mut Fork<'_>) -> bool;

    /// Returns how much the change disturbs the cluster and its users. The list of remedies begins with the smallest.
    ///
    /// | from | changes |
    /// |---|---|
    /// | 10 | undo a hold (a gate or a cordon), or create a missing object |
    /// | 20 | adapt the pod without an effect on other pods |
    /// | 50 | adapt the cluster |
    /// | 60 | stop other pods |
    /// | 200 | act against a controller |
    fn disturbance(&self) -> u32;

    /// Returns the number of strengths of a change that has an amount; 1 for other changes.
    fn strengths(&self) -> i64 {
        1
    }

    /// Weakens the change to a strength between 1 and [`Change::strengths`].
    fn set_strength(&mut self, _strength: i64) {}

    /// Returns the changes that have one part less than this change; empty if the change has no parts.
    fn parts(&self) -> Vec<Self>
    where
        Self: Sized,
    {
        Vec::new()
    }
}
