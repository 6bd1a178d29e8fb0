//! Duration of backoff, and the order in which pods leave it.

use std::marker::PhantomData;

use super::QueueOrder;
use super::entries::Entry;
use super::heap::EntryOrder;

const SECOND: i64 = 1_000_000_000;

/// Length of a window in nanoseconds. All backoffs that end in one window are over when the window ends; these pods are
/// ordered as in the active queue.
pub(super) const WINDOW: i64 = SECOND;

/// Returns the start of the window of a time.
pub(super) fn window(time: i64) -> i64 {
    time.div_euclid(WINDOW).saturating_mul(WINDOW)
}

/// Backoff after failures: doubles from `initial` to `max`, both in nanoseconds. With a `max` of 0, there is no
/// backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Backoff after the first failure.
    pub initial: i64,
    /// Maximum backoff.
    pub max: i64,
}

impl Backoff {
    /// Makes a backoff of seconds, as in profiles.
    pub fn seconds(initial: u64, max: u64) -> Self {
        let nanoseconds = |seconds: u64| i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(SECOND);
        Backoff { initial: nanoseconds(initial), max: nanoseconds(max) }
    }

    /// Returns the backoff after this number of failures.
    fn after(self, failures: u32) -> i64 {
        let shift = failures.saturating_sub(1).min(62);
        if self.initial > self.max >> shift { self.max } else { self.initial << shift }
    }

    /// Returns the start of the window in which the backoff of a pod that failed at `now` ends; `i64::MIN` if there is
    /// no backoff.
    pub(super) fn ready(self, failures: u32, now: i64) -> i64 {
        if self.max == 0 || failures == 0 { i64::MIN } else { window(now.saturating_add(self.after(failures))) }
    }

    /// Returns whether the backoff is over: the window that starts at `ready` has ended.
    pub(super) fn is_over(ready: i64, now: i64) -> bool {
        ready < window(now)
    }
}

/// Order of the backoff queue: by window, and within it as in the active queue.
pub(super) struct ByWindow<O>(PhantomData<O>);
impl<O: QueueOrder> EntryOrder for ByWindow<O> {
    fn before(a: &Entry, b: &Entry) -> bool {
        a.ready < b.ready || a.ready == b.ready && super::by_order::<O>(a, b)
    }
}

/// Order of the error backoff queue: by window, and within it by arrival.
pub(super) struct ByReady;
impl EntryOrder for ByReady {
    fn before(a: &Entry, b: &Entry) -> bool {
        (a.ready, a.ticket) < (b.ready, b.ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_from_one_second_to_ten() {
        let backoff = Backoff::seconds(1, 10);
        let seconds: Vec<i64> = (1..=7).map(|failures| backoff.after(failures) / SECOND).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10, 10]);
        assert_eq!(backoff.after(u32::MAX), 10 * SECOND);
    }

    #[test]
    fn a_pod_returns_when_the_window_of_its_end_is_over() {
        let backoff = Backoff::seconds(1, 10);
        let ready = backoff.ready(1, 300_000_000);
        assert_eq!(ready, SECOND, "1.3 s is in the window that starts at 1 s");
        assert!(!Backoff::is_over(ready, 1_300_000_000));
        assert!(!Backoff::is_over(ready, 2 * SECOND - 1));
        assert!(Backoff::is_over(ready, 2 * SECOND));
    }

    #[test]
    fn without_a_failure_or_with_a_maximum_of_0_there_is_no_backoff() {
        assert!(Backoff::is_over(Backoff::seconds(1, 10).ready(0, 5), 5));
        assert!(Backoff::is_over(Backoff::seconds(1, 0).ready(3, 5), 5));
    }

    #[test]
    fn windows_of_times_before_1970_are_as_long_as_others() {
        assert_eq!([-SECOND - 1, -SECOND, -1, 0, 1].map(window), [-2 * SECOND, -SECOND, -SECOND, 0, 0]);
    }
}
