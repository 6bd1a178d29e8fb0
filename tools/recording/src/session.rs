//! A recording in progress: converts changes to lines, and writes them.

use std::io;
use std::mem;
use std::path::Path;

use crate::anonymiser::Anonymiser;
use crate::change::{Change, ConvertedChange};
use crate::converter::Converter;
use crate::entry::{Entry, Line, SchedulerEvent};
use crate::lines::Lines;
use crate::queue::Batch;
use crate::recorder::Recorder;
use crate::writer::{Limits, Writer};

/// A recorder with its writer.
#[derive(Debug)]
pub struct Session {
    converter: Converter,
    recorder: Recorder,
    lines: Lines,
    writer: Writer,
    /// Whether the snapshot of the first file is written.
    has_snapshot: bool,
}

impl Session {
    /// Begins a recording of these kinds in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn start(
        folder: &Path,
        limits: Limits,
        kinds: impl IntoIterator<Item = &'static str>,
        anonymiser: Option<Anonymiser>,
        at: i64,
    ) -> io::Result<Session> {
        let writer = Writer::start(folder, limits, at)?;
        let (converter, recorder) = (Converter::default(), Recorder::new(kinds));
        Ok(Session { converter, recorder, lines: Lines::new(anonymiser), writer, has_snapshot: false })
    }

    /// Returns whether the first lists of all kinds are complete.
    pub fn is_synced(&self) -> bool {
        self.recorder.is_synced()
    }

    /// Records a change.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
    pub fn record(&mut self, at: i64, change: Change) -> io::Result<()> {
        self.converter.convert(change).map_or(Ok(()), |change| self.record_converted(at, change))
    }

    fn record_converted<T: AsRef<str> + Into<String>>(
        &mut self,
        at: i64,
        change: ConvertedChange<T>,
    ) -> io::Result<()> {
        self.recorder.record(at, change, &mut self.lines)?;
        self.write()?;
        self.end_snapshot()?;
        self.rotate_if_full(at)
    }

    /// Records the changes of a queue. Its backlog is recorded as a gap that is repaired. Returns whether there was a
    /// gap.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
    pub fn record_batch(&mut self, at: i64, batch: &mut Batch) -> io::Result<bool> {
        for (at, change) in batch.drain_changes() {
            self.record_converted(at, change)?;
        }
        let backlog = mem::take(&mut batch.backlog);
        if backlog.is_empty() {
            return Ok(false);
        }
        let is_gap = self.is_synced();
        self.recorder.begin_backlog(at, backlog.kinds(), &mut self.lines)?;
        // The merged changes are not in the order of their times. Therefore, all are recorded with the time `at`.
        for (_, change) in backlog.into_changes() {
            self.recorder.record(at, change, &mut self.lines)?;
            self.write()?;
        }
        self.recorder.end_backlog(at, &mut self.lines)?;
        self.write()?;
        self.end_snapshot()?;
        self.rotate_if_full(at)?;
        Ok(is_gap)
    }

    /// Records an event of a scheduler.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
    pub fn event(&mut self, at: i64, event: SchedulerEvent) -> io::Result<()> {
        self.lines.add(Line::new(at, Entry::Event(event)))?;
        self.write()
    }

    /// Writes all lines so far.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be written.
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
    /// Returns an error if the last lines cannot be written.
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

    /// Begins the next file if this one is full and no gap is open. The snapshot of the next file would hide an open
    /// gap.
    fn rotate_if_full(&mut self, at: i64) -> io::Result<()> {
        if !self.writer.is_full() || !self.recorder.is_repaired() {
            return Ok(());
        }
        let Session { recorder, lines, writer, .. } = self;
        writer.rotate(at, |writer| recorder.snapshot(at, lines, |text| writer.append(text)))
    }

    /// Writes the formatted lines.
    fn write(&mut self) -> io::Result<()> {
        self.writer.append(self.lines.text())
    }
}
