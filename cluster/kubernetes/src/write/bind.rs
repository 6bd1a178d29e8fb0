//! Bindings, each executed at most once.

use std::time::Duration;

use bytes::Bytes;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::extension_points::Placement;
use schedc_core::model::Pod;
use serde::{Deserialize, Serialize};

use super::path;
use crate::transport::{
    ApiRequest, RequestClass, RequestOutcome, RetryBackoff, StatusError, Transport, Verb, call_with_retry_after,
};

/// Backoff of retries after requests without effect.
const BACKOFF: RetryBackoff =
    RetryBackoff { steps: 3, delay: Duration::from_millis(100), factor: 3, cap: Duration::from_secs(1) };
/// Maximum delay between two reads of the pod.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Binds the pod of `placement` to its node. A pod with the same name but another uid is not bound.
///
/// If the outcome of the request is unknown, the pod is read until the server responds, however long that takes. Until
/// then, the pod's resources on the node stay reserved.
///
/// `fail` receives the reason of each failed request.
pub(super) async fn bind(
    transport: &impl Transport,
    placement: &Placement,
    fail: impl Fn(&str),
) -> Result<(), ApiError> {
    let Placement { pod, node_name, .. } = placement;
    let call = ApiRequest { verb: Verb::Create, path: path(pod, "/binding"), body: body(placement)? };
    let mut backoff = BACKOFF;
    // Whether an earlier attempt may have succeeded, or may still succeed.
    let mut may_be_bound = false;
    loop {
        let error = match RequestOutcome::new(call_with_retry_after(transport, RequestClass::Bind, &call).await) {
            RequestOutcome::Done(_) => return Ok(()),
            RequestOutcome::Refused(status_error) if !may_be_bound => return Err(status_error.into()),
            RequestOutcome::Refused(status_error) => {
                backoff.steps = 0;
                status_error.into()
            }
            RequestOutcome::Failed(error) => error,
            RequestOutcome::Unknown(error) => {
                may_be_bound = true;
                error
            }
        };
        fail(&error.message);
        if may_be_bound {
            match locate_pod(transport, pod, &fail).await {
                PodLocation::Assigned(node) if *node == **node_name => return Ok(()),
                PodLocation::Assigned(node) => {
                    let message = format!("pod {} is already assigned to node {node:?}", pod.name);
                    return Err(ApiError::new(ApiReason::Conflict, message));
                }
                PodLocation::Missing => {
                    return Err(ApiError::new(ApiReason::NotFound, format!("pods {:?} not found", pod.name)));
                }
                PodLocation::Unassigned => {}
            }
        }
        if !backoff.wait(transport).await {
            return Err(error);
        }
    }
}

/// Returns the body of a binding request. The function is not generic, so it is compiled in this package, with a higher
/// optimisation level than in that of the command line.
fn body(placement: &Placement) -> Result<Bytes, ApiError> {
    let Placement { pod, node_name, .. } = placement;
    let body = Binding {
        api_version: "v1",
        kind: "Binding",
        metadata: BindingMetadata { name: &pod.name, namespace: &pod.namespace, uid: &pod.uid.0 },
        target: Node { kind: "Node", name: node_name },
    };
    let body = serde_json::to_vec(&body).map_err(|error| ApiError::new(ApiReason::Other, error.to_string()))?;
    Ok(body.into())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Binding<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: BindingMetadata<'a>,
    target: Node<'a>,
}

#[derive(Serialize)]
struct BindingMetadata<'a> {
    name: &'a str,
    namespace: &'a str,
    uid: &'a str,
}

#[derive(Serialize)]
struct Node<'a> {
    kind: &'static str,
    name: &'a str,
}

/// Observed binding of a pod.
enum PodLocation {
    Assigned(Box<str>),
    Unassigned,
    /// No pod with this uid exists.
    Missing,
}

/// Fields of a pod that show whether it is bound, and to which node.
#[derive(Deserialize)]
struct FoundPod {
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

/// Reads the pod until its binding is known.
async fn locate_pod(transport: &impl Transport, pod: &Pod, fail: &impl Fn(&str)) -> PodLocation {
    let call = ApiRequest { verb: Verb::Get, path: path(pod, ""), body: Bytes::new() };
    let mut backoff = RetryBackoff { steps: u32::MAX, cap: MAX_DELAY, ..BACKOFF };
    loop {
        match call_with_retry_after(transport, RequestClass::Bind, &call).await {
            Ok(answer) if answer.is_success() => {
                if let Ok(FoundPod { metadata, spec }) = serde_json::from_slice(&answer.body) {
                    return match spec.node_name.filter(|node| !node.is_empty()) {
                        _ if *metadata.uid != *pod.uid.0 => PodLocation::Missing,
                        Some(node) => PodLocation::Assigned(node),
                        None => PodLocation::Unassigned,
                    };
                }
            }
            Ok(answer) if answer.code == 404 => return PodLocation::Missing,
            Ok(answer) => fail(&StatusError::new(&answer).message),
            Err(error) => fail(&error.into_message()),
        }
        backoff.wait(transport).await;
    }
}
