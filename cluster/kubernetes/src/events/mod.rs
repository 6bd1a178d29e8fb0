//! Events for users, equal to kube-scheduler's.
//!
//! An event is written once. Repetitions for the same version of a pod form a series, as in client-go's `tools/events`.
//! The first repetition updates the event at once; after later ones, its count is updated periodically.
//! [`EventRecorder`] decides which requests are needed, without I/O or a clock. [`EventWriter`] sends them.

mod body;
mod writer;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{Event, EventType};
use schedc_core::column::CacheSize;
use schedc_core::model::{Pod, Uid};

use body::EventBody;
pub use writer::{EventQueue, EventWriter};

/// Time without a repetition after which a series is finished, and a single event is not expected to become a series:
/// client-go's `finishTime`.
const FINISH_TIME: Duration = Duration::from_secs(6 * 60);
/// Interval at which the count of a series is written: client-go's `refreshTime`.
const REFRESH_TIME: Duration = Duration::from_secs(30 * 60);

/// Maximum number of recorded events. Further events are not recorded, so their repetitions are written as separate
/// events.
const MAX_RECORDED: usize = 16_384;

/// Request to write an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventWrite {
    /// Namespace of the event.
    pub namespace: Box<str>,
    /// Name of the event.
    pub name: Box<str>,
    /// Operation.
    pub operation: EventOperation,
}

/// Operation on an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventOperation {
    /// Creates the event.
    Create {
        /// Event as JSON.
        event: Bytes,
    },
    /// Updates the event, or creates it if it no longer exists.
    Update {
        /// Strategic merge patch in JSON.
        patch: Bytes,
        /// Event as JSON.
        event: Bytes,
    },
}

/// Decides which event requests are needed.
#[derive(Debug)]
pub struct EventRecorder {
    host: Box<str>,
    /// Events that were written and may become a series.
    recorded: HashMap<EventKey, RecordedEvent>,
    /// Note of the last new event. Many pods are unschedulable for the same reason, and their events share the note.
    last_note: Arc<str>,
    /// Last number used in the name of an event. The numbers increase, so names are unique.
    last_name: i128,
    /// Times of the next sweeps; `None` if no event is recorded.
    sweeps: Option<SweepTimes>,
    /// Series to be written, in order.
    due: VecDeque<DueSeries>,
}

/// Series to be written. Its request is built only when it is sent: there can be a series for each pending pod, and all
/// requests together would take much memory.
#[derive(Debug)]
enum DueSeries {
    /// Updates the count of a series.
    Refresh(EventKey),
    /// Writes the final count of a finished series.
    Finish(EventKey, RecordedEvent),
}

/// Times of the next sweeps.
#[derive(Clone, Copy, Debug)]
struct SweepTimes {
    /// Time at which the counts of all series are written.
    refresh: Timestamp,
    /// Time at which finished series and events are removed.
    finish: Timestamp,
}

/// Identity of an event. The note is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct EventKey {
    pod: Uid,
    version: Option<u64>,
    scheduler: &'static str,
    event_type: EventType,
    reason: &'static str,
    action: &'static str,
}

/// Event that was written, without the content of its key. There can be one for each pending pod.
#[derive(Debug)]
struct RecordedEvent {
    namespace: Arc<str>,
    pod_name: Arc<str>,
    note: Arc<str>,
    /// Name of the event.
    name: Box<str>,
    time: Timestamp,
    series: Option<Series>,
}

/// Number of occurrences, and the time of the last one.
#[derive(Clone, Copy, Debug)]
struct Series {
    count: u32,
    last: Timestamp,
}

impl EventRecorder {
    /// Creates a recorder for a scheduler on this host.
    pub fn new(host: &str) -> Self {
        EventRecorder {
            host: host.into(),
            recorded: HashMap::new(),
            last_note: "".into(),
            last_name: 0,
            sweeps: None,
            due: VecDeque::new(),
        }
    }

    /// Records an event about a version of a pod. Returns `None` if no request is needed now.
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
            return is_new.then(|| recorded.write(&key, &self.host));
        }
        let name = self.name(&event, now);
        if *self.last_note != *event.note {
            self.last_note = event.note.into();
        }
        let Pod { namespace, name: pod_name, .. } = &*event.regarding;
        let recorded = RecordedEvent {
            namespace: namespace.clone(),
            pod_name: pod_name.clone(),
            note: self.last_note.clone(),
            name,
            time: now,
            series: None,
        };
        let write = recorded.write(&key, &self.host);
        // A pod is bound once, so this event never becomes a series.
        if key.reason != "Scheduled" && self.recorded.len() < MAX_RECORDED {
            self.recorded.insert(key, recorded);
            self.sweeps
                .get_or_insert(SweepTimes { refresh: later(now, REFRESH_TIME), finish: later(now, FINISH_TIME) });
        }
        Some(write)
    }

    /// Returns the number of recorded events and its limit, for metrics.
    pub(crate) fn cache_size(&self) -> CacheSize {
        CacheSize::limited("recorded_events", self.recorded.len(), MAX_RECORDED)
    }

    /// Returns the time of the next [`EventRecorder::sweep`], or `None` if no event is recorded.
    pub(crate) fn next_sweep(&self) -> Option<Timestamp> {
        self.sweeps.map(|sweeps| sweeps.refresh.min(sweeps.finish))
    }

    /// Collects the series that are due, for [`EventRecorder::next_due`], and drops finished events.
    pub(crate) fn sweep(&mut self, now: Timestamp) {
        let Some(sweeps) = &mut self.sweeps else { return };
        let (is_refresh_due, is_finish_due) = (sweeps.refresh <= now, sweeps.finish <= now);
        if is_refresh_due {
            sweeps.refresh = later(now, REFRESH_TIME);
        }
        if is_finish_due {
            sweeps.finish = later(now, FINISH_TIME);
        }
        let finished = self.recorded.extract_if(|_, recorded| {
            is_finish_due && later(recorded.series.map_or(recorded.time, |series| series.last), FINISH_TIME) < now
        });
        let finished = finished.filter(|(_, recorded)| recorded.series.is_some());
        self.due.extend(finished.map(|(key, recorded)| DueSeries::Finish(key, recorded)));
        if is_refresh_due {
            let series = self.recorded.iter().filter(|(_, recorded)| recorded.series.is_some());
            self.due.extend(series.map(|(key, _)| DueSeries::Refresh(key.clone())));
        }
        if self.recorded.is_empty() {
            // Free the memory of a burst.
            self.recorded = HashMap::new();
            self.sweeps = None;
        }
    }

    /// Returns whether [`EventRecorder::next_due`] may return a request.
    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Returns the next request that the last sweep collected.
    pub(crate) fn next_due(&mut self) -> Option<EventWrite> {
        while let Some(due) = self.due.pop_front() {
            match due {
                DueSeries::Finish(key, recorded) => return Some(recorded.write(&key, &self.host)),
                // A series that finished meanwhile is not recorded any more, and its final request is in the queue.
                DueSeries::Refresh(key) => {
                    if let Some(recorded) = self.recorded.get(&key) {
                        return Some(recorded.write(&key, &self.host));
                    }
                }
            }
        }
        self.due = VecDeque::new();
        None
    }

    /// Returns a unique name: the pod's name and the time. If this is too long, the pod's uid replaces the pod's name
    /// (`GenerateEventName`).
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
    fn write(&self, key: &EventKey, host: &str) -> EventWrite {
        let body = EventBody::new(key, self, host);
        let event = body.to_json();
        let operation = match body.series_to_json() {
            Some(patch) => EventOperation::Update { patch, event },
            None => EventOperation::Create { event },
        };
        EventWrite { namespace: (*self.namespace).into(), name: self.name.clone(), operation }
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
