//! Updates and patches of objects.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use schedc_in_memory::claim_status::check_claim_status;
use serde_json::Value;

use super::{WriteOrigin, check_names, create, text};
use crate::request::Target;
use crate::status_error::StatusError;
use crate::store::{Key, Store};

/// Replaces an object or its status. Creates a missing Lease, as real servers do. Returns the status code and the object.
pub(crate) fn update(
    store: &mut Store,
    target: &Target,
    sent: &Value,
    origin: WriteOrigin,
    now: Timestamp,
) -> Result<(u16, Arc<Value>), StatusError> {
    check_names(target, sent)?;
    let kind = target.kind;
    let key = target.key();
    let Some(known) = store.get(&key).cloned() else {
        if kind.kind == "Lease" {
            let mut object = sent.clone();
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            return Ok((201, create(store, target, &object, origin, now)?));
        }
        return Err(StatusError::not_found(kind, &target.name));
    };
    if let Some(reason) = failed_precondition(&key, sent, &known, "UID") {
        return Err(StatusError::conflict(kind, &kind.qualified(), &target.name, reason));
    }
    let version = text(sent, "/metadata/resourceVersion");
    if version.is_empty() && kind.kind == "Lease" && origin == WriteOrigin::Client {
        return Err(StatusError::unconditional(kind, &target.name));
    }
    Ok((200, replace(store, target, &known, sent.clone(), origin)?))
}

/// Patches an object or its status.
pub(crate) fn patch(
    store: &mut Store,
    target: &Target,
    content_type: &str,
    patch: &Value,
    origin: WriteOrigin,
) -> Result<Arc<Value>, StatusError> {
    let kind = target.kind;
    let known = store.get(&target.key()).cloned().ok_or_else(|| StatusError::not_found(kind, &target.name))?;
    let patched = crate::patch::apply(content_type, &known, patch)?;
    check_names(target, &patched)?;
    if patched["metadata"]["uid"] != known["metadata"]["uid"] {
        let problem = format!("Invalid value: {}: field is immutable", patched["metadata"]["uid"]);
        return Err(StatusError::invalid(kind, &target.name, "metadata.uid", &problem));
    }
    replace(store, target, &known, patched, origin)
}

/// Returns the message of a failed precondition. `name` is `UID` or `ResourceVersion`. `None`: `sent` has the value of
/// the known object, or no value.
pub(super) fn failed_precondition(key: &Key, sent: &Value, known: &Value, name: &str) -> Option<String> {
    let field = if name == "UID" { "/metadata/uid" } else { "/metadata/resourceVersion" };
    let (required, actual) = (text(sent, field), text(known, field));
    let resource = if key.kind.kind == "Node" { "minions" } else { key.kind.plural };
    let namespace = if key.namespace.is_empty() { String::new() } else { format!("{}/", key.namespace) };
    let reason = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{resource}/{namespace}{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: {name} in precondition: {required}, {name} in object meta: {actual}",
        key.name
    );
    (!required.is_empty() && required != actual).then_some(reason)
}

/// Replaces those fields of an object that a client may write at the path of `target`. A test may write more fields.
fn replace(
    store: &mut Store,
    target: &Target,
    known: &Value,
    mut object: Value,
    origin: WriteOrigin,
) -> Result<Arc<Value>, StatusError> {
    let (kind, key) = (target.kind, target.key());
    let version = text(&object, "/metadata/resourceVersion");
    if !version.is_empty() && version != "0" && known["metadata"]["resourceVersion"] != version {
        return Err(StatusError::modified(kind, &target.name));
    }
    if origin == WriteOrigin::Client {
        match target.subresource.as_str() {
            "status" => {
                let mut whole = known.clone();
                take(&mut whole, &object, "status");
                if kind.kind == "ResourceClaim" {
                    check_claim_status(known, &mut whole).map_err(|error| {
                        let (field, problem) = error.split_once(": ").unwrap_or(("status", error.as_str()));
                        StatusError::invalid(kind, &target.name, field, problem)
                    })?;
                } else {
                    take(&mut whole, &object, "metadata");
                }
                object = whole;
            }
            _ if kind.has_status => take(&mut object, known, "status"),
            _ => {}
        }
    }
    object["kind"] = kind.kind.into();
    object["apiVersion"] = kind.api_version().into();
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(serde_json::Map::new());
    }
    // Fields that neither clients nor tests can change.
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "generation",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let metadata = &known["metadata"];
        take(&mut object["metadata"], metadata, field);
    }
    if object["spec"] != known["spec"]
        && let Some(generation) = known["metadata"]["generation"].as_u64()
    {
        object["metadata"]["generation"] = (generation + 1).into();
    }
    let metadata = &object["metadata"];
    let has_finalizers = metadata["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty());
    let is_deletion_due = metadata.get("deletionTimestamp").is_some() && metadata["deletionGracePeriodSeconds"] == 0;
    if is_deletion_due && !has_finalizers {
        let removed = store.remove(&key, |last| *last = object);
        return removed.ok_or_else(|| StatusError::not_found(kind, &target.name));
    }
    Ok(store.put(&key, object))
}

/// Copies a field from another object, or removes it if it is missing there.
fn take(object: &mut Value, from: &Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
        None => drop(fields.remove(field)),
    }
}
