//! Events in the form of the API: `events.k8s.io/v1`.

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use schedc_core::client::EventType;
use serde::Serialize;

use super::{EventKey, RecordedEvent, Series};

/// Event with kube-scheduler's fields. The field `related` is never set.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventBody<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata<'a>,
    event_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<EventSeries>,
    reporting_controller: &'static str,
    reporting_instance: String,
    action: &'static str,
    reason: &'static str,
    regarding: Reference<'a>,
    note: &'a str,
    #[serde(rename = "type")]
    event_type: &'static str,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reference<'a> {
    api_version: &'static str,
    kind: &'static str,
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventSeries {
    count: u32,
    last_observed_time: String,
}

/// Patch that turns an event into a series.
#[derive(Serialize)]
struct Patch<'a> {
    series: &'a EventSeries,
}

impl<'a> EventBody<'a> {
    pub(super) fn new(key: &'a EventKey, recorded: &'a RecordedEvent, host: &str) -> Self {
        let EventKey { pod, version, scheduler, event_type, reason, action } = key;
        let RecordedEvent { namespace, pod_name, note, name, time, series } = recorded;
        EventBody {
            api_version: "events.k8s.io/v1",
            kind: "Event",
            metadata: Metadata { name, namespace },
            event_time: micro_time(*time),
            series: series.map(|Series { count, last }| EventSeries { count, last_observed_time: micro_time(last) }),
            reporting_controller: scheduler,
            reporting_instance: format!("{scheduler}-{host}"),
            action,
            reason,
            regarding: Reference {
                api_version: "v1",
                kind: "Pod",
                namespace,
                name: pod_name,
                uid: &pod.0,
                resource_version: version.map(|version| version.to_string()),
            },
            note,
            event_type: match event_type {
                EventType::Normal => "Normal",
                EventType::Warning => "Warning",
            },
        }
    }

    pub(super) fn to_json(&self) -> Bytes {
        json(self)
    }

    pub(super) fn series_to_json(&self) -> Option<Bytes> {
        self.series.as_ref().map(|series| json(&Patch { series }))
    }
}

/// Initial buffer size in bytes; most events fit.
const INITIAL_CAPACITY: usize = 768;

/// Serializes a value. This cannot fail: the types have no maps and no floats.
fn json(value: &impl Serialize) -> Bytes {
    let mut json = Vec::with_capacity(INITIAL_CAPACITY);
    match serde_json::to_writer(&mut json, value) {
        Ok(()) => json.into(),
        Err(_) => Bytes::new(),
    }
}

/// Formats a time like Kubernetes' `metav1.MicroTime`.
fn micro_time(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&time)
}
