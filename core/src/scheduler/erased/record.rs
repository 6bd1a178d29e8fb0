//! Records of attempts, for drivers.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use crate::engine::observer::{Observer, Point};
use crate::model::Pod;
use crate::plugin_api::status::Code;

/// A monotonic clock, in nanoseconds since an arbitrary moment.
pub type Clock = fn() -> u64;

/// Durations of the extension points of an attempt.
#[derive(Debug, Default)]
pub struct AttemptRecord {
    /// Index of the profile.
    pub profile: usize,
    /// The extension points in the order in which they ended; empty without an [`AttemptObserver::clock`]. Updates of
    /// cached answers are not included.
    pub points: SmallVec<[(Point, Code, Duration); 8]>,
}

/// Observes the attempts of an [`AnyScheduler`](super::AnyScheduler). `()` ignores all of them.
///
/// No method is called between the pop of a pod and the decision about it. To observe a pod before its attempt, call
/// [`AnyScheduler::next_pod`](super::AnyScheduler::next_pod).
pub trait AttemptObserver {
    /// Returns the clock for the durations; `None` if they are not measured.
    fn clock(&self) -> Option<Clock> {
        None
    }
    /// Runs before the next pod is popped, even if the queue has none.
    fn before_pop(&mut self) {}
    /// Runs after the decision about a pod. If `has_node` is true, the pod is assumed and reserved on its node, and
    /// Permit allowed it or makes it wait.
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool, _record: &AttemptRecord) {}
}

impl AttemptObserver for () {}

/// Calls both observers in order. The clock is that of the first observer, or else that of the second.
impl<A: AttemptObserver, B: AttemptObserver> AttemptObserver for (A, B) {
    fn clock(&self) -> Option<Clock> {
        self.0.clock().or_else(|| self.1.clock())
    }
    fn before_pop(&mut self) {
        self.0.before_pop();
        self.1.before_pop();
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool, record: &AttemptRecord) {
        self.0.decided(pod, has_node, record);
        self.1.decided(pod, has_node, record);
    }
}

/// Records an attempt, and reports it to an observer after the decision.
pub(super) struct Recorder<'a> {
    observer: &'a mut dyn AttemptObserver,
    clock: Option<Clock>,
    point_began: u64,
    record: AttemptRecord,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(observer: &'a mut dyn AttemptObserver) -> Self {
        let clock = observer.clock();
        Recorder { observer, clock, point_began: 0, record: AttemptRecord::default() }
    }
}

impl Observer for Recorder<'_> {
    fn before_pop(&mut self) {
        self.observer.before_pop();
    }
    fn attempt_started(&mut self, profile: usize, _: &Pod) {
        self.record.profile = profile;
    }
    fn point_started(&mut self, _: Point) {
        if let Some(clock) = self.clock {
            self.point_began = clock();
        }
    }
    fn point_ended(&mut self, point: Point, code: Code) {
        if let Some(clock) = self.clock {
            let took = Duration::from_nanos(clock().saturating_sub(self.point_began));
            self.record.points.push((point, code, took));
        }
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool) {
        self.observer.decided(pod, has_node, &self.record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Calls(Vec<&'static str>);

    impl AttemptObserver for Calls {
        fn before_pop(&mut self) {
            self.0.push("pops");
        }
        fn decided(&mut self, _: &Arc<Pod>, _: bool, record: &AttemptRecord) {
            assert_eq!(record.profile, 1);
            self.0.push("decided");
        }
    }

    #[test]
    fn both_observers_of_a_pair_see_an_attempt_after_its_decision() {
        let mut pair = (Calls::default(), Calls::default());
        let pod = Arc::new(Pod::default());
        let mut recorder = Recorder::new(&mut pair);
        recorder.before_pop();
        recorder.attempt_started(1, &pod);
        recorder.point_started(Point::Filter);
        recorder.point_ended(Point::Filter, Code::Success);
        recorder.decided(&pod, true);
        assert_eq!(pair.0.0, ["pops", "decided"]);
        assert_eq!(pair.1.0, ["pops", "decided"]);
    }
}
