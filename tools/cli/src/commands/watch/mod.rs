//! `--watch`: a live view on the terminal.

mod activity;
#[cfg(feature = "run")]
pub(crate) mod run;
pub(crate) mod simulation;

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::Failure;
use activity::Activity;

/// Number of lines of the view.
const LINES: usize = 12;
/// Number of reasons of pending pods that the view has room for.
const REASONS: usize = LINES - 5;
/// Interval between two frames.
const INTERVAL: Duration = Duration::from_millis(200);

/// Lines at the end of the terminal, which are replaced by each frame.
pub(crate) struct LiveView {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
    drawn: Option<Instant>,
}

impl LiveView {
    /// Creates a view on standard error.
    ///
    /// # Errors
    /// Returns an error if standard error is not a terminal.
    fn new() -> Result<Self, Failure> {
        if !stderr().is_terminal() {
            return Err(Failure::new(
                "--watch draws on a terminal, but standard error is none; omit it, and use `-o json` or --report instead",
            ));
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let line = |_| {
            let line = all.add(ProgressBar::no_length());
            // Long lines are shortened to the width of the terminal.
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                line.set_style(style);
            }
            line
        };
        let lines = (0..LINES).map(line).collect();
        Ok(LiveView { all, lines, drawn: None })
    }

    /// Returns whether the time of the next frame has come.
    fn is_due(&self, now: Instant) -> bool {
        self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= INTERVAL)
    }

    /// Replaces the lines.
    fn draw(&mut self, now: Instant, activity: &mut Activity) {
        self.drawn = Some(now);
        activity.advance(now);
        let mut frame = activity.frame(now, REASONS).into_iter();
        for line in &self.lines {
            line.set_message(frame.next().unwrap_or_default());
            line.tick();
        }
    }

    /// Removes the lines.
    fn end(&self) {
        for line in &self.lines {
            line.finish_and_clear();
        }
        // If standard error is closed, there is nothing to clear.
        let _ = self.all.clear();
    }
}
