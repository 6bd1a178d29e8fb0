//! Events for people, as kube-scheduler writes them.
//!
//! An event is written once. What happens again to the same version of a pod is a series: the second time, the event that is
//! there gets to say so, and then only once in a while how often it was (client-go's `tools/events`). [`EventRecorder`] decides
//! what is to be written; it neither writes nor knows the time. [`EventWriter`] writes it.

mod body;
mod writer;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{Event, EventType};
use schedc_core::model::Uid;

use body::EventBody;
pub use writer::{EventQueue, EventWriter};

/// When a series is over, or an event is not expected to become one: client-go's `finishTime`.
const FINISH_TIME: Duration = Duration::from_secs(6 * 60);
/// How often the API server is told that a series goes on: client-go's `refreshTime`.
const REFRESH_TIME: Duration = Duration::from_secs(30 * 60);

/// A request to write an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventWrite {
    /// Of the event.
    pub namespace: Box<str>,
    /// Of the event.
    pub name: Box<str>,
    /// What to do.
    pub operation: EventOperation,
}

/// What to do with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventOperation {
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
pub struct EventRecorder {
    host: Box<str>,
    /// What was written, and may become a series.
    recorded: HashMap<EventKey, RecordedEvent>,
    /// The last name that was given, so that none is given twice.
    last_name: i128,
    /// When series are told and finished next.
    sweeps: Option<SweepTimes>,
    /// Series that are to be written, the first to be written first.
    due: VecDeque<DueSeries>,
}

/// A series that is to be written. Its request is built when it is sent: there can be one for each waiting pod.
#[derive(Debug)]
enum DueSeries {
    /// The series goes on.
    Refresh(EventKey),
    /// The series is over: the version of the pod, and the event.
    Finish(Option<u64>, RecordedEvent),
}

#[derive(Clone, Copy, Debug)]
struct SweepTimes {
    refresh: Timestamp,
    finish: Timestamp,
}

/// Events that differ in none of these are one: what was said does not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct EventKey {
    pod: Uid,
    version: Option<u64>,
    scheduler: &'static str,
    event_type: EventType,
    reason: &'static str,
    action: &'static str,
}

/// An event that was written.
#[derive(Debug)]
struct RecordedEvent {
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

impl EventRecorder {
    /// For a scheduler on this host.
    pub fn new(host: &str) -> Self {
        EventRecorder { host: host.into(), recorded: HashMap::new(), last_name: 0, sweeps: None, due: VecDeque::new() }
    }

    /// Something happened at a time to a pod of this version. `None`: nothing is to be written now.
    pub fn record(&mut self, event: Event, version: Option<u64>, now: Timestamp) -> Option<EventWrite> {
        let key = EventKey {
            pod: event.regarding.uid.clone(),
            version,
            scheduler: event.scheduler,
            event_type: event.event_type,
            reason: event.reason,
            action: event.action,
        };
        if let Some(recorded) = self.recorded.get_mut(&key) {
            let is_new = recorded.series.is_none();
            let count = recorded.series.map_or(1, |series| series.count).saturating_add(1);
            recorded.series = Some(Series { count, last: now });
            return is_new.then(|| recorded.write(version, &self.host));
        }
        let name = self.name(&event, now);
        let recorded = RecordedEvent { event, name, time: now, series: None };
        let write = recorded.write(version, &self.host);
        // A pod is bound once.
        if key.reason != "Scheduled" {
            self.recorded.insert(key, recorded);
            self.sweeps
                .get_or_insert(SweepTimes { refresh: later(now, REFRESH_TIME), finish: later(now, FINISH_TIME) });
        }
        Some(write)
    }

    /// When to [`EventRecorder::sweep`] next. `None`: there is nothing that could become of anything.
    pub fn next_sweep(&self) -> Option<Timestamp> {
        self.sweeps.map(|sweeps| sweeps.refresh.min(sweeps.finish))
    }

    /// Collects the series that are to be written after this time, for [`EventRecorder::next_due`], and forgets those that are over.
    pub fn sweep(&mut self, now: Timestamp) {
        let Some(sweeps) = &mut self.sweeps else { return };
        let (refreshes, finishes) = (sweeps.refresh <= now, sweeps.finish <= now);
        if refreshes {
            sweeps.refresh = later(now, REFRESH_TIME);
        }
        if finishes {
            sweeps.finish = later(now, FINISH_TIME);
        }
        let over = self.recorded.extract_if(|_, recorded| {
            finishes && later(recorded.series.map_or(recorded.time, |series| series.last), FINISH_TIME) < now
        });
        let over = over.filter(|(_, recorded)| recorded.series.is_some());
        self.due.extend(over.map(|(key, recorded)| DueSeries::Finish(key.version, recorded)));
        if refreshes {
            let series = self.recorded.iter().filter(|(_, recorded)| recorded.series.is_some());
            self.due.extend(series.map(|(key, _)| DueSeries::Refresh(key.clone())));
        }
        if self.recorded.is_empty() {
            // What was taken for a burst of events is given back.
            self.recorded = HashMap::new();
            self.sweeps = None;
        }
    }

    /// Whether [`EventRecorder::next_due`] may return a request.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The next request of those that the last sweep found due.
    pub fn next_due(&mut self) -> Option<EventWrite> {
        while let Some(due) = self.due.pop_front() {
            match due {
                DueSeries::Finish(version, recorded) => return Some(recorded.write(version, &self.host)),
                // A series that was finished meanwhile has its last request in the queue.
                DueSeries::Refresh(key) => {
                    if let Some(recorded) = self.recorded.get(&key) {
                        return Some(recorded.write(key.version, &self.host));
                    }
                }
            }
        }
        self.due = VecDeque::new();
        None
    }

    /// A name that no other event has: the pod's, with the time (`GenerateEventName`).
    fn name(&mut self, event: &Event, now: Timestamp) -> Box<str> {
        const MAX_NAME_LENGTH: usize = 253;
        self.last_name = now.as_nanosecond().max(self.last_name + 1);
        let name = format!("{}.{:x}", event.regarding.name, self.last_name);
        let name =
            if name.len() > MAX_NAME_LENGTH { format!("{}.{:x}", event.regarding.uid.0, self.last_name) } else { name };
        name.into()
    }
}

impl RecordedEvent {
    fn write(&self, version: Option<u64>, host: &str) -> EventWrite {
        let body = EventBody::new(&self.event, &self.name, self.time, self.series, version, host);
        let event = body.to_json();
        let operation = match body.series_to_json() {
            Some(patch) => EventOperation::Update { patch, event },
            None => EventOperation::Create { event },
        };
        EventWrite { namespace: (*self.event.regarding.namespace).into(), name: self.name.clone(), operation }
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
