//! Histograms of durations, for metrics.
//!
//! Times are those of the scheduler's clock, and as precise as the calls of
//! [`Scheduler::set_now`](super::Scheduler::set_now).

use crate::engine::observer::Point;
pub use crate::plugin_api::duration_histogram::DurationHistogram;
use crate::plugin_api::status::Code;

/// All histograms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationMetrics {
    /// Waits in Permit, by code. The first upper bound is 1 millisecond.
    pub permit_waits: Vec<(Code, DurationHistogram<1_000_000>)>,
    /// Deletions of victims, by success. The first upper bound is 10 milliseconds.
    pub preemptions: Vec<(bool, DurationHistogram<10_000_000>)>,
    /// PreBind and Bind of each profile. The first upper bound is 0.1 milliseconds.
    pub points: Vec<((usize, Point, Code), DurationHistogram<100_000>)>,
}

impl DurationMetrics {
    pub(super) fn waited_in_permit(&mut self, code: Code, nanoseconds: i64) {
        entry(&mut self.permit_waits, code).add(nanoseconds);
    }
    pub(super) fn preempted(&mut self, succeeded: bool, nanoseconds: i64) {
        entry(&mut self.preemptions, succeeded).add(nanoseconds);
    }
    pub(super) fn ran(&mut self, profile: usize, point: Point, code: Code, nanoseconds: i64) {
        entry(&mut self.points, (profile, point, code)).add(nanoseconds);
    }
}

/// Returns the value for a key, and inserts it if necessary. A linear search suffices for the few keys.
fn entry<K: PartialEq, V: Default>(values: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = values.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        values.push((key, V::default()));
        values.len() - 1
    });
    &mut values[at].1
}
