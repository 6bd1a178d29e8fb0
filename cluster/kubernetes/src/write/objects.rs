//! Objects that plugins read and write.

use bytes::Bytes;
use schedc_core::client::{ApiError, ApiReason, ObjectRef};
use schedc_objects::Kinds;
use serde_json::Value;

use super::Resource;
use crate::transport::{
    ApiRequest, RequestClass, RequestOutcome, RetryBackoff, Transport, Verb, call_with_retry_after,
};

/// Returns the resource of an object: a built-in kind or one that a plugin declares.
///
/// # Errors
/// The kind is neither.
pub(super) fn resource(object: &ObjectRef, kinds: Kinds) -> Result<Resource, ApiError> {
    let known = || Resource::of_api(&object.api_version, &object.kind).copied();
    let declared = || kinds.find(&object.api_version, &object.kind).map(Resource::declared);
    known().or_else(declared).ok_or_else(|| {
        let message = format!("{} {} is not a kind that schedc supports", object.api_version, object.kind);
        ApiError::new(ApiReason::Unsupported, message)
    })
}

pub(super) async fn get(transport: &impl Transport, object: &ObjectRef, kinds: Kinds) -> Result<Value, ApiError> {
    let path = resource(object, kinds)?.path(&object.namespace, &object.name);
    let call = ApiRequest { verb: Verb::Get, path, body: Bytes::new() };
    let mut backoff = RetryBackoff::DEFAULT;
    loop {
        let error = match RequestOutcome::new(call_with_retry_after(transport, RequestClass::Write, &call).await) {
            RequestOutcome::Done(answer) => return json(&answer.body),
            RequestOutcome::Refused(status_error) => return Err(status_error.into()),
            RequestOutcome::Failed(error) | RequestOutcome::Unknown(error) => error,
        };
        if !backoff.wait(transport).await {
            return Err(error);
        }
    }
}

pub(super) async fn create(
    transport: &impl Transport,
    object: &ObjectRef,
    manifest: &Value,
    kinds: Kinds,
) -> Result<Value, ApiError> {
    let path = resource(object, kinds)?.collection(&object.namespace);
    change(transport, ApiRequest { verb: Verb::Create, path, body: manifest.to_string().into() }).await
}

/// Patches an object or one of its subresources; `subresource` begins with a slash.
pub(super) async fn patch(
    transport: &impl Transport,
    object: &ObjectRef,
    subresource: &str,
    patch: &Value,
    kinds: Kinds,
) -> Result<Value, ApiError> {
    let path = resource(object, kinds)?.path(&object.namespace, &object.name) + subresource;
    change(transport, ApiRequest { verb: Verb::MergePatch, path, body: patch.to_string().into() }).await
}

/// Changes an object. An unknown outcome is returned as an error; the plugin must then read the object.
async fn change(transport: &impl Transport, call: ApiRequest) -> Result<Value, ApiError> {
    let mut backoff = RetryBackoff::DEFAULT;
    loop {
        let error = match RequestOutcome::new(call_with_retry_after(transport, RequestClass::Write, &call).await) {
            RequestOutcome::Done(answer) => return json(&answer.body),
            RequestOutcome::Refused(status_error) => return Err(status_error.into()),
            RequestOutcome::Unknown(error) => return Err(error),
            RequestOutcome::Failed(error) => error,
        };
        if !backoff.wait(transport).await {
            return Err(error);
        }
    }
}

fn json(body: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(ApiReason::Other, format!("the response is not JSON: {error}")))
}
