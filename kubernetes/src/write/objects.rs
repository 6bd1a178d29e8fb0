//! Objects that plugins read and change.

use bytes::Bytes;
use schedc_core::client::{ApiError, ApiReason, ObjectRef};
use schedc_objects::Kinds;
use serde_json::Value;

use super::Resource;
use crate::wire::{Call, Lane, Patience, Transport, Try, Verb, patiently};

/// Where objects like this are: of a kind that all schedulers know, or one of those that plugins declare.
///
/// # Errors
/// Nobody here asks for such.
pub(super) fn resource(object: &ObjectRef, kinds: Kinds) -> Result<Resource, ApiError> {
    let known = || Resource::of_api(&object.api_version, &object.kind).copied();
    let declared = || kinds.find(&object.api_version, &object.kind).map(Resource::declared);
    known().or_else(declared).ok_or_else(|| {
        let message = format!("{} {} is not a kind that a scheduler asks for", object.api_version, object.kind);
        ApiError::new(ApiReason::Unsupported, message)
    })
}

pub(super) async fn get(transport: &impl Transport, object: &ObjectRef, kinds: Kinds) -> Result<Value, ApiError> {
    let path = resource(object, kinds)?.path(&object.namespace, &object.name);
    let call = Call { verb: Verb::Get, path, body: Bytes::new() };
    let mut patience = Patience::STATUS;
    loop {
        let error = match Try::new(patiently(transport, Lane::Write, &call).await) {
            Try::Done(answer) => return json(&answer.body),
            Try::Refused(refusal) => return Err(refusal.into()),
            Try::Failed(error) | Try::Unknown(error) => error,
        };
        if !patience.wait(transport).await {
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
    change(transport, Call { verb: Verb::Create, path, body: manifest.to_string().into() }).await
}

/// Patches an object, or a subresource of it, which begins with a slash.
pub(super) async fn patch(
    transport: &impl Transport,
    object: &ObjectRef,
    subresource: &str,
    patch: &Value,
    kinds: Kinds,
) -> Result<Value, ApiError> {
    let path = resource(object, kinds)?.path(&object.namespace, &object.name) + subresource;
    change(transport, Call { verb: Verb::MergePatch, path, body: patch.to_string().into() }).await
}

/// Changes something, unless nobody knows whether it was done: then the plugin has to look.
async fn change(transport: &impl Transport, call: Call) -> Result<Value, ApiError> {
    let mut patience = Patience::STATUS;
    loop {
        let error = match Try::new(patiently(transport, Lane::Write, &call).await) {
            Try::Done(answer) => return json(&answer.body),
            Try::Refused(refusal) => return Err(refusal.into()),
            Try::Unknown(error) => return Err(error),
            Try::Failed(error) => error,
        };
        if !patience.wait(transport).await {
            return Err(error);
        }
    }
}

fn json(body: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(ApiReason::Other, format!("the answer is no JSON: {error}")))
}
