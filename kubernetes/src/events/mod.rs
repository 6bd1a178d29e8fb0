//! Events for people, as kube-scheduler writes them.
//!
//! An event is written once. What happens again to the same version of a pod is a series: the second time, the event that is
//! there gets to say so, and then only once in a while how often it was (client-go's `tools/events`). [`Recorder`] decides
//! what is to be written; it neither writes nor knows the time. [`Sink`] writes it.

mod body;
mod sink;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{Event, EventType};
use schedc_core::model::Uid;

use body::Body;
pub use sink::{Queue, Sink};

/// When a series is over, or an event is not expected to become one: client-go's `finishTime`.
const FINISH: Duration = Duration::from_secs(6 * 60);
/// How often the API server is told that a series goes on: client-go's `refreshTime`.
const REFRESH: Duration = Duration::from_secs(30 * 60);

/// A request to write an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Of the event.
    pub namespace: Box<str>,
    /// Of the event.
    pub name: Box<str>,
    /// What to do.
    pub what: What,
}

/// What to do with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Create it.
    Create {
        /// The event, as JSON.
        event: Bytes,
    },
    /// Change it, or create it if it is gone.
    Update {
        /// The change, as a strategic merge patch in JSON.
        patch: Bytes,
        /// The event, as JSON.
        event: Bytes,
    },
}

/// Decides what is to be written.
#[derive(Debug)]
pub struct Recorder {
    host: Box<str>,
    /// What was written, and may become a series.
    known: HashMap<Key, Known>,
    /// The last name that was given, so that none is given twice.
    named: i128,
    /// When series are told and finished next.
    sweeps: Option<Sweeps>,
    /// Series that are to be written, the first to be written first.
    due: VecDeque<Due>,
}

/// A series that is to be written. Its request is built when it is sent: there can be one for each waiting pod.
#[derive(Debug)]
enum Due {
    /// The series goes on.
    Refresh(Key),
    /// The series is over: the version of the pod, and the event.
    Finish(Option<u64>, Known),
}

#[derive(Clone, Copy, Debug)]
struct Sweeps {
    refresh: Timestamp,
    finish: Timestamp,
}

/// Events that differ in none of these are one: what was said does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    pod: Uid,
    version: Option<u64>,
    scheduler: &'static str,
    event_type: EventType,
    reason: &'static str,
    action: &'static str,
}

/// An event that was written.
#[derive(Debug)]
struct Known {
    event: Event,
    name: Box<str>,
    time: Timestamp,
    series: Option<Series>,
}

/// How often it was, and when last.
#[derive(Clone, Copy, Debug)]
struct Series {
    count: u32,
    last: Timestamp,
}

impl Recorder {
    /// For a scheduler on this host.
    pub fn new(host: &str) -> Self {
        Recorder { host: host.into(), known: HashMap::new(), named: 0, sweeps: None, due: VecDeque::new() }
    }

    /// Something happened at a time to a pod of this version. `None`: nothing is to be written now.
    pub fn record(&mut self, event: Event, version: Option<u64>, now: Timestamp) -> Option<Write> {
        let key = Key {
            pod: event.regarding.uid.clone(),
            version,
            scheduler: event.scheduler,
            event_type: event.event_type,
            reason: event.reason,
            action: event.action,
        };
        if let Some(known) = self.known.get_mut(&key) {
            let is_new = known.series.is_none();
            let count = known.series.map_or(1, |series| series.count).saturating_add(1);
            known.series = Some(Series { count, last: now });
            return is_new.then(|| known.write(version, &self.host));
        }
        let name = self.name(&event, now);
        let known = Known { event, name, time: now, series: None };
        let write = known.write(version, &self.host);
        // A pod is bound once.
        if key.reason != "Scheduled" {
            self.known.insert(key, known);
            self.sweeps.get_or_insert(Sweeps { refresh: later(now, REFRESH), finish: later(now, FINISH) });
        }
        Some(write)
    }

    /// When to [`Recorder::sweep`] next. `None`: there is nothing that could become of anything.
    pub fn next_sweep(&self) -> Option<Timestamp> {
        self.sweeps.map(|sweeps| sweeps.refresh.min(sweeps.finish))
    }

    /// Collects the series that are to be written after this time, for [`Recorder::next_due`], and forgets those that are over.
    pub fn sweep(&mut self, now: Timestamp) {
        let Some(sweeps) = &mut self.sweeps else { return };
        let (refreshes, finishes) = (sweeps.refresh <= now, sweeps.finish <= now);
        if refreshes {
            sweeps.refresh = later(now, REFRESH);
        }
        if finishes {
            sweeps.finish = later(now, FINISH);
        }
        let over = self.known.extract_if(|_, known| {
            finishes && later(known.series.map_or(known.time, |series| series.last), FINISH) < now
        });
        let over = over.filter(|(_, known)| known.series.is_some());
        self.due.extend(over.map(|(key, known)| Due::Finish(key.version, known)));
        if refreshes {
            let series = self.known.iter().filter(|(_, known)| known.series.is_some());
            self.due.extend(series.map(|(key, _)| Due::Refresh(key.clone())));
        }
        if self.known.is_empty() {
            // What was taken for a burst of events is given back.
            self.known = HashMap::new();
            self.sweeps = None;
        }
    }

    /// Whether [`Recorder::next_due`] may return a request.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The next request of those that the last sweep found due.
    pub fn next_due(&mut self) -> Option<Write> {
        while let Some(due) = self.due.pop_front() {
            match due {
                Due::Finish(version, known) => return Some(known.write(version, &self.host)),
                // A series that was finished meanwhile has its last request in the queue.
                Due::Refresh(key) => {
                    if let Some(known) = self.known.get(&key) {
                        return Some(known.write(key.version, &self.host));
                    }
                }
            }
        }
        self.due = VecDeque::new();
        None
    }

    /// A name that no other event has: the pod's, with the time (`GenerateEventName`).
    fn name(&mut self, event: &Event, now: Timestamp) -> Box<str> {
        const LONGEST: usize = 253;
        self.named = now.as_nanosecond().max(self.named + 1);
        let name = format!("{}.{:x}", event.regarding.name, self.named);
        let name = if name.len() > LONGEST { format!("{}.{:x}", event.regarding.uid.0, self.named) } else { name };
        name.into()
    }
}

impl Known {
    fn write(&self, version: Option<u64>, host: &str) -> Write {
        let body = Body::new(&self.event, &self.name, self.time, self.series, version, host);
        let event = body.to_json();
        let what = match body.series_to_json() {
            Some(patch) => What::Update { patch, event },
            None => What::Create { event },
        };
        Write { namespace: (*self.event.regarding.namespace).into(), name: self.name.clone(), what }
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
