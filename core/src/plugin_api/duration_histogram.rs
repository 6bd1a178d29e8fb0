//! Histograms of durations, for metrics.

/// Number of ranges of a [`DurationHistogram`] that have an upper bound.
const RANGES: usize = 20;

/// Histogram of durations. The first upper bound is `FIRST` nanoseconds, and each further bound is twice the previous
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram<const FIRST: u64> {
    counts: [u64; RANGES],
    overflow: u64,
    sum: u64,
}

impl<const FIRST: u64> DurationHistogram<FIRST> {
    /// Adds a duration.
    pub fn add(&mut self, nanoseconds: i64) {
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
