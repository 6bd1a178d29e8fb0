//! The next changes of a recording, in the order of their resource versions.
//!
//! Watches of different kinds are not ordered: a recorder may receive a node's change after a binding that followed it. Resource versions of
//! all kinds of a store are comparable, so lines wait here for a few seconds, in which earlier changes may arrive.

use std::collections::VecDeque;

use schedc_recording::entry::Line;
use schedc_recording::reader::Place;

/// Time for which a line waits for earlier changes, in milliseconds. If a profile disagrees with a decision, the search
/// for another [`Order`](super::Order) considers the changes in this time before and after the decision.
pub(super) const SPAN: i64 = 5_000;

/// Maximum number of waiting lines.
const MAX_LINES: usize = 4_096;

/// Waiting lines.
#[derive(Default)]
pub(super) struct Window {
    lines: VecDeque<Waiting>,
    /// Version of the line that arrived last.
    version: u64,
    /// Latest time of a line, in milliseconds since 1970.
    now: i64,
}

struct Waiting {
    version: u64,
    place: Place,
    line: Line,
}

impl Window {
    /// Adds a line. A line without a version keeps its place after the line that arrived before it.
    pub(super) fn push(&mut self, place: Place, line: Line) {
        self.version = line.rv.unwrap_or(self.version);
        self.now = self.now.max(line.at);
        let version = self.version;
        let at = self.lines.partition_point(|waiting| waiting.version <= version);
        self.lines.insert(at, Waiting { version, place, line });
    }

    /// Removes the first line, if it has waited for [`SPAN`] or there are too many lines.
    pub(super) fn pop_ready(&mut self) -> Option<(Place, Line)> {
        let first = self.lines.front()?;
        if first.line.at + SPAN >= self.now && self.lines.len() <= MAX_LINES {
            return None;
        }
        self.pop()
    }

    /// Removes the first line.
    pub(super) fn pop(&mut self) -> Option<(Place, Line)> {
        self.lines.pop_front().map(|waiting| (waiting.place, waiting.line))
    }

    /// Returns the waiting lines in their order.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&Place, &Line)> {
        self.lines.iter().map(|waiting| (&waiting.place, &waiting.line))
    }
}
