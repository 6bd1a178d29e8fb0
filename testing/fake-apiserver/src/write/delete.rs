//! Deletion of objects: immediate, with a grace period, or with finalizers.

use std::sync::Arc;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{text, time};
use crate::request::Target;
use crate::status_error::StatusError;
use crate::store::Store;

/// Result of a deletion.
#[derive(Debug)]
pub(crate) struct Deletion {
    /// The last state of the object, or the current one if it still exists.
    pub(crate) object: Arc<Value>,
    /// Whether the pod still exists and a kubelet has to end it.
    pub(crate) is_graceful: bool,
}

impl Deletion {
    /// Returns the body of the response: the object, or for most kinds only a `Status`.
    pub(crate) fn answer(&self, target: &Target) -> Arc<Value> {
        if ["Pod", "PersistentVolume", "PersistentVolumeClaim"].contains(&target.kind.kind) {
            return self.object.clone();
        }
        let mut status = crate::status_error::success(200);
        let uid = &self.object["metadata"]["uid"];
        status["details"] = json!({"name": target.name, "kind": target.kind.plural, "uid": uid});
        if !target.kind.group.is_empty() {
            status["details"]["group"] = target.kind.group.into();
        }
        if let Some(fields) = status.as_object_mut() {
            fields.remove("code");
        }
        Arc::new(status)
    }
}

/// Deletes an object. A bound, unfinished pod stays until a kubelet ends it, unless the grace period is 0. An object
/// with finalizers stays until they are removed.
pub(crate) fn delete(
    store: &mut Store,
    target: &Target,
    options: &Value,
    grace: Option<u64>,
    now: Timestamp,
) -> Result<Deletion, StatusError> {
    let kind = target.kind;
    let name = &target.name;
    let key = target.key();
    let known = store.get(&key).cloned().ok_or_else(|| StatusError::not_found(kind, name))?;
    let known_metadata = |field: &str| text(&known, &format!("/metadata/{field}")).to_owned();
    let (uid, version) = (text(options, "/preconditions/uid"), text(options, "/preconditions/resourceVersion"));
    if !uid.is_empty() && known_metadata("uid") != uid {
        let uids = format!("({uid}) does not match the UID in record ({})", known_metadata("uid"));
        let reason =
            format!("the UID in the precondition {uids}. The object might have been deleted and then recreated");
        return Err(StatusError::conflict(kind, kind.kind, name, reason));
    }
    if !version.is_empty() && known_metadata("resourceVersion") != version {
        let recorded = known_metadata("resourceVersion");
        let reason = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record \
             ({recorded}). The object might have been modified"
        );
        return Err(StatusError::conflict(kind, kind.kind, name, reason));
    }

    let runs = kind.kind == "Pod"
        && !text(&known, "/spec/nodeName").is_empty()
        && !["Succeeded", "Failed"].contains(&text(&known, "/status/phase"));
    let requested = options["gracePeriodSeconds"].as_u64().or(grace);
    let specified = known["spec"]["terminationGracePeriodSeconds"].as_u64();
    let seconds = if runs { requested.or(specified).unwrap_or_default() } else { 0 };
    let has_finalizers = known["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty());

    let mut object = (*known).clone();
    let metadata = &mut object["metadata"];
    let old_grace_period = metadata["deletionGracePeriodSeconds"].as_u64();
    if old_grace_period.is_none_or(|left| seconds < left) {
        let generation = metadata["generation"].as_u64().filter(|_| old_grace_period.is_none());
        if let Some(generation) = generation {
            metadata["generation"] = (generation + 1).into();
        }
        let end = now.checked_add(SignedDuration::from_secs(i64::try_from(seconds).unwrap_or_default())).unwrap_or(now);
        metadata["deletionTimestamp"] = time(end);
        metadata["deletionGracePeriodSeconds"] = seconds.into();
    }
    if seconds == 0 && !has_finalizers {
        let removed = store.remove(&key, |last| *last = object);
        return Ok(Deletion { object: removed.unwrap_or(known), is_graceful: false });
    }
    Ok(Deletion { object: store.put(&key, object), is_graceful: seconds > 0 })
}

/// Removes an object at once, also one with finalizers. If `uid` is not empty, only an object with this uid is
/// removed. `None`: there is no such object.
pub(crate) fn remove(store: &mut Store, target: &Target, uid: &str) -> Option<Arc<Value>> {
    let key = target.key();
    store.get(&key).filter(|known| uid.is_empty() || known["metadata"]["uid"] == uid)?;
    store.remove(&key, |_| {})
}
