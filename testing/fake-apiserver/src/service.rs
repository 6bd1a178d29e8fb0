//! Processing of requests.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::audit::RecordedRequest;
use crate::disconnect::InjectedDisconnect;
use crate::discovery;
use crate::faults::{Fault, Faults};
use crate::list;
use crate::request::{ApiRequest, PROTOBUF_STREAM, Target};
use crate::response::{ApiResponse, ResponseBody, response};
use crate::shared::{Shared, locked};
use crate::status_error::{StatusError, success};
use crate::store::Store;
use crate::watch::Watch;
use crate::write::{self, WriteOrigin};

/// Maximum number of events that wait for a slow reader of a watch.
const EVENT_BUFFER: usize = 256;

/// Responds to a request. Notifying `connection` closes the connection.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    connection: Arc<Notify>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, InjectedDisconnect> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| InjectedDisconnect)?.to_bytes();
    let api_request = ApiRequest::new(&head.method, &head.uri, &head.headers, &body);

    let faults = Faults::pick(&mut locked(&shared.rules), &api_request);
    if !faults.delay.is_zero() {
        tokio::time::sleep(faults.delay).await;
    }
    let record = |code| {
        let request =
            RecordedRequest::new(&locked(&shared.scenario), &api_request, code, head.version, faults.fault.clone());
        locked(&shared.audit).push(request);
    };
    let answer = match faults.fault {
        Some(Fault::Cut) => {
            record(0);
            connection.notify_one();
            return std::future::pending().await;
        }
        Some(Fault::Respond(code, retry_after)) => {
            record(code);
            ApiResponse::Error(StatusError::injected(code, retry_after))
        }
        _ => shared.with_store(|store| {
            let answer = ApiResponse::from(answer(&shared, store, &api_request));
            // Recorded under the store's lock: a change and its request become visible together.
            record(answer.code());
            answer
        }),
    };
    if faults.fault == Some(Fault::LoseResponse) {
        return Err(InjectedDisconnect);
    }
    Ok(match answer {
        ApiResponse::Object(code, object) => json_response(code, None, &object),
        ApiResponse::Text(text) => response(200, "text/plain", None, ResponseBody::Whole(Some(text.into()))),
        ApiResponse::Error(refusal) => json_response(refusal.code, refusal.retry_after, &refusal.body()),
        ApiResponse::Watch(watch) => {
            let (to, events) = mpsc::channel(EVENT_BUFFER);
            let protobuf = locked(&shared.protobuf).filter(|_| api_request.accepts_protobuf);
            let content_type = if protobuf.is_some() { PROTOBUF_STREAM } else { "application/json" };
            tokio::spawn(watch.run(shared, to, faults.stream(), protobuf));
            response(200, content_type, None, ResponseBody::Stream(events))
        }
    })
}

fn json_response(code: u16, retry_after: Option<u32>, object: &Value) -> Response<ResponseBody> {
    response(code, "application/json", retry_after, ResponseBody::Whole(Some(object.to_string().into())))
}

/// Processes a request and returns its response.
fn answer(shared: &Arc<Shared>, store: &mut Store, api_request: &ApiRequest) -> Result<ApiResponse, StatusError> {
    let now = write::now();
    if api_request.is_invalid_json {
        return Err(StatusError::new(400, "the object provided is unrecognized: it is not JSON"));
    }
    let Some(target) = &api_request.target else { return respond_without_objects(shared, api_request) };
    let ok = |object| Ok(ApiResponse::Object(200, object));
    let is_known_path = match target.subresource.as_str() {
        "" => true,
        "status" => target.kind.has_status && ["get", "update", "patch"].contains(&api_request.verb),
        "binding" => target.kind.kind == "Pod" && api_request.verb == "create",
        _ => false,
    };
    if !is_known_path {
        return Err(StatusError::no_such_path());
    }
    match api_request.verb {
        "get" => ok(list::get(store, target)?),
        "list" => ok(Arc::new(list::list(store, &mut locked(&shared.pages), api_request, target)?)),
        "watch" => Ok(ApiResponse::Watch(Watch::new(store, api_request, target)?)),
        "create" if target.subresource == "binding" => {
            write::bind(store, target, api_request.object()?, now)?;
            Ok(ApiResponse::Object(201, Arc::new(success(201))))
        }
        "create" if target.name.is_empty() && target.kind.is_namespaced != target.namespace.is_empty() => {
            Ok(ApiResponse::Object(201, write::create(store, target, api_request.object()?, WriteOrigin::Client, now)?))
        }
        "update" if !target.name.is_empty() => {
            let (code, object) = write::update(store, target, api_request.object()?, WriteOrigin::Client, now)?;
            Ok(ApiResponse::Object(code, object))
        }
        "patch" if !target.name.is_empty() => {
            ok(write::patch(store, target, &api_request.content_type, api_request.object()?, WriteOrigin::Client)?)
        }
        "delete" => {
            let options = api_request.body.clone().unwrap_or(Value::Null);
            let deletion = write::delete(store, target, &options, api_request.number("gracePeriodSeconds")?, now)?;
            if deletion.is_graceful
                && let Some(time) = *locked(&shared.kubelet)
            {
                let uid = write::text(&deletion.object, "/metadata/uid").to_owned();
                tokio::spawn(end_pod(shared.clone(), target.clone(), uid, time));
            }
            ok(deletion.answer(target))
        }
        _ => Err(StatusError::no_such_method()),
    }
}

/// Removes a deleted pod after `time`, as its kubelet would.
async fn end_pod(shared: Arc<Shared>, target: Target, uid: String, time: std::time::Duration) {
    tokio::time::sleep(time).await;
    shared.with_store(|store| write::remove(store, &target, &uid));
}

/// Responds to requests at non-resource paths.
fn respond_without_objects(shared: &Shared, api_request: &ApiRequest) -> Result<ApiResponse, StatusError> {
    let created = |object| Ok(ApiResponse::Object(201, Arc::new(object)));
    match (api_request.verb, api_request.path.as_str()) {
        ("get", "/healthz" | "/livez" | "/readyz") => Ok(ApiResponse::Text("ok")),
        ("get", "/version") => {
            let version = json!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "platform": "linux/amd64"});
            Ok(ApiResponse::Object(200, Arc::new(version)))
        }
        ("get", path) => {
            let document = discovery::at(path).ok_or_else(StatusError::no_such_path)?;
            Ok(ApiResponse::Object(200, Arc::new(document)))
        }
        ("create", "/apis/authentication.k8s.io/v1/tokenreviews") => {
            created(locked(&shared.reviews).token(api_request.object()?))
        }
        ("create", "/apis/authorization.k8s.io/v1/subjectaccessreviews") => {
            created(locked(&shared.reviews).access(api_request.object()?))
        }
        _ => Err(StatusError::no_such_path()),
    }
}
