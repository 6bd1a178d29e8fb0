//! The live view of `schedc run`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::scheduler::Outcome;
use schedc_kubernetes::driver::DriverHooks;

use super::activity::Activity;
use super::{INTERVAL, LiveView};
use crate::commands::failure::Failure;
use crate::timeline::Span;

/// Interval at which pods that are no longer pending are forgotten.
const RETAIN_INTERVAL: Duration = Duration::from_secs(1);
/// The view of the running command, which log lines must not overwrite. Each command of a process replaces it.
static VIEW: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Hooks of a driver with a live view; without one, they do nothing.
#[derive(Clone, Default)]
pub(crate) struct LiveRun(Option<Arc<Mutex<State>>>);

struct State {
    view: LiveView,
    activity: Activity,
    began: Instant,
    /// Time when the counts of the scheduler were last read.
    counted: Option<Instant>,
    /// Time when pods that were no longer pending were last forgotten.
    retained: Instant,
}

impl LiveRun {
    /// Creates a live view, if it is requested.
    ///
    /// # Errors
    /// Returns an error if there is no terminal for it.
    pub(crate) fn new(is_requested: bool) -> Result<Self, Failure> {
        if !is_requested {
            return Ok(LiveRun::default());
        }
        Ok(LiveRun::with_view(LiveView::new()?))
    }

    fn with_view(view: LiveView) -> Self {
        set_view(Some(view.lines.clone()));
        let now = Instant::now();
        let activity = Activity::new(now);
        LiveRun(Some(Arc::new(Mutex::new(State { view, activity, began: now, counted: None, retained: now }))))
    }

    /// Draws the view until the future is dropped, also while the scheduler is idle.
    pub(crate) async fn run(self) {
        if self.0.is_none() {
            return std::future::pending().await;
        }
        let _end = EndOfView(self.clone());
        let mut times = tokio::time::interval(INTERVAL);
        loop {
            times.tick().await;
            self.update(State::draw);
        }
    }

    fn update(&self, update: impl FnOnce(&mut State)) {
        if let Some(state) = &self.0 {
            update(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Removes the view when the command ends.
struct EndOfView(LiveRun);

impl Drop for EndOfView {
    fn drop(&mut self) {
        self.0.update(|state| state.view.end());
        set_view(None);
    }
}

impl State {
    fn draw(&mut self) {
        let now = Instant::now();
        let seconds = now.duration_since(self.began).as_secs();
        self.activity.time = Span(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000_000)).to_string();
        self.view.draw(now, &mut self.activity);
    }

    /// Reads the counts of the scheduler, unless they were read less than [`INTERVAL`] ago.
    fn read_counts(&mut self, scheduler: &dyn AnyScheduler) {
        let now = Instant::now();
        if self.counted.is_some_and(|counted| now.duration_since(counted) < INTERVAL) {
            return;
        }
        self.counted = Some(now);
        self.activity.queue = scheduler.queue_counts();
        if now.duration_since(self.retained) >= RETAIN_INTERVAL {
            self.retained = now;
            self.activity.retain(|uid| scheduler.pending(uid).is_some());
        }
    }
}

impl AttemptObserver for LiveRun {}

impl DriverHooks for LiveRun {
    fn on_outcome(&mut self, outcome: &Outcome, _: &dyn AnyScheduler) {
        self.update(|state| state.activity.record(Instant::now(), outcome));
    }

    fn on_turn(&mut self, scheduler: &mut dyn AnyScheduler) {
        self.update(|state| state.read_counts(scheduler));
    }

    fn on_idle(&mut self, scheduler: &dyn AnyScheduler, _: bool) {
        self.update(|state| {
            state.counted = None;
            state.read_counts(scheduler);
        });
    }
}

fn set_view(view: Option<ProgressBar>) {
    *VIEW.lock().unwrap_or_else(PoisonError::into_inner) = view;
}

/// Returns the view of the running command, if it has one.
fn view() -> Option<ProgressBar> {
    VIEW.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Writes a log line above the view, if there is one.
pub(crate) fn above_view(write: &mut dyn FnMut()) {
    match view() {
        Some(view) => view.suspend(write),
        None => write(),
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressDrawTarget;

    use super::*;

    #[test]
    fn each_command_has_its_own_view() {
        for message in ["first", "second"] {
            let lines = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            let end = EndOfView(LiveRun::with_view(LiveView { lines: lines.clone(), drawn: None }));
            lines.set_message(message);
            assert_eq!(view().map(|view| view.message()).as_deref(), Some(message));
            drop(end);
            assert!(view().is_none() && lines.is_finished());
            let mut written = false;
            above_view(&mut || written = true);
            assert!(written);
        }
    }
}
