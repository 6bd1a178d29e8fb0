//! Events of schedulers about pods.

use schedc_core::model::CustomKind;
use schedc_objects::{AnyObject, CustomObject};
use serde_json::Value;

use crate::entry::SchedulerEvent;

/// The kind Event, whose objects are read with all fields.
pub const EVENTS: CustomKind = CustomKind {
    name: "events.v1.events.k8s.io",
    api_version: "events.k8s.io/v1",
    kind: "Event",
    plural: "events",
    is_namespaced: true,
};

/// Reasons of kube-scheduler's events about pods.
const REASONS: [&str; 3] = ["Scheduled", "FailedScheduling", "Preempted"];

/// Returns the recorded fields of an event of a scheduler about a pod; `None` for all other events.
pub fn scheduler_event(object: &AnyObject) -> Option<SchedulerEvent> {
    let AnyObject::Custom(event) = object else { return None };
    let CustomObject { fields, .. } = &**event;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let regarding = |field: &str| text(fields.get("regarding").and_then(|pod| pod.get(field)));
    let reason = text(fields.get("reason"));
    if !REASONS.contains(&reason.as_str()) || regarding("kind") != "Pod" {
        return None;
    }
    Some(SchedulerEvent {
        namespace: regarding("namespace"),
        name: regarding("name"),
        reason,
        scheduler: text(fields.get("reportingController")),
        note: text(fields.get("note")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_events_of_schedulers_are_recorded() {
        static KIND: CustomKind = EVENTS;
        let event = |reason: &str, kind: &str| {
            let fields = json!({
                "reason": reason, "note": "text", "reportingController": "default-scheduler", "series": {"count": 7},
                "regarding": {"kind": kind, "namespace": "d", "name": "p"},
            });
            let Value::Object(fields) = fields else { return None };
            scheduler_event(&CustomObject { kind: &KIND, metadata: Default::default(), fields }.into())
        };
        let recorded = event("FailedScheduling", "Pod").expect("an event");
        assert_eq!((recorded.name.as_str(), recorded.note.as_str()), ("p", "text"));
        assert_eq!(event("Pulled", "Pod"), None);
        assert_eq!(event("Preempted", "Node"), None);
    }
}
