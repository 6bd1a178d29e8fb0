//! Pod statuses.

use std::sync::Arc;

use schedc_core::client::{ApiError, ApiReason, StatusPatch};
use schedc_core::model::Pod;
use schedc_objects::AnyObject;
use schedc_objects::decode::KindReader;
use serde_json::json;

use super::{PodRecords, path};
use crate::status_patch::status_patch;
use crate::transport::{
    ApiRequest, RequestClass, RequestOutcome, RetryBackoff, Transport, Verb, call_with_retry_after,
};

/// Patches the status of a pod, but not of a pod with the same name and another uid. Each attempt sends the difference
/// from the status known at that time.
///
/// kube-scheduler sends no uid, so it may write the status of another pod with the same name.
pub(super) async fn patch(
    transport: &impl Transport,
    records: &PodRecords,
    pod: &Arc<Pod>,
    wanted: &StatusPatch,
) -> Result<(), ApiError> {
    let gone = || ApiError::new(ApiReason::NotFound, format!("pods {:?} not found", pod.name));
    let mut backoff = RetryBackoff::DEFAULT;
    loop {
        let record = records.get(&pod.uid).ok_or_else(gone)?;
        let Some(mut body) = status_patch(&record.status, wanted, transport.now()) else { return Ok(()) };
        body["metadata"] = json!({ "uid": *pod.uid.0 });
        let path = path(pod, "/status");
        let call = ApiRequest { verb: Verb::StrategicPatch, path, body: body.to_string().into() };
        let error = match RequestOutcome::new(call_with_retry_after(transport, RequestClass::Write, &call).await) {
            RequestOutcome::Done(answer) => {
                // A response that cannot be read does not matter, since the watch reports the change, too.
                if let Some(AnyObject::Pod(now)) = read(&answer.body) {
                    records.record_response(&pod.uid, &now);
                }
                return Ok(());
            }
            RequestOutcome::Refused(status_error)
                if status_error.fields.iter().any(|field| **field == *"metadata.uid") =>
            {
                return Err(gone());
            }
            RequestOutcome::Refused(status_error) if status_error.code == 409 => status_error.into(),
            RequestOutcome::Refused(status_error) => return Err(status_error.into()),
            // A repeated patch does no harm.
            RequestOutcome::Failed(error) | RequestOutcome::Unknown(error) => error,
        };
        if !backoff.wait(transport).await {
            return Err(error);
        }
    }
}

/// Decodes a pod. Not generic, unlike its callers: a binary contains it once.
fn read(json: &[u8]) -> Option<AnyObject> {
    KindReader::Known("Pod").read_json(str::from_utf8(json).ok()?).ok()
}
