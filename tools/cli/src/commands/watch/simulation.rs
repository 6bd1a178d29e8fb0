//! The observers of a simulation: the history for a report, and the live view.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::Base;
use schedc_core::erased::AnyScheduler;
use schedc_core::model::Pod;
use schedc_core::scheduler::Outcome;
use schedc_in_memory::SimulationHooks;
use schedc_in_memory::server::Change;

use super::LiveView;
use super::activity::Activity;
use crate::commands::failure::Failure;
use crate::simulation_history::SimulationHistory;
use crate::timeline::Span;

/// Interval at which pods that are no longer pending are forgotten.
const RETAIN_INTERVAL: Duration = Duration::from_secs(1);

/// Hooks of a simulation with a report or a live view.
#[derive(Default)]
pub(crate) struct Observers {
    /// The history for a report, if a report is requested.
    pub(crate) history: Option<SimulationHistory>,
    live: Option<LiveSimulation>,
}

struct LiveSimulation {
    view: LiveView,
    activity: Activity,
    /// Virtual time of the first event.
    start: Option<i64>,
    /// Time when pods that were no longer pending were last forgotten.
    retained: Instant,
}

impl Observers {
    /// Creates observers, with a live view if `is_live`.
    ///
    /// # Errors
    /// Returns an error if there is no terminal for the view.
    pub(crate) fn new(history: Option<SimulationHistory>, is_live: bool) -> Result<Self, Failure> {
        let now = Instant::now();
        let live = |view| LiveSimulation { view, activity: Activity::new(now), start: None, retained: now };
        let live = is_live.then(LiveView::new).transpose()?.map(live);
        Ok(Observers { history, live })
    }

    /// Removes the view.
    pub(crate) fn end(&self) {
        if let Some(live) = &self.live {
            live.view.end();
        }
    }
}

impl LiveSimulation {
    fn draw(&mut self, at: i64, scheduler: &dyn AnyScheduler) {
        let now = Instant::now();
        if !self.view.is_due(now) {
            return;
        }
        if now.duration_since(self.retained) >= RETAIN_INTERVAL {
            self.retained = now;
            self.activity.retain(|uid| scheduler.pending(uid).is_some());
        }
        let start = *self.start.get_or_insert(at);
        self.activity.time = format!("{} of virtual time", Span(at - start));
        self.activity.queue = scheduler.queue_counts();
        self.view.draw(now, &mut self.activity);
    }
}

impl SimulationHooks for Observers {
    fn observes_attempts(&self) -> bool {
        self.history.is_some()
    }

    fn before_attempt(&mut self, now: i64, pod: &Arc<Pod>, scheduler: &mut dyn AnyScheduler) {
        if let Some(history) = &mut self.history {
            history.before_attempt(now, pod, scheduler);
        }
    }

    fn on_change(&mut self, now: i64, change: &Change) {
        if let Some(history) = &mut self.history {
            history.on_change(now, change);
        }
    }

    fn after_change(&mut self, now: i64, change: &Change, scheduler: &mut dyn AnyScheduler) {
        if let Some(history) = &mut self.history {
            history.after_change(now, change, scheduler);
        }
        if let Some(live) = &mut self.live {
            live.draw(now, scheduler);
        }
    }

    fn on_outcome(&mut self, now: i64, outcome: &Outcome, cluster: &Base) {
        if let Some(history) = &mut self.history {
            history.on_outcome(now, outcome, cluster);
        }
        if let Some(live) = &mut self.live {
            live.activity.record(Instant::now(), outcome);
        }
    }
}
