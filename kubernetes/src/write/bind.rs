//! Bindings, each done once.

use std::time::Duration;

use bytes::Bytes;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::extension_points::Placement;
use schedc_core::model::Pod;
use serde::{Deserialize, Serialize};

use super::path;
use crate::wire::{Call, Lane, Patience, Refusal, Transport, Try, Verb, patiently};

/// How often a binding is tried that did not happen.
const PATIENCE: Patience =
    Patience { more: 3, pause: Duration::from_millis(100), factor: 3, longest: Duration::from_secs(1) };
/// How long to wait at most until the pod is looked at again.
const LONGEST: Duration = Duration::from_secs(2);

/// Binds a pod to its node, on condition that there is a pod of this uid.
///
/// If nobody knows whether it happened, the pod is looked at until that is known, however long it takes: until then, its
/// room is neither free nor taken by anybody else.
///
/// `fail` receives the reason of each request that failed.
pub(super) async fn bind(
    transport: &impl Transport,
    placement: &Placement,
    fail: impl Fn(&str),
) -> Result<(), ApiError> {
    let Placement { pod, node_name, .. } = placement;
    let body = Binding {
        api_version: "v1",
        kind: "Binding",
        metadata: Meta { name: &pod.name, namespace: &pod.namespace, uid: &pod.uid.0 },
        target: Node { kind: "Node", name: node_name },
    };
    let body = serde_json::to_vec(&body).map_err(|error| ApiError::new(ApiReason::Other, error.to_string()))?;
    let call = Call { verb: Verb::Create, path: path(pod, "/binding"), body: body.into() };
    let mut patience = PATIENCE;
    // An earlier try may have been done, or may yet be.
    let mut is_unsure = false;
    loop {
        let error = match Try::new(patiently(transport, Lane::Bind, &call).await) {
            Try::Done(_) => return Ok(()),
            Try::Refused(refusal) if !is_unsure => return Err(refusal.into()),
            Try::Refused(refusal) => {
                patience.more = 0;
                refusal.into()
            }
            Try::Failed(error) => error,
            Try::Unknown(error) => {
                is_unsure = true;
                error
            }
        };
        fail(&error.message);
        if is_unsure {
            match look(transport, pod, &fail).await {
                Where::On(node) if *node == **node_name => return Ok(()),
                Where::On(node) => {
                    let message = format!("pod {} is already assigned to node {node:?}", pod.name);
                    return Err(ApiError::new(ApiReason::Conflict, message));
                }
                Where::Gone => {
                    return Err(ApiError::new(ApiReason::NotFound, format!("pods {:?} not found", pod.name)));
                }
                Where::Nowhere => {}
            }
        }
        if !patience.wait(transport).await {
            return Err(error);
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Binding<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Meta<'a>,
    target: Node<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    name: &'a str,
    namespace: &'a str,
    uid: &'a str,
}

#[derive(Serialize)]
struct Node<'a> {
    kind: &'static str,
    name: &'a str,
}

/// Where a pod is.
enum Where {
    On(Box<str>),
    Nowhere,
    /// There is none of this uid.
    Gone,
}

/// What is looked at of a pod.
#[derive(Deserialize)]
struct Found {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    uid: Box<str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<Box<str>>,
}

/// Looks where a pod is, until that is known.
async fn look(transport: &impl Transport, pod: &Pod, fail: &impl Fn(&str)) -> Where {
    let call = Call { verb: Verb::Get, path: path(pod, ""), body: Bytes::new() };
    let mut patience = Patience { more: u32::MAX, longest: LONGEST, ..PATIENCE };
    loop {
        match patiently(transport, Lane::Bind, &call).await {
            Ok(answer) if answer.is_success() => {
                if let Ok(Found { metadata, spec }) = serde_json::from_slice(&answer.body) {
                    return match spec.node_name.filter(|node| !node.is_empty()) {
                        _ if *metadata.uid != *pod.uid.0 => Where::Gone,
                        Some(node) => Where::On(node),
                        None => Where::Nowhere,
                    };
                }
            }
            Ok(answer) if answer.code == 404 => return Where::Gone,
            Ok(answer) => fail(&Refusal::new(&answer).message),
            Err(silence) => fail(&silence.why()),
        }
        patience.wait(transport).await;
    }
}
