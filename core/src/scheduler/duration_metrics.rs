//! Histograms of durations, for metrics.
//!
//! Times are those of the scheduler's clock, and as precise as the calls of [`Scheduler::at`](super::Scheduler::at).

use crate::engine::observer::Point;
use crate::plugin_api::status::Code;

/// Number of ranges of a [`DurationHistogram`].
const RANGES: usize = 20;

/// Histogram of durations with the upper bounds `FIRST` nanoseconds, twice that, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram<const FIRST: u64> {
    counts: [u64; RANGES],
    overflow: u64,
    sum: u64,
}

impl<const FIRST: u64> DurationHistogram<FIRST> {
    pub(super) fn add(&mut self, nanoseconds: i64) {
        let nanoseconds = u64::try_from(nanoseconds).unwrap_or(0);
        let times_first = nanoseconds.max(1).div_ceil(FIRST);
        let range = (u64::BITS - (times_first - 1).leading_zeros()) as usize;
        *self.counts.get_mut(range).unwrap_or(&mut self.overflow) += 1;
        self.sum = self.sum.saturating_add(nanoseconds);
    }

    /// Returns the counts of the given number of ranges, at most 21; the last range has no upper bound.
    pub fn counts(&self, ranges: usize) -> Vec<u64> {
        let within = ranges.saturating_sub(1).min(RANGES);
        let mut counts = self.counts[..within].to_vec();
        counts.push(self.counts[within..].iter().sum::<u64>() + self.overflow);
        counts
    }
    /// Returns the sum of all durations in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }
}

/// All histograms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationMetrics {
    /// Waits in Permit, by code, from 1 millisecond up.
    pub permit_waits: Vec<(Code, DurationHistogram<1_000_000>)>,
    /// Deletions of victims, by success, from 10 milliseconds up.
    pub preemptions: Vec<(bool, DurationHistogram<10_000_000>)>,
    /// PreBind and Bind of each profile, from 0.1 milliseconds up.
    pub points: Vec<((usize, Point, Code), DurationHistogram<100_000>)>,
}

impl DurationMetrics {
    pub(super) fn waited_in_permit(&mut self, code: Code, nanoseconds: i64) {
        of(&mut self.permit_waits, code).add(nanoseconds);
    }
    pub(super) fn preempted(&mut self, was_done: bool, nanoseconds: i64) {
        of(&mut self.preemptions, was_done).add(nanoseconds);
    }
    pub(super) fn ran(&mut self, profile: usize, point: Point, code: Code, nanoseconds: i64) {
        of(&mut self.points, (profile, point, code)).add(nanoseconds);
    }
}

/// Returns the value of a key; there are few keys.
fn of<K: PartialEq, V: Default>(values: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = values.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        values.push((key, V::default()));
        values.len() - 1
    });
    &mut values[at].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_inclusive() {
        let mut durations = DurationHistogram::<1000>::default();
        for nanoseconds in [-5, 0, 1, 1000, 1001, 2000, 2001, 4000, 4001, i64::MAX] {
            durations.add(nanoseconds);
        }
        assert_eq!(durations.counts(4), [4, 2, 2, 2]);
        assert_eq!(durations.counts(21)[20], 1);
    }
}
