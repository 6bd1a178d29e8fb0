//! Deletion of objects.

use schedc_core::client::{ApiError, ApiReason};
use schedc_core::model::Uid;
use serde_json::json;

use crate::transport::{
    ApiRequest, RequestClass, RequestOutcome, RetryBackoff, Transport, Verb, call_with_retry_after,
};

/// Deletes an object with its default grace period. If a uid is given, an object with another uid is not deleted.
///
/// kube-scheduler sends no uid for a victim, so it may delete another pod with the same name.
pub(super) async fn delete(transport: &impl Transport, path: String, uid: Option<&Uid>) -> Result<(), ApiError> {
    let mut body = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
    if let Some(uid) = uid {
        body["preconditions"] = json!({ "uid": *uid.0 });
    }
    let call = ApiRequest { verb: Verb::Delete, path, body: body.to_string().into() };
    let mut backoff = RetryBackoff::DEFAULT;
    loop {
        let error = match RequestOutcome::new(call_with_retry_after(transport, RequestClass::Write, &call).await) {
            RequestOutcome::Done(_) => return Ok(()),
            // Another object has this name.
            RequestOutcome::Refused(status_error) if status_error.code == 409 && uid.is_some() => {
                return Err(ApiError::new(ApiReason::NotFound, status_error.message));
            }
            RequestOutcome::Refused(status_error) => return Err(status_error.into()),
            // A repeated deletion does no harm.
            RequestOutcome::Failed(error) | RequestOutcome::Unknown(error) => error,
        };
        if !backoff.wait(transport).await {
            return Err(error);
        }
    }
}
