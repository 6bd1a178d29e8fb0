//! Counters and histograms. Their values are atomic, since some threads write while others read. Only a `MetricVec`
//! has a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::scheduler::DurationHistogram;

use super::family::{Family, MetricType};

/// Counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        self.add(1);
    }
    /// Adds a number.
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Relaxed);
    }
    /// Returns the current value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Histogram. Observations are whole units: nanoseconds for metrics in seconds.
#[derive(Debug)]
pub struct Histogram {
    /// Inclusive upper bounds in units, each with the number of observations in its bucket.
    buckets: Box<[(u64, AtomicU64)]>,
    beyond: AtomicU64,
    sum: AtomicU64,
    /// Number of observed units in one unit of the metric, such as nanoseconds in a second.
    scale: f64,
}

const NANOSECONDS: f64 = 1e9;

impl Histogram {
    /// Creates an empty histogram of a family. Families with a name that ends in `_seconds` observe nanoseconds.
    pub fn new(family: &Family) -> Self {
        let scale = if family.name.ends_with("_seconds") { NANOSECONDS } else { 1.0 };
        let bounds = match family.kind {
            MetricType::Histogram(buckets) => buckets.bounds(),
            MetricType::Counter | MetricType::Gauge => Vec::new(),
        };
        // Rounds a bound such as 0.0007999999999999999 to a whole number of units.
        let units = |bound: f64| (bound * scale + 1e-3).floor() as u64;
        let buckets = bounds.into_iter().map(|bound| (units(bound), AtomicU64::default())).collect();
        Histogram { buckets, beyond: AtomicU64::default(), sum: AtomicU64::default(), scale }
    }

    /// Converts a histogram of the scheduler. Its buckets must equal the family's: `FIRST` is the family's first bound
    /// in nanoseconds, and each other bound is twice the previous one.
    pub fn of<const FIRST: u64>(family: &Family, durations: &DurationHistogram<FIRST>) -> Self {
        let histogram = Histogram::new(family);
        let counts = durations.counts(histogram.buckets.len() + 1);
        let buckets = histogram.buckets.iter().map(|(_, count)| count).chain([&histogram.beyond]);
        buckets.zip(counts).for_each(|(bucket, count)| bucket.store(count, Relaxed));
        histogram.sum.store(durations.sum(), Relaxed);
        histogram
    }

    pub(crate) fn observe_duration(&self, duration: Duration) {
        self.observe(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Observes a value in units.
    pub fn observe(&self, units: u64) {
        let bucket = self.buckets.iter().find(|(bound, _)| units <= *bound).map_or(&self.beyond, |(_, count)| count);
        bucket.fetch_add(1, Relaxed);
        self.sum.fetch_add(units, Relaxed);
    }

    /// Returns the cumulative number of observations for each bound, and the total.
    pub(crate) fn cumulative(&self) -> (Vec<u64>, u64) {
        let mut count = 0;
        let up_to = |(_, bucket): &(u64, AtomicU64)| {
            count += bucket.load(Relaxed);
            count
        };
        let counts: Vec<u64> = self.buckets.iter().map(up_to).collect();
        (counts, count + self.beyond.load(Relaxed))
    }

    /// Returns the sum of all observations, in the metric's unit.
    pub fn sum(&self) -> f64 {
        self.sum.load(Relaxed) as f64 / self.scale
    }

    /// Returns the number of observations.
    pub fn count(&self) -> u64 {
        self.cumulative().1
    }
}

/// Metric values by label values, which are few and not known in advance.
#[derive(Debug)]
pub(crate) struct MetricVec<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for MetricVec<K, V> {
    fn default() -> Self {
        MetricVec(Mutex::default())
    }
}

impl<K: Clone + PartialEq, V> MetricVec<K, V> {
    /// Calls `with` with the value of a key. A missing value is created.
    pub(crate) fn with<R>(&self, key: &K, make: impl FnOnce() -> V, with: impl FnOnce(&mut V) -> R) -> R {
        let mut values = self.lock();
        let at = values.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            values.push((key.clone(), make()));
            values.len() - 1
        });
        with(&mut values[at].1)
    }

    /// Calls `with` for each value.
    pub(crate) fn each(&self, mut with: impl FnMut(&K, &V)) {
        self.lock().iter().for_each(|(key, value)| with(key, value));
    }

    /// Locks the values. A panic under the lock leaves no half-made change, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + PartialEq> MetricVec<K, u64> {
    pub(crate) fn increment(&self, key: &K) {
        self.with(key, || 0, |count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::family::{Buckets, Stability};

    #[test]
    fn bucket_bounds_are_inclusive() {
        let buckets = Buckets::Exponential { start: 0.0001, factor: 2.0, count: 3 };
        let histogram = Histogram::new(&Family::histogram("x_seconds", &[], buckets, Stability::None, ""));
        for micros in [0, 100, 101, 200, 400, 401] {
            histogram.observe_duration(Duration::from_micros(micros));
        }
        assert_eq!(histogram.cumulative(), (vec![2, 4, 5], 6));
        assert_eq!(histogram.sum(), 0.001202);
    }

    #[test]
    fn values_without_a_unit_of_time_are_not_scaled() {
        let buckets = Buckets::Explicit(&[1.0, 2.0]);
        let histogram = Histogram::new(&Family::histogram("x", &[], buckets, Stability::None, ""));
        [1, 2, 3].iter().for_each(|units| histogram.observe(*units));
        assert_eq!((histogram.cumulative(), histogram.sum()), ((vec![1, 2], 3), 6.0));
    }
}
