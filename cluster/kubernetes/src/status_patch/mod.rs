//! Patches of pod statuses, equal to kube-scheduler's.
//!
//! A patch is a strategic merge patch with the difference between the observed and the wanted status, as
//! `UpdatePodCondition` and `CreateTwoWayMergePatch` create it. [`ObservedStatus`] stores for each existing pod the
//! fields that this difference depends on, and no others.

mod observed;

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use schedc_core::client::{Condition, StatusPatch};
use serde_json::{Map, Value, json};

pub(crate) use observed::{ObservedCondition, ObservedStatus, SharedConditions};

/// Returns the patch that changes the observed status to the wanted one, or `None` if they are equal.
pub(crate) fn status_patch(observed: &ObservedStatus, wanted: &StatusPatch, now: Timestamp) -> Option<Value> {
    let nominated = wanted.nominated_node.as_ref().filter(|wanted| **wanted != observed.nominated_node);
    let condition = wanted.condition.as_ref().map(|wanted| ConditionPatch::new(observed, wanted, now));
    // A different observed generation alone does not justify a patch.
    if nominated.is_none() && !condition.as_ref().is_some_and(|condition| condition.is_needed) {
        return None;
    }
    let mut status = Map::new();
    if let Some(ConditionPatch { kind, fields: Some(fields), .. }) = condition {
        if !observed.order.is_empty() {
            let mut order: Vec<_> = observed.order.iter().map(|kind| json!({ "type": **kind })).collect();
            if !observed.order.iter().any(|known| **known == *kind) {
                order.push(json!({ "type": kind }));
            }
            status.insert("$setElementOrder/conditions".to_owned(), order.into());
        }
        status.insert("conditions".to_owned(), json!([fields]));
    }
    if let Some(node) = nominated {
        status.insert("nominatedNodeName".to_owned(), json!(node.as_deref()));
    }
    Some(json!({ "status": status }))
}

/// Wanted condition, compared with the observed one.
struct ConditionPatch {
    kind: &'static str,
    /// Fields that differ; `None` if all are equal.
    fields: Option<Map<String, Value>>,
    /// Whether any field other than the observed generation differs.
    is_needed: bool,
}

impl ConditionPatch {
    fn new(observed: &ObservedStatus, wanted: &Condition, now: Timestamp) -> ConditionPatch {
        let status = if wanted.status { "True" } else { "False" };
        let known = observed.scheduler_conditions.iter().find(|condition| condition.kind == wanted.kind);
        let absent = ObservedCondition::default();
        let old = known.unwrap_or(&absent);
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        if *old.status != *status {
            set("status", status.into());
            set("lastTransitionTime", seconds(now).into());
        }
        if *old.reason != *wanted.reason {
            set("reason", text(wanted.reason));
        }
        if *old.message != *wanted.message {
            set("message", text(&wanted.message));
        }
        if old.was_probed || known.is_none() {
            set("lastProbeTime", Value::Null);
        }
        let is_needed = !fields.is_empty();
        if old.observed_generation != observed.generation {
            let generation = if observed.generation == 0 { Value::Null } else { observed.generation.into() };
            fields.insert("observedGeneration".to_owned(), generation);
        }
        if !fields.is_empty() {
            fields.insert("type".to_owned(), wanted.kind.into());
        }
        ConditionPatch { kind: wanted.kind, fields: Some(fields).filter(|fields| !fields.is_empty()), is_needed }
    }
}

/// Returns the value of a string field in a patch. The API omits empty strings, so for an empty one, the patch removes
/// the field with a null.
fn text(value: &str) -> Value {
    if value.is_empty() { Value::Null } else { value.into() }
}

/// Formats a time like Kubernetes' `metav1.Time`: without fractions of a second.
fn seconds(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&time)
}

#[cfg(test)]
mod tests;
