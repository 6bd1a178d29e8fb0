//! Time, and instructions where they can be counted.

use std::time::{Duration, Instant};

use schedc_core::costs::CostPart;
use schedc_core::erased::AnyMeter;

use super::instructions::Counter;

/// How long work is repeated to be timed once, and how often it is timed. The fastest counts: whatever else the machine does
/// makes it slower, never faster.
const SAMPLE: Duration = Duration::from_micros(500);
const SAMPLES: u32 = 15;
const MAX_REPETITIONS: u32 = 1 << 16;

/// What some work took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    pub(super) nanoseconds: f64,
    pub(super) instructions: Option<f64>,
}

/// Measures whatever it is given.
pub(super) struct CostMeter {
    pub(super) measured: Vec<(&'static str, CostPart, Measurement)>,
    counter: Result<Counter, String>,
}

impl CostMeter {
    pub(super) fn new() -> Self {
        CostMeter { measured: Vec::new(), counter: Counter::new() }
    }

    /// Why no instructions are counted.
    pub(super) fn no_instructions(&self) -> Option<String> {
        self.counter.as_ref().err().cloned()
    }
}

impl AnyMeter for CostMeter {
    fn measure_any(&mut self, plugin: &'static str, part: CostPart, work: &mut dyn FnMut()) {
        let begin = Instant::now();
        work();
        let once = begin.elapsed().max(Duration::from_nanos(20));
        let repeated = (SAMPLE.as_nanos() / once.as_nanos()).clamp(1, MAX_REPETITIONS.into()) as u32;
        let mut fastest = f64::INFINITY;
        for _ in 0..SAMPLES {
            let begin = Instant::now();
            (0..repeated).for_each(|_| work());
            fastest = fastest.min(begin.elapsed().as_nanos() as f64 / f64::from(repeated));
        }
        let instructions = self.counter.as_mut().ok().and_then(|counter| counter.count(&mut *work));
        let instructions = instructions.map(|instructions| instructions as f64);
        self.measured.push((plugin, part, Measurement { nanoseconds: fastest, instructions }));
    }
}
