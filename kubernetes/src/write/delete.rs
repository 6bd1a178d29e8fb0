//! Deleting objects.

use schedc_core::client::{ApiError, ApiReason};
use schedc_core::model::Uid;
use serde_json::json;

use crate::wire::{Call, Lane, Patience, Transport, Try, Verb, patiently};

/// Deletes an object; of this uid, if one is given. It has the time to end that it asked for.
///
/// kube-scheduler does not name the uid of a victim; it may delete another pod of the name.
pub(super) async fn delete(transport: &impl Transport, path: String, uid: Option<&Uid>) -> Result<(), ApiError> {
    let mut body = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
    if let Some(uid) = uid {
        body["preconditions"] = json!({ "uid": *uid.0 });
    }
    let call = Call { verb: Verb::Delete, path, body: body.to_string().into() };
    let mut patience = Patience::STATUS;
    loop {
        let error = match Try::new(patiently(transport, Lane::Write, &call).await) {
            Try::Done(_) => return Ok(()),
            // There is another one of the name.
            Try::Refused(refusal) if refusal.code == 409 && uid.is_some() => {
                return Err(ApiError::new(ApiReason::NotFound, refusal.message));
            }
            Try::Refused(refusal) => return Err(refusal.into()),
            // To ask for it twice does no harm.
            Try::Failed(error) | Try::Unknown(error) => error,
        };
        if !patience.wait(transport).await {
            return Err(error);
        }
    }
}
