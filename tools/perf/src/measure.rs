//! Measurement of latencies, allocations and memory.

use std::time::{Duration, Instant};

/// Measured decisions.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Duration of each decision, in nanoseconds.
    nanoseconds: Vec<u64>,
    allocations: u64,
}

impl Decisions {
    /// Adds a decision.
    pub(crate) fn push(&mut self, time: Duration, allocations: u64) {
        self.nanoseconds.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.allocations += allocations;
    }

    /// Returns the number of decisions.
    pub fn count(&self) -> usize {
        self.nanoseconds.len()
    }

    /// Returns the mean number of allocations per decision. `None` if the binary does not count allocations, or if
    /// there are no decisions.
    pub fn allocations(&self) -> Option<f64> {
        (is_counting() && self.count() > 0).then(|| self.allocations as f64 / self.count() as f64)
    }

    /// Returns the mean duration, in nanoseconds.
    pub fn mean(&self) -> f64 {
        let sum: u128 = self.nanoseconds.iter().copied().map(u128::from).sum();
        sum as f64 / self.count().max(1) as f64
    }

    /// Returns quantiles of the durations, in nanoseconds.
    pub(crate) fn quantiles<const N: usize>(&mut self, per_mille: [usize; N]) -> [u64; N] {
        self.nanoseconds.sort_unstable();
        per_mille.map(|part| {
            let rank = (self.count() * part).div_ceil(1000).max(1);
            self.nanoseconds.get(rank - 1).copied().unwrap_or_default()
        })
    }
}

/// Measures one decision at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begin: Instant,
    allocations_before: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let allocations_before = schedc_allocator::allocations();
        Stopwatch { begin: Instant::now(), allocations_before }
    }

    /// Returns the time and the allocations since the start.
    pub(crate) fn stop(self) -> (Duration, u64) {
        let time = self.begin.elapsed();
        (time, schedc_allocator::allocations().wrapping_sub(self.allocations_before))
    }
}

/// Returns whether the binary counts allocations.
pub(crate) fn is_counting() -> bool {
    let before = schedc_allocator::allocations();
    drop(std::hint::black_box(Box::new(before)));
    schedc_allocator::allocations() != before
}

/// Returns the peak memory of this process, in MiB. `None` if the system does not report it.
pub(crate) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_of(&status)
}

fn peak_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let mut decisions = Decisions::default();
        (1..=1000).rev().for_each(|n| decisions.push(Duration::from_nanos(n), 0));
        assert_eq!(decisions.quantiles([500, 900, 990, 999, 1000]), [500, 900, 990, 999, 1000]);
        assert_eq!(decisions.mean(), 500.5);
        let mut one = Decisions::default();
        one.push(Duration::from_nanos(7), 0);
        assert_eq!(one.quantiles([500, 999, 1000]), [7, 7, 7]);
        assert_eq!(Decisions::default().quantiles([500]), [0]);
    }

    #[test]
    fn peak_memory_is_read_from_proc_status() {
        assert_eq!(peak_of("VmPeak:\t 1 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2.0));
        assert_eq!(peak_of("VmPeak:\t 1 kB\n"), None);
    }
}
