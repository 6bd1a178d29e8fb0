//! What is told of a scheduler at work.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use schedc_core::client::Client;
use schedc_core::extenders::Call;
use schedc_core::map::Map;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Change, Observer, Outcome, Point, Scheduler};
use schedc_core::status::Code;
use schedc_objects::AnyObject;

use super::Metrics;
use super::census::Census;
use crate::drive::Hooks;

/// Looks on while a scheduler works, and counts. One for each scheduler.
#[derive(Debug)]
pub struct Observed {
    metrics: Metrics,
    /// The profile whose pod is being decided on.
    profile: usize,
    attempt_began: Instant,
    point_began: Instant,
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
        Observed {
            metrics,
            profile: 0,
            attempt_began: now,
            point_began: now,
            change_began: now,
            decided: Map::default(),
        }
    }
}

impl Hooks for Observed {
    fn told<B: Bundle, C: Client>(&mut self, _: &Change, _: Option<&AnyObject>, _: &mut Scheduler<B, C>) {
        self.change_began = Instant::now();
    }

    fn took_in<B: Bundle, C: Client>(&mut self, scheduler: &Scheduler<B, C>) {
        if let Some(event) = scheduler.last_event() {
            self.metrics.0.attempts.took_in(event, self.change_began.elapsed());
        }
    }

    fn came_to_end<B: Bundle, C: Client>(&mut self, outcome: &Outcome, _: &Scheduler<B, C>) {
        let took = match self.decided.remove(&outcome.pod.uid) {
            Some(Decided::Binds(since)) => since.elapsed(),
            Some(Decided::Failed(took)) => took,
            None => Duration::ZERO,
        };
        self.metrics.0.attempts.ended(outcome, took);
    }

    fn asked_extender(&mut self, call: &Call) {
        self.metrics.0.extenders.count(call);
    }

    fn turned<B: Bundle, C: Client>(&mut self, scheduler: &Scheduler<B, C>) {
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

impl Observer for Observed {
    fn pops(&mut self) {
        self.attempt_began = Instant::now();
    }
    fn attempts(&mut self, profile: usize, _: &Pod) {
        self.profile = profile;
    }
    fn begins(&mut self, _: Point) {
        self.point_began = Instant::now();
    }
    fn ends(&mut self, point: Point, code: Code) {
        self.metrics.0.attempts.ran(self.profile, point, code, self.point_began.elapsed());
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool) {
        let took = self.attempt_began.elapsed();
        self.metrics.0.attempts.decided(took);
        let decided = if has_node { Decided::Binds(self.attempt_began) } else { Decided::Failed(took) };
        self.decided.insert(pod.uid.clone(), decided);
    }
}
