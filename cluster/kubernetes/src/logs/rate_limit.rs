//! Rate limit of log messages that a fault or a client can cause many times a second.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Minimum time between two messages.
const PERIOD: Duration = Duration::from_secs(10);

/// Limits how often one message is logged.
#[derive(Debug, Default)]
pub(crate) struct RateLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Duration>,
    suppressed: u64,
}

impl RateLimit {
    /// Decides whether a message may be logged at this time of a clock. Returns the number of messages that were
    /// suppressed since the last logged one, or `None` if this message is suppressed, too.
    pub(crate) fn allow(&self, clock: Duration) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| clock < last + PERIOD) {
            state.suppressed += 1;
            return None;
        }
        state.last = Some(clock);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_in_ten_seconds() {
        let limit = RateLimit::default();
        let at = |seconds| limit.allow(Duration::from_secs(seconds));
        assert_eq!(
            [at(100), at(101), at(109), at(110), at(119), at(500)],
            [Some(0), None, None, Some(2), None, Some(1)]
        );
    }
}
