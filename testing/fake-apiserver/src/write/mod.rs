//! Writes of objects, with the checks of a real server.

mod binding;
mod create;
mod delete;
mod update;

#[cfg(test)]
mod tests;

use std::time::{SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use self::binding::bind;
pub(crate) use self::create::create;
pub(crate) use self::delete::{delete, remove};
pub(crate) use self::update::{patch, update};
use crate::status_error::StatusError;

/// Origin of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOrigin {
    /// A client of the API.
    Client,
    /// The test, which may write all fields, including the status.
    Test,
}

/// Returns the time of this machine.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_second(i64::try_from(since.as_secs()).unwrap_or_default()).unwrap_or_default()
}

/// Formats a time with the precision of objects, one second.
pub(crate) fn time(at: Timestamp) -> Value {
    format!("{at:.0}").into()
}

/// Returns a text in an object; empty if it is missing.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Checks that the kind and the names of an object match the path.
fn check_names(target: &crate::request::Target, object: &Value) -> Result<(), StatusError> {
    let kind = text(object, "/kind");
    if !kind.is_empty() && (kind != target.kind.kind || text(object, "/apiVersion") != target.kind.api_version()) {
        let message = format!("the object provided is unrecognized (must be of type {})", target.kind.kind);
        return Err(StatusError::new(400, message));
    }
    let namespace = text(object, "/metadata/namespace");
    if !namespace.is_empty() && namespace != target.namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(StatusError::new(400, message));
    }
    let name = text(object, "/metadata/name");
    if !name.is_empty() && !target.name.is_empty() && name != target.name {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({})", target.name);
        return Err(StatusError::new(400, message));
    }
    Ok(())
}

/// Sets or replaces a condition of a pod.
fn set_condition(pod: &mut Value, condition: Value) {
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = pod["status"]["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|known| known["type"] == condition["type"]) {
        Some(known) => *known = condition,
        None => conditions.push(condition),
    }
}
