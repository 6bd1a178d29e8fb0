//! Driver hooks that record metrics.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use schedc_core::erased::{AnyScheduler, AttemptObserver, AttemptRecord, Clock};
use schedc_core::extenders::ExtenderCall;
use schedc_core::map::Map;
use schedc_core::model::{Pod, Uid};
use schedc_core::scheduler::{Change, Outcome};
use schedc_objects::AnyObject;

use super::Metrics;
use super::scheduler_counts::SchedulerCounts;
use crate::driver::DriverHooks;

/// Records the metrics of one scheduler.
#[derive(Debug)]
pub struct MetricsHooks {
    metrics: Metrics,
    attempt_start: Instant,
    change_start: Instant,
    /// Attempts that were decided and have no outcome yet.
    decided: Map<Uid, PendingOutcome>,
}

/// Decided attempt with a pending outcome.
#[derive(Clone, Copy, Debug)]
enum PendingOutcome {
    /// The pod has a node. Contains the start of the attempt.
    Binds(Instant),
    /// The pod has no node. Contains the duration of the decision.
    Failed(Duration),
}

impl MetricsHooks {
    /// Creates hooks that record in these metrics.
    pub fn new(metrics: Metrics) -> Self {
        let now = Instant::now();
        MetricsHooks { metrics, attempt_start: now, change_start: now, decided: Map::default() }
    }
}

impl DriverHooks for MetricsHooks {
    fn before_change(&mut self, _: &Change, _: Option<&AnyObject>, _: &mut dyn AnyScheduler) {
        self.change_start = Instant::now();
    }

    fn after_change(&mut self, scheduler: &dyn AnyScheduler) {
        if let Some(event) = scheduler.last_event() {
            self.metrics.0.attempts.record_event(event, self.change_start.elapsed());
        }
    }

    fn on_outcome(&mut self, outcome: &Outcome, _: &dyn AnyScheduler) {
        let took = match self.decided.remove(&outcome.pod.uid) {
            Some(PendingOutcome::Binds(since)) => since.elapsed(),
            Some(PendingOutcome::Failed(took)) => took,
            None => Duration::ZERO,
        };
        self.metrics.0.attempts.record_outcome(outcome, took);
    }

    fn on_extender_call(&mut self, call: &ExtenderCall) {
        self.metrics.0.extenders.count(call);
    }

    fn on_turn(&mut self, scheduler: &mut dyn AnyScheduler) {
        let snapshot_requests = &self.metrics.0.snapshot_requests;
        if snapshot_requests.is_open.load(Relaxed) {
            snapshot_requests.is_open.store(false, Relaxed);
            let requests = snapshot_requests.includes_requests.swap(false, Relaxed);
            snapshot_requests.snapshots.send_replace(Arc::new(SchedulerCounts::take(scheduler, requests)));
        }
    }

    fn snapshot_requested(&self) -> impl Future<Output = ()> + Send {
        self.metrics.snapshot_requested()
    }
}

impl AttemptObserver for MetricsHooks {
    fn clock(&self) -> Option<Clock> {
        Some(clock)
    }
    fn before_pop(&mut self) {
        self.attempt_start = Instant::now();
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool, record: &AttemptRecord) {
        let took = self.attempt_start.elapsed();
        for &(point, code, took) in &record.points {
            self.metrics.0.attempts.record_point(record.profile, point, code, took);
        }
        self.metrics.0.attempts.record_decision(took);
        let decided = if has_node { PendingOutcome::Binds(self.attempt_start) } else { PendingOutcome::Failed(took) };
        self.decided.insert(pod.uid.clone(), decided);
    }
}

/// Returns the nanoseconds since the first call.
fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
