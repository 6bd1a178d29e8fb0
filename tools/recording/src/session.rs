//! A recording in progress: converts changes to lines, and writes them.

use std::io;
use std::path::Path;

use crate::anonymiser::Anonymiser;
use crate::change::{Change, ConvertedChange};
use crate::converter::Converter;
use crate::entry::{Entry, Line, ObjectText, SchedulerEvent};
use crate::expansion::Expansion;
use crate::queue::Batch;
use crate::recorder::Recorder;
use crate::writer::{Limits, Writer};

/// A recorder with its writer.
#[derive(Debug)]
pub struct Session {
    converter: Converter,
    recorder: Recorder,
    writer: Writer,
    /// Names in templates and pods are replaced in whole objects.
    anonymiser: Option<(Anonymiser, Expansion)>,
    /// Whether the snapshot of the first file is written.
    has_snapshot: bool,
}

impl Session {
    /// Begins a recording of these kinds in a folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn start(
        folder: &Path,
        limits: Limits,
        kinds: impl IntoIterator<Item = &'static str>,
        anonymiser: Option<Anonymiser>,
        at: i64,
    ) -> io::Result<Session> {
        let writer = Writer::start(folder, limits, at)?;
        let anonymiser = anonymiser.map(|anonymiser| (anonymiser, Expansion::default()));
        let (converter, recorder) = (Converter::default(), Recorder::new(kinds));
        Ok(Session { converter, recorder, writer, anonymiser, has_snapshot: false })
    }

    /// Returns whether the first lists of all kinds are complete.
    pub fn is_synced(&self) -> bool {
        self.recorder.is_synced()
    }

    /// Records a change.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn record(&mut self, at: i64, change: Change) -> io::Result<()> {
        self.converter.convert(change).map_or(Ok(()), |change| self.record_converted(at, change))
    }

    fn record_converted(&mut self, at: i64, change: ConvertedChange) -> io::Result<()> {
        let lines = self.recorder.record(at, change);
        self.write(lines)?;
        self.end_snapshot()?;
        self.rotate_if_full(at)
    }

    /// Records the changes of a queue. Its backlog is recorded as a gap that is repaired. Returns whether there was one.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn record_batch(&mut self, at: i64, batch: Batch) -> io::Result<bool> {
        let Batch { changes, backlog } = batch;
        for (at, change) in changes {
            self.record_converted(at, change)?;
        }
        if backlog.is_empty() {
            return Ok(false);
        }
        let is_gap = self.is_synced();
        let lines = self.recorder.begin_backlog(at, backlog.kinds());
        self.write(lines)?;
        // The merged changes are not in the order of their times.
        for (_, change) in backlog.into_changes() {
            let lines = self.recorder.record(at, change);
            self.write(lines)?;
        }
        let lines = self.recorder.end_backlog(at);
        self.write(lines)?;
        self.end_snapshot()?;
        self.rotate_if_full(at)?;
        Ok(is_gap)
    }

    /// Records an event of a scheduler.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn event(&mut self, at: i64, event: SchedulerEvent) -> io::Result<()> {
        self.write(vec![Line::new(at, Entry::Event(event))])
    }

    /// Writes all lines so far.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Returns whether there are lines for [`Session::flush`].
    pub fn has_unwritten_lines(&self) -> bool {
        self.writer.has_unwritten_lines()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The last lines cannot be written.
    pub fn stop(self, at: i64) -> io::Result<()> {
        self.writer.stop(at)
    }

    /// Writes the first snapshot when it is complete.
    fn end_snapshot(&mut self) -> io::Result<()> {
        if self.has_snapshot || !self.recorder.is_synced() {
            return Ok(());
        }
        self.has_snapshot = true;
        self.writer.flush()?;
        self.writer.snapshot_written();
        Ok(())
    }

    /// Begins the next file if this one is full. A snapshot with an open gap would hide the gap.
    fn rotate_if_full(&mut self, at: i64) -> io::Result<()> {
        if !self.writer.is_full() || !self.recorder.is_repaired() {
            return Ok(());
        }
        let anonymiser = &mut self.anonymiser;
        self.writer.rotate(at, self.recorder.snapshot(at).filter_map(|line| written(anonymiser, line)))
    }

    fn write(&mut self, lines: Vec<Line<ObjectText>>) -> io::Result<()> {
        let anonymiser = &mut self.anonymiser;
        self.writer.write(lines.into_iter().filter_map(|line| written(anonymiser, line)))
    }
}

/// Returns a line as it is written; `None` for the template of an anonymised recording.
fn written(anonymiser: &mut Option<(Anonymiser, Expansion)>, line: Line<ObjectText>) -> Option<Line<ObjectText>> {
    let Some((anonymiser, expansion)) = anonymiser else { return Some(line) };
    // The recorder writes a template before its pods, so there is no error.
    let line = expansion.line(line.parse()).ok()??;
    Some(anonymiser.line(line).into_text())
}
