//! Latencies, allocations, memory.

use std::time::{Duration, Instant};

/// Decisions that were measured.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Nanoseconds, one number for each.
    nanoseconds: Vec<u64>,
    allocations: u64,
}

impl Decisions {
    /// Takes one down.
    pub(crate) fn push(&mut self, time: Duration, allocations: u64) {
        self.nanoseconds.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.allocations += allocations;
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.nanoseconds.len()
    }

    /// How often memory was asked for during each, on average. `None`: nobody counts, or there was none.
    pub fn allocations(&self) -> Option<f64> {
        (is_counting() && self.count() > 0).then(|| self.allocations as f64 / self.count() as f64)
    }

    /// The mean, in nanoseconds.
    pub fn mean(&self) -> f64 {
        let sum: u128 = self.nanoseconds.iter().copied().map(u128::from).sum();
        sum as f64 / self.count().max(1) as f64
    }

    /// The times that so many of a thousand decisions did not take longer than, in nanoseconds.
    pub fn quantiles<const N: usize>(&mut self, per_mille: [usize; N]) -> [u64; N] {
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
    asked: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let asked = schedc_allocator::allocations();
        Stopwatch { begin: Instant::now(), asked }
    }

    /// The time since it was started, and how often memory was asked for.
    pub(crate) fn stop(self) -> (Duration, u64) {
        let time = self.begin.elapsed();
        (time, schedc_allocator::allocations().wrapping_sub(self.asked))
    }
}

/// Whether the binary counts allocations.
pub(crate) fn is_counting() -> bool {
    let before = schedc_allocator::allocations();
    drop(std::hint::black_box(Box::new(before)));
    schedc_allocator::allocations() != before
}

/// The most memory that this process ever had at once, in MiB. `None` where the system does not tell.
pub fn peak_memory() -> Option<f64> {
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
