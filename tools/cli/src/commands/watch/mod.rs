//! `--watch`: a live view on the terminal.

mod activity;
#[cfg(feature = "run")]
pub(crate) mod run;
pub(crate) mod simulation;

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schedc_bounds::text::shortened;

use super::failure::Failure;
use activity::Activity;

/// Maximum number of lines of the view.
const MAX_LINES: usize = 12;
/// Maximum number of lines for the reasons of pending pods; five lines precede them.
const MAX_REASONS: usize = MAX_LINES - 5;
/// Maximum number of characters of a line.
const WIDTH: usize = 100;
/// Interval between two frames.
const INTERVAL: Duration = Duration::from_millis(200);

/// Lines at the end of the terminal, which are replaced by each frame.
pub(crate) struct LiveView {
    /// A progress bar that consists of a message.
    lines: ProgressBar,
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
                "--watch draws on standard error, which is not a terminal; omit --watch, and use `-o json` or --report instead",
            ));
        }
        let lines = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            lines.set_style(style);
        }
        Ok(LiveView { lines, drawn: None })
    }

    /// Returns whether the time of the next frame has come.
    fn is_due(&self, now: Instant) -> bool {
        self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= INTERVAL)
    }

    /// Replaces the lines.
    fn draw(&mut self, now: Instant, activity: &mut Activity) {
        self.drawn = Some(now);
        activity.advance(now);
        let frame = activity.frame(now, MAX_REASONS);
        let lines: Vec<_> = frame.iter().map(|line| shortened(line, WIDTH).to_string()).collect();
        self.lines.set_message(lines.join("\n"));
    }

    /// Removes the lines.
    fn end(&self) {
        self.lines.finish_and_clear();
    }
}
