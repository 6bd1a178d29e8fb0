//! Measurement of time, and of instructions where possible.

use std::time::{Duration, Instant};

use schedc_core::costs::CostPart;
use schedc_core::erased::AnyMeter;

use super::instructions::Counter;

/// Approximate duration of one sample, in which the work is repeated.
const SAMPLE_DURATION: Duration = Duration::from_micros(500);
/// Number of samples. Only the fastest one is used, because other load on the machine only makes samples slower.
const SAMPLES: u32 = 15;
/// Maximum number of repetitions of the work in one sample.
const MAX_REPETITIONS: u32 = 1 << 16;

/// Cost of some work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    pub(super) nanoseconds: f64,
    pub(super) instructions: Option<f64>,
    /// Allocations; `None` if the binary does not count them.
    pub(super) allocations: Option<f64>,
}

/// Measures the cost of closures.
pub(super) struct CostMeter {
    pub(super) measured: Vec<(&'static str, CostPart, Measurement)>,
    /// Instruction counter, or the reason why instructions cannot be counted.
    pub(super) counter: Result<Counter, String>,
}

impl CostMeter {
    pub(super) fn new() -> Self {
        CostMeter { measured: Vec::new(), counter: Counter::new() }
    }
}

impl AnyMeter for CostMeter {
    fn measure_any(&mut self, plugin: &'static str, part: CostPart, work: &mut dyn FnMut()) {
        let begin = Instant::now();
        work();
        let once = begin.elapsed().max(Duration::from_nanos(20));
        let repetitions = (SAMPLE_DURATION.as_nanos() / once.as_nanos()).clamp(1, MAX_REPETITIONS.into()) as u32;
        let mut fastest = f64::INFINITY;
        for _ in 0..SAMPLES {
            let begin = Instant::now();
            (0..repetitions).for_each(|_| work());
            fastest = fastest.min(begin.elapsed().as_nanos() as f64 / f64::from(repetitions));
        }
        let instructions = self.counter.as_mut().ok().and_then(|counter| counter.count(&mut *work));
        let instructions = instructions.map(|instructions| instructions as f64);
        let before = schedc_allocator::allocations();
        work();
        let allocations = schedc_allocator::allocations().wrapping_sub(before) as f64;
        let allocations = crate::measure::is_counting().then_some(allocations);
        self.measured.push((plugin, part, Measurement { nanoseconds: fastest, instructions, allocations }));
    }
}
