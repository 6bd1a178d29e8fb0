use std::sync::Arc;

use expect_test::{Expect, expect};
use schedc_core::intern::Interner;
use schedc_core::model::Pod;
use schedc_objects::testing::pod;
use serde_json::{Value, from_slice, from_str};

use super::*;

fn a_pod(name: &str) -> Arc<Pod> {
    pod(&format!("{{metadata: {{name: {name}, namespace: ns, uid: u-{name}}}}}"), &mut Interner::default()).into()
}

fn failed(pod: &Arc<Pod>, note: &str) -> Event {
    Event {
        scheduler: "default-scheduler",
        regarding: pod.clone(),
        related: None,
        event_type: EventType::Warning,
        reason: "FailedScheduling",
        action: "Scheduling",
        note: note.to_owned(),
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + seconds).unwrap()
}

fn text_of(write: &EventWrite) -> String {
    let text = |json: &[u8]| String::from_utf8(json.to_vec()).unwrap();
    match &write.operation {
        EventOperation::Create { event } => format!("create {}/{}\n{}", write.namespace, write.name, text(event)),
        EventOperation::Update { patch, event } => {
            format!("patch {}/{} {}\nor create\n{}", write.namespace, write.name, text(patch), text(event))
        }
    }
}

fn check(write: Option<EventWrite>, expected: Expect) {
    expected.assert_eq(&text_of(&write.unwrap()));
}

/// Returns the requests after a sweep.
fn swept(recorder: &mut EventRecorder, now: Timestamp) -> Vec<EventWrite> {
    recorder.sweep(now);
    std::iter::from_fn(|| recorder.next_due()).collect()
}

#[test]
fn repeated_events_become_a_series() {
    let (recorder, pod) = (&mut EventRecorder::new("host"), &a_pod("p"));
    check(
        recorder.record(failed(pod, "no node"), Some(7), at(0)),
        expect![[r#"
            create ns/p.18d75b8423f30000
            {"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"p.18d75b8423f30000","namespace":"ns"},"eventTime":"2026-09-21T14:13:20.000000Z","reportingController":"default-scheduler","reportingInstance":"default-scheduler-host","action":"Scheduling","reason":"FailedScheduling","regarding":{"apiVersion":"v1","kind":"Pod","namespace":"ns","name":"p","uid":"u-p","resourceVersion":"7"},"note":"no node","type":"Warning"}"#]],
    );
    check(
        recorder.record(failed(pod, "no node at all"), Some(7), at(1)),
        expect![[r#"
            patch ns/p.18d75b8423f30000 {"series":{"count":2,"lastObservedTime":"2026-09-21T14:13:21.000000Z"}}
            or create
            {"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"p.18d75b8423f30000","namespace":"ns"},"eventTime":"2026-09-21T14:13:20.000000Z","series":{"count":2,"lastObservedTime":"2026-09-21T14:13:21.000000Z"},"reportingController":"default-scheduler","reportingInstance":"default-scheduler-host","action":"Scheduling","reason":"FailedScheduling","regarding":{"apiVersion":"v1","kind":"Pod","namespace":"ns","name":"p","uid":"u-p","resourceVersion":"7"},"note":"no node","type":"Warning"}"#]],
    );
    assert_eq!(recorder.record(failed(pod, "no node"), Some(7), at(2)), None);
    // A new version of the pod, another pod, and another reason are separate events.
    assert!(matches!(
        recorder.record(failed(pod, "x"), Some(8), at(3)).unwrap().operation,
        EventOperation::Create { .. }
    ));
    assert!(matches!(
        recorder.record(failed(&a_pod("q"), "x"), Some(7), at(3)).unwrap().operation,
        EventOperation::Create { .. }
    ));
    let other = Event { reason: "Preempted", ..failed(pod, "x") };
    assert!(matches!(recorder.record(other, Some(7), at(3)).unwrap().operation, EventOperation::Create { .. }));
}

#[test]
fn series_are_written_periodically_and_at_their_end() {
    let (recorder, pod) = (&mut EventRecorder::new("host"), &a_pod("p"));
    assert_eq!(recorder.next_sweep(), None);
    let mut seconds = 0;
    let mut counts = Vec::new();
    let count = |write: &EventWrite| {
        let EventOperation::Update { patch, .. } = &write.operation else { panic!("{write:?}") };
        from_slice::<Value>(patch).unwrap()["series"]["count"].as_u64().unwrap()
    };
    while seconds < 2100 {
        recorder.record(failed(pod, ""), None, at(seconds));
        seconds += 60;
        if recorder.next_sweep().unwrap() <= at(seconds) {
            counts.extend(swept(recorder, at(seconds)).iter().map(|write| (seconds, count(write))));
        }
    }
    assert_eq!(counts, [(1800, 30)]);
    let after = recorder.next_sweep().unwrap();
    assert_eq!(after, at(2160));
    assert_eq!(swept(recorder, after), []);
    let last = recorder.next_sweep().unwrap();
    assert_eq!(swept(recorder, last).iter().map(count).collect::<Vec<_>>(), [35]);
    assert_eq!(recorder.next_sweep(), None);
    assert!(matches!(
        recorder.record(failed(pod, ""), None, at(9999)).unwrap().operation,
        EventOperation::Create { .. }
    ));
}

#[test]
fn single_events_are_forgotten() {
    let recorder = &mut EventRecorder::new("host");
    recorder.record(failed(&a_pod("p"), ""), None, at(0));
    assert_eq!(swept(recorder, at(360)), []);
    assert_eq!(recorder.recorded.len(), 1);
    assert_eq!(swept(recorder, at(720)), []);
    assert!(recorder.recorded.is_empty());
    // A pod is bound only once.
    recorder.record(Event { reason: "Scheduled", ..failed(&a_pod("p"), "") }, None, at(800));
    assert!(recorder.recorded.is_empty() && recorder.next_sweep().is_none());
}

#[test]
fn event_names_are_unique() {
    let (recorder, pod) = (&mut EventRecorder::new("host"), &a_pod("p"));
    let mut name = |version| recorder.record(failed(pod, ""), Some(version), at(0)).unwrap().name;
    assert_eq!([&*name(1), &*name(2)], ["p.18d75b8423f30000", "p.18d75b8423f30001"]);
    let long = &Arc::new(Pod { name: "a".repeat(250).into(), ..Pod::clone(pod) });
    assert_eq!(&*recorder.record(failed(long, ""), None, at(0)).unwrap().name, "u-p.18d75b8423f30002");
}

/// Removes null values and empty objects from an event.
fn without_empty_values(mut event: Value) -> Value {
    event.as_object_mut().unwrap().retain(|_, value| !value.is_null() && *value != serde_json::json!({}));
    event
}

/// kube-scheduler's recorded events.
#[test]
fn events_are_those_of_kube_scheduler() {
    let recording = include_str!("../../tests/recordings/requests.jsonl");
    let requests = recording.lines().map(|line| from_str::<Value>(line).unwrap());
    let events = requests.filter(|request| request["body"]["apiVersion"] == "events.k8s.io/v1");
    let events: Vec<_> = events.map(|request| request["body"].clone()).collect();
    assert_eq!(events.len(), 27);
    for recorded in events {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let regarding = &recorded["regarding"];
        let pod = Pod {
            name: text(&regarding["name"]).into(),
            namespace: text(&regarding["namespace"]).into(),
            uid: Uid(text(&regarding["uid"]).into()),
            ..Pod::clone(&a_pod("p"))
        };
        let (reason, action, event_type) = match recorded["reason"].as_str().unwrap() {
            "Scheduled" => ("Scheduled", "Binding", EventType::Normal),
            "Preempted" => ("Preempted", "Preempting", EventType::Normal),
            "FailedScheduling" => ("FailedScheduling", "Scheduling", EventType::Warning),
            other => panic!("{other}"),
        };
        let note = text(&recorded["note"]);
        let event = Event { reason, action, event_type, ..failed(&pod.into(), &note) };
        let version = regarding["resourceVersion"].as_str().map(|version| version.parse().unwrap());
        // The name contains the time in nanoseconds, slightly later than `eventTime`.
        let (_, hex) = recorded["metadata"]["name"].as_str().unwrap().rsplit_once('.').unwrap();
        let last_name = Timestamp::from_nanosecond(i128::from_str_radix(hex, 16).unwrap()).unwrap();
        let write = EventRecorder::new("vm").record(event, version, last_name).unwrap();
        let EventOperation::Create { event } = write.operation else { panic!("a first event is created") };
        let mut event: Value = from_slice(&event).unwrap();
        event["eventTime"] = recorded["eventTime"].clone();
        assert_eq!(event, without_empty_values(recorded.clone()));
    }
}

#[test]
fn recorded_events_keep_no_specs_and_have_a_bound() {
    let mut recorder = EventRecorder::new("host");
    let pod = a_pod("p");
    recorder.record(failed(&pod, "no node"), Some(1), at(0));
    assert_eq!((Arc::strong_count(&pod), Arc::strong_count(&pod.spec)), (1, 1));
    for version in 2..=MAX_RECORDED as u64 + 1 {
        assert!(recorder.record(failed(&pod, "no node"), Some(version), at(0)).is_some());
    }
    assert_eq!(recorder.recorded.len(), MAX_RECORDED);
}
