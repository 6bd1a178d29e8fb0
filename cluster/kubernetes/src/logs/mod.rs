//! Logs as kube-scheduler writes them: lines of klog's text format, or JSON.
//!
//! | `tracing` | severity | shown from |
//! |---|---|---|
//! | `error!` | error | always |
//! | `warn!` | warning | always |
//! | `info!` | info | always |
//! | `debug!` | info | `-v 4`, or the value of its field `v` |
//!
//! Only messages of this project are written, and no spans. `trace!` is left to libraries and removed from release
//! builds. A disabled message costs one comparison. If other messages of its level are enabled, its fields are
//! evaluated as well, but not formatted.

mod json;
mod rate_limit;
mod text;

use std::fmt;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::flags::Logging;
pub(crate) use rate_limit::RateLimit;

/// Minimum `-v` of debug messages without the field `v`.
const DEBUG_VERBOSITY: u8 = 4;

/// Installs the logger. A second call has no effect.
pub fn start(logging: &Logging) {
    start_around(logging, |write| write());
}

/// Installs the logger like [`start`]. `around` receives the function that writes a line, and must call it, for example
/// between changes of the terminal.
pub fn start_around(logging: &Logging, around: fn(&mut dyn FnMut())) {
    let (split, json) = (logging.split, logging.json);
    let write = move |severity, line: &str| around(&mut || write(stream(severity, split, json), line));
    // This fails if another logger is installed already.
    let _ = set_global_default(Logs::new(logging, write));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

/// Returns the stream of messages with this severity. `split`: one of the flags for split streams is set.
fn stream(severity: Severity, split: bool, json: bool) -> Stream {
    match severity {
        Severity::Info if split => Stream::Output,
        // kube-scheduler's JSON has no warnings: klog passes them to the JSON logger as information.
        Severity::Warning if split && json => Stream::Output,
        Severity::Info | Severity::Warning | Severity::Error => Stream::Error,
    }
}

fn write(stream: Stream, line: &str) {
    // A failed write cannot be reported.
    let _ = match stream {
        Stream::Output => std::io::stdout().write_all(line.as_bytes()),
        Stream::Error => std::io::stderr().write_all(line.as_bytes()),
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Info,
    Warning,
    Error,
}

/// Log message.
struct Entry {
    severity: Severity,
    /// Minimum `-v`.
    verbosity: u8,
    /// Time since 1970.
    time: Duration,
    file: &'static str,
    line: u32,
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl Entry {
    /// Returns the file name with this number of parent folders. For `mod.rs`, at least one folder is included.
    fn file(&self, folders: usize) -> &'static str {
        let folders = if self.file.ends_with("/mod.rs") { folders.max(1) } else { folders };
        let start = self.file.rmatch_indices('/').nth(folders).map_or(0, |(at, _)| at + 1);
        &self.file[start..]
    }
}

/// Subscriber that writes enabled messages.
struct Logs<W> {
    verbosity: u8,
    json: bool,
    write: W,
}

impl<W: Fn(Severity, &str)> Logs<W> {
    fn new(logging: &Logging, write: W) -> Self {
        Logs { verbosity: logging.verbosity, json: logging.json, write }
    }

    fn level(&self) -> LevelFilter {
        match self.verbosity {
            0 => LevelFilter::INFO,
            _ => LevelFilter::DEBUG,
        }
    }
}

impl<W: Fn(Severity, &str) + Send + Sync + 'static> Subscriber for Logs<W> {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("schedc") && *metadata.level() <= self.level()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level())
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let (severity, verbosity) = match *metadata.level() {
            Level::ERROR => (Severity::Error, 0),
            Level::WARN => (Severity::Warning, 0),
            Level::INFO => (Severity::Info, 0),
            Level::DEBUG | Level::TRACE => (Severity::Info, DEBUG_VERBOSITY),
        };
        let mut verbosity = Verbosity(verbosity);
        event.record(&mut verbosity);
        if verbosity.0 > self.verbosity {
            return;
        }
        let mut entry = Entry {
            severity,
            verbosity: verbosity.0,
            time: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            file: metadata.file().unwrap_or_default(),
            line: metadata.line().unwrap_or_default(),
            message: String::new(),
            fields: Vec::new(),
        };
        event.record(&mut entry);
        let line = if self.json { json::line(&entry) } else { text::line(&entry, std::process::id()) };
        (self.write)(severity, &line);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Entry {
    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            ("v", _) => {}
            (name, value) => self.fields.push((name, value)),
        }
    }
}

/// Minimum `-v` of a message: its field `v`, or the level's default.
struct Verbosity(u8);

impl Visit for Verbosity {
    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == "v" {
            self.0 = u8::try_from(value).unwrap_or(self.0);
        }
    }
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

/// Returns the default logger with another destination for its lines.
#[cfg(test)]
pub(crate) fn with_writer(write: impl Fn(&str) + Send + Sync + 'static) -> impl Subscriber + Send + Sync {
    Logs::new(&Logging::default(), move |_, line| write(line))
}

#[cfg(test)]
mod tests;
