//! Patches of objects.

mod strategic;

use schedc_in_memory::merge_patch;
use serde_json::Value;

use crate::status_error::StatusError;

/// Applies a patch, whose type is `content_type`.
pub(crate) fn apply(content_type: &str, object: &Value, patch: &Value) -> Result<Value, StatusError> {
    let mut patched = object.clone();
    match content_type.split(';').next().unwrap_or_default().trim() {
        "application/merge-patch+json" => merge_patch::merge(&mut patched, patch),
        "application/strategic-merge-patch+json" => strategic::merge(&mut patched, patch),
        _ => return Err(StatusError::no_such_patch()),
    }
    Ok(patched)
}
