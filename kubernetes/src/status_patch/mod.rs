//! What to send so that a pod's status says something: the patch that kube-scheduler would send.
//!
//! It is a strategic merge patch of what differs, made as `UpdatePodCondition` and `CreateTwoWayMergePatch` make it. To know
//! what differs takes to know what is there: [`Seen`] is kept for each pod while the pod is there, and holds no more than
//! that takes.

mod seen;

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use schedc_core::client::{Condition, StatusPatch};
use serde_json::{Map, Value, json};

pub use seen::{ConditionOrders, Seen, SeenCondition};

/// The patch after which a status says what is `wanted`. `None`: it says so already.
pub fn status_patch(seen: &Seen, wanted: &StatusPatch, now: Timestamp) -> Option<Value> {
    let nominated = wanted.nominated_node.as_ref().filter(|wanted| **wanted != seen.nominated_node);
    let condition = wanted.condition.as_ref().map(|wanted| Changed::new(seen, wanted, now));
    // That a condition is about a newer generation is not worth a patch.
    if nominated.is_none() && !condition.as_ref().is_some_and(|condition| condition.is_worth_it) {
        return None;
    }
    let mut status = Map::new();
    if let Some(Changed { kind, fields: Some(fields), .. }) = condition {
        if !seen.order.is_empty() {
            let mut order: Vec<_> = seen.order.iter().map(|kind| json!({ "type": **kind })).collect();
            if !seen.order.iter().any(|known| **known == *kind) {
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

/// A condition, compared with what is there.
struct Changed {
    kind: &'static str,
    /// What differs. `None`: nothing.
    fields: Option<Map<String, Value>>,
    is_worth_it: bool,
}

impl Changed {
    fn new(seen: &Seen, wanted: &Condition, now: Timestamp) -> Changed {
        let status = if wanted.status { "True" } else { "False" };
        let known = seen.own.iter().find(|condition| condition.kind == wanted.kind);
        let absent = SeenCondition::default();
        let old = known.unwrap_or(&absent);
        let mut fields = Map::new();
        let mut say = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        if *old.status != *status {
            say("status", status.into());
            say("lastTransitionTime", seconds(now).into());
        }
        if *old.reason != *wanted.reason {
            say("reason", text(wanted.reason));
        }
        if *old.message != *wanted.message {
            say("message", text(&wanted.message));
        }
        if old.was_probed || known.is_none() {
            say("lastProbeTime", Value::Null);
        }
        let is_worth_it = !fields.is_empty();
        if old.observed_generation != seen.generation {
            let generation = if seen.generation == 0 { Value::Null } else { seen.generation.into() };
            fields.insert("observedGeneration".to_owned(), generation);
        }
        if !fields.is_empty() {
            fields.insert("type".to_owned(), wanted.kind.into());
        }
        Changed { kind: wanted.kind, fields: Some(fields).filter(|fields| !fields.is_empty()), is_worth_it }
    }
}

/// A field that is left out where it is empty, and so taken away by a null.
fn text(value: &str) -> Value {
    if value.is_empty() { Value::Null } else { value.into() }
}

/// A time as Kubernetes' `metav1.Time` is written: without fractions.
fn seconds(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&time)
}

#[cfg(test)]
mod tests;
