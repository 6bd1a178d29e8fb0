//! What is told of a scheduler at work.

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
use super::census::Census;
use crate::drive::Hooks;

/// Looks on while a scheduler works, and counts. One for each scheduler.
#[derive(Debug)]
pub struct Observed {
    metrics: Metrics,
    attempt_began: Instant,
    change_began: Instant,
    /// Pods that were decided on, and of which nobody said yet what became of them.
    decided: Map<Uid, Decided>,
}

/// An attempt of which nobody said yet how it ended.
#[derive(Clone, Copy, Debug)]
enum Decided {
    /// The pod has its node since the attempt that began then.
    Binds(Instant),
    /// The pod has none, and finding that out took so long.
    Failed(Duration),
}

impl Observed {
    /// Counts for these metrics.
    pub fn new(metrics: Metrics) -> Self {
        let now = Instant::now();
        Observed { metrics, attempt_began: now, change_began: now, decided: Map::default() }
    }
}

impl Hooks for Observed {
    fn told(&mut self, _: &Change, _: Option<&AnyObject>, _: &mut dyn AnyScheduler) {
        self.change_began = Instant::now();
    }

    fn took_in(&mut self, scheduler: &dyn AnyScheduler) {
        if let Some(event) = scheduler.last_event() {
            self.metrics.0.attempts.took_in(event, self.change_began.elapsed());
        }
    }

    fn came_to_end(&mut self, outcome: &Outcome, _: &dyn AnyScheduler) {
        let took = match self.decided.remove(&outcome.pod.uid) {
            Some(Decided::Binds(since)) => since.elapsed(),
            Some(Decided::Failed(took)) => took,
            None => Duration::ZERO,
        };
        self.metrics.0.attempts.ended(outcome, took);
    }

    fn asked_extender(&mut self, call: &ExtenderCall) {
        self.metrics.0.extenders.count(call);
    }

    fn turned(&mut self, scheduler: &dyn AnyScheduler) {
        let questions = &self.metrics.0.questions;
        if questions.is_open.load(Relaxed) {
            questions.is_open.store(false, Relaxed);
            let requests = questions.wants_requests.swap(false, Relaxed);
            questions.answers.send_replace(Arc::new(Census::take(scheduler, requests)));
        }
    }

    fn asked(&self) -> impl Future<Output = ()> + Send {
        self.metrics.asked()
    }
}

impl AttemptObserver for Observed {
    fn clock(&self) -> Option<Clock> {
        Some(clock)
    }
    fn before_pop(&mut self) {
        self.attempt_began = Instant::now();
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool, record: &AttemptRecord) {
        let took = self.attempt_began.elapsed();
        for &(point, code, took) in &record.points {
            self.metrics.0.attempts.ran(record.profile, point, code, took);
        }
        self.metrics.0.attempts.decided(took);
        let decided = if has_node { Decided::Binds(self.attempt_began) } else { Decided::Failed(took) };
        self.decided.insert(pod.uid.clone(), decided);
    }
}

/// Returns the nanoseconds since the first call.
fn clock() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
