//! The time of a workload: the real time of work, plus jumps over idle time.

use std::time::Instant;

/// A clock in nanoseconds since 1970 that begins at a given time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begin: Instant,
    /// The time at `begin`, including all jumps.
    offset: i64,
}

impl Clock {
    pub(crate) fn new(start: i64) -> Self {
        Clock { begin: Instant::now(), offset: start }
    }

    pub(crate) fn now(&self) -> i64 {
        let elapsed = i64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(i64::MAX);
        self.offset.saturating_add(elapsed)
    }

    /// Advances the clock to `time`, unless the clock is already later.
    pub(crate) fn advance(&mut self, time: i64) {
        self.offset = self.offset.saturating_add(time.saturating_sub(self.now()).max(0));
    }
}
