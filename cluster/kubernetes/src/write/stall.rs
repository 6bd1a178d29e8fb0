//! Stalls of bindings: periods in which some are in flight and none succeeds, for the log.

use std::time::Duration;

/// Time without a successful binding after which a stall is logged.
pub(super) const STALLED: Duration = Duration::from_secs(5);
/// Minimum time between two messages.
const PERIOD: Duration = Duration::from_secs(10);

/// Current stall of the bindings in flight, if any. Times are those of the transport's clock.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// Time of the last success, or the start of the first binding in flight. `None`: no binding is in flight.
    since: Option<Duration>,
    /// Time of the last message.
    pub(super) logged: Option<Duration>,
    /// Reason of the last failed request.
    last_error: Option<String>,
}

/// Content of the log message about a stall.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StallReport {
    pub(super) time: Duration,
    pub(super) last_error: String,
}

impl Stall {
    /// Records the start of a binding.
    pub(super) fn begin(&mut self, clock: Duration) {
        self.since.get_or_insert(clock);
    }

    /// Records a failed request of a binding.
    pub(super) fn fail(&mut self, why: &str) {
        self.last_error = Some(why.to_owned());
    }

    /// Records a successful binding. Returns the duration of the stall that ends, if it was logged.
    pub(super) fn succeed(&mut self, clock: Duration) -> Option<Duration> {
        let before = std::mem::replace(self, Stall { since: Some(clock), ..Stall::default() });
        before.logged.and(before.since).map(|since| clock.saturating_sub(since))
    }

    /// Resets the state when no binding is in flight.
    pub(super) fn end(&mut self) {
        *self = Stall::default();
    }

    /// Returns the report to be logged at this time, if any.
    pub(super) fn check(&mut self, clock: Duration) -> Option<StallReport> {
        let time = clock.saturating_sub(self.since?);
        if time < STALLED || self.logged.is_some_and(|logged| clock < logged + PERIOD) {
            return None;
        }
        self.logged = Some(clock);
        let last_error = self.last_error.clone().unwrap_or_else(|| "no answer so far".to_owned());
        Some(StallReport { time, last_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalled_bindings_are_logged_periodically() {
        let mut stall = Stall::default();
        let at = Duration::from_secs;
        let stalled = |seconds, why: &str| Some(StallReport { time: at(seconds), last_error: why.to_owned() });
        assert_eq!(stall.check(at(100)), None, "no binding is in flight");
        stall.begin(at(100));
        stall.begin(at(103));
        assert_eq!(stall.check(at(104)), None);
        assert_eq!(stall.check(at(105)), stalled(5, "no answer so far"));
        stall.fail("timed out");
        assert_eq!(stall.check(at(114)), None);
        assert_eq!(stall.check(at(115)), stalled(15, "timed out"));
        assert_eq!(stall.succeed(at(120)), Some(at(20)));
        assert_eq!(stall.succeed(at(124)), None);
        assert_eq!(stall.check(at(128)), None);
        assert_eq!(stall.check(at(129)), stalled(5, "no answer so far"));
        stall.end();
        assert_eq!(stall.check(at(200)), None);
    }
}
