//! A recording on a thread: its caller never waits for formatting, compression or the disk.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::change::Change;
use crate::converter::Converter;
use crate::queue::{Batch, Capacity, Queue};
use crate::session::Session;

/// Capacities and times of a recording on a thread.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Capacity of the queue.
    pub capacity: Capacity,
    /// Time for which the thread gathers changes after the first one. It saves wake-ups.
    pub pause: Duration,
    /// Maximum age of an unwritten line.
    pub flush_interval: Duration,
    /// Time limit for writing the last lines.
    pub stop_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            capacity: Capacity { changes: 16_384, merged: 1_000_000 },
            pause: Duration::from_millis(200),
            flush_interval: Duration::from_secs(1),
            stop_timeout: Duration::from_secs(5),
        }
    }
}

/// A problem of a recording, for its user.
#[derive(Debug)]
pub enum Problem {
    /// The recording cannot be written, and ends.
    Ended(io::Error),
    /// The thread was too slow: the recording has a gap, which is repaired.
    Gap,
}

/// A recording on a thread.
#[derive(Debug)]
pub struct Background {
    queue: Arc<Queue>,
    converter: Mutex<Converter>,
    /// Receives nothing; its sender is dropped at the end of the thread. `None` after [`Background::stop`].
    end: Mutex<Option<Receiver<()>>>,
    stop_timeout: Duration,
}

impl Background {
    /// Starts the thread, which passes problems to `report`.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub fn start(
        session: Session,
        settings: Settings,
        report: impl FnMut(Problem) + Send + 'static,
    ) -> io::Result<Background> {
        let queue = Arc::new(Queue::new(settings.capacity));
        let (sender, end) = sync_channel(0);
        let consumer = queue.clone();
        thread::Builder::new().name("recording".to_owned()).spawn(move || {
            write_changes(session, &consumer, settings, report);
            drop(sender);
        })?;
        Ok(Background {
            queue,
            converter: Mutex::default(),
            end: Mutex::new(Some(end)),
            stop_timeout: settings.stop_timeout,
        })
    }

    /// Records a change. Ignores it if the recording has ended.
    pub fn record(&self, change: Change) {
        if self.queue.is_closed() {
            return;
        }
        let change = self.converter.lock().unwrap_or_else(PoisonError::into_inner).convert(change);
        if let Some(change) = change {
            self.queue.push(now(), change);
        }
    }

    /// Returns the number of changes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Ends the recording: the thread writes its last lines. Returns false if this takes longer than the time limit.
    pub fn stop(&self) -> bool {
        self.queue.stop();
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        end.is_none_or(|end| end.recv_timeout(self.stop_timeout) != Err(RecvTimeoutError::Timeout))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Writes the changes of a queue until its producer stops or an error occurs.
fn write_changes(mut session: Session, queue: &Queue, settings: Settings, mut report: impl FnMut(Problem)) {
    let end = loop {
        match write_batches(&mut session, queue, settings) {
            Ok(Outcome::Gap) => report(Problem::Gap),
            Ok(Outcome::Stopped) => break session.stop(now()),
            Err(error) => break Err(error),
        }
    };
    queue.close();
    if let Err(error) = end {
        report(Problem::Ended(error));
    }
}

/// Reason why [`write_batches`] returned.
enum Outcome {
    Gap,
    Stopped,
}

fn write_batches(session: &mut Session, queue: &Queue, settings: Settings) -> io::Result<Outcome> {
    // An earlier call may have left unwritten lines.
    let mut flush_at = session.has_unwritten_lines().then(|| Instant::now() + settings.flush_interval);
    let mut batch = Batch::default();
    loop {
        let is_stopped = queue.take(&mut batch, flush_at, settings.pause);
        if queue.is_closed() {
            return Err(io::Error::other("the disk is too slow for the changes of the cluster"));
        }
        let is_gap = session.record_batch(now(), &mut batch)?;
        let is_due = flush_at.is_some_and(|time| time <= Instant::now());
        if is_due || is_gap {
            session.flush()?;
        }
        flush_at = match flush_at {
            _ if !session.has_unwritten_lines() => None,
            Some(time) if !is_due => Some(time),
            _ => Some(Instant::now() + settings.flush_interval),
        };
        // If the queue is also stopped after a gap, the next call returns `Stopped`.
        match (is_gap, is_stopped) {
            (true, _) => return Ok(Outcome::Gap),
            (false, true) => return Ok(Outcome::Stopped),
            (false, false) => {}
        }
    }
}

/// Returns the time in milliseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
