//! The time of a workload: the real time that work takes, and leaps where nothing but time would pass.

use std::time::Instant;

/// Nanoseconds since 1970, from a start on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begin: Instant,
    /// The time at `begin`, all leaps included.
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

    /// It is `time` at least.
    pub(crate) fn advance(&mut self, time: i64) {
        self.offset = self.offset.saturating_add(time.saturating_sub(self.now()).max(0));
    }
}
