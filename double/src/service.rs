//! From a request to its answer.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::answer::{Answer, Broken, Content, response};
use crate::ask::{Ask, PROTOBUF_STREAM, Target};
use crate::audit::Asked;
use crate::discovery;
use crate::faults::{Fault, Faults};
use crate::list;
use crate::refusal::{Refusal, success};
use crate::shared::{Shared, locked};
use crate::store::Store;
use crate::watch::Watch;
use crate::write::{self, By};

/// How many events of a watch may wait for a slow listener.
const EVENTS_AHEAD: usize = 256;

/// Answers a request. Whoever is told by `connection` closes the connection.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    connection: Arc<Notify>,
    request: Request<Incoming>,
) -> Result<Response<Content>, Broken> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
    let ask = Ask::new(&head.method, &head.uri, &head.headers, &body);

    let faults = Faults::pick(&mut locked(&shared.rules), &ask);
    if !faults.delay.is_zero() {
        tokio::time::sleep(faults.delay).await;
    }
    let record = |code| {
        let asked = Asked::new(&locked(&shared.scenario), &ask, code, head.version, faults.fault.clone());
        locked(&shared.audit).push(asked);
    };
    let answer = match faults.fault {
        Some(Fault::Cut) => {
            record(0);
            connection.notify_one();
            return std::future::pending().await;
        }
        Some(Fault::Answer(code, retry_after)) => {
            record(code);
            Answer::Refused(Refusal::on_purpose(code, retry_after))
        }
        _ => shared.with_store(|store| {
            let answer = Answer::from(answer(&shared, store, &ask));
            // Whoever sees a change in the store finds its request here.
            record(answer.code());
            answer
        }),
    };
    if faults.fault == Some(Fault::LoseAnswer) {
        return Err(Broken);
    }
    Ok(match answer {
        Answer::Object(code, object) => json_response(code, None, &object),
        Answer::Text(text) => response(200, "text/plain", None, Content::Whole(Some(text.into()))),
        Answer::Refused(refusal) => json_response(refusal.code, refusal.retry_after, &refusal.body()),
        Answer::Watch(watch) => {
            let (to, events) = mpsc::channel(EVENTS_AHEAD);
            let protobuf = locked(&shared.protobuf).filter(|_| ask.likes_protobuf);
            let content_type = if protobuf.is_some() { PROTOBUF_STREAM } else { "application/json" };
            tokio::spawn(watch.run(shared, to, faults.stream(), protobuf));
            response(200, content_type, None, Content::Stream(events))
        }
    })
}

fn json_response(code: u16, retry_after: Option<u32>, object: &Value) -> Response<Content> {
    response(code, "application/json", retry_after, Content::Whole(Some(object.to_string().into())))
}

/// What is answered to a request, with its effects.
fn answer(shared: &Arc<Shared>, store: &mut Store, ask: &Ask) -> Result<Answer, Refusal> {
    let now = write::now();
    if ask.is_broken {
        return Err(Refusal::new(400, "the object provided is unrecognized: it is no JSON"));
    }
    let Some(target) = &ask.target else { return elsewhere(shared, ask) };
    let ok = |object| Ok(Answer::Object(200, object));
    let has_part = match target.part.as_str() {
        "" => true,
        "status" => target.kind.has_status && ["get", "update", "patch"].contains(&ask.verb),
        "binding" => target.kind.kind == "Pod" && ask.verb == "create",
        _ => false,
    };
    if !has_part {
        return Err(Refusal::no_such_path());
    }
    match ask.verb {
        "get" => ok(list::get(store, target)?),
        "list" => ok(Arc::new(list::list(store, ask, target)?)),
        "watch" => Ok(Answer::Watch(Watch::new(store, ask, target)?)),
        "create" if target.part == "binding" => {
            write::bind(store, target, ask.object()?, now)?;
            Ok(Answer::Object(201, Arc::new(success(201))))
        }
        "create" if target.name.is_empty() && target.kind.is_namespaced != target.namespace.is_empty() => {
            Ok(Answer::Object(201, write::create(store, target, ask.object()?, By::Client, now)?))
        }
        "update" if !target.name.is_empty() => {
            let (code, object) = write::update(store, target, ask.object()?, By::Client, now)?;
            Ok(Answer::Object(code, object))
        }
        "patch" if !target.name.is_empty() => {
            ok(write::patch(store, target, &ask.content_type, ask.object()?, By::Client)?)
        }
        "delete" => {
            let options = ask.body.clone().unwrap_or(Value::Null);
            let deletion = write::delete(store, target, &options, ask.number("gracePeriodSeconds")?, now)?;
            if deletion.is_graceful
                && let Some(time) = *locked(&shared.kubelet)
            {
                let uid = write::text(&deletion.object, "/metadata/uid").to_owned();
                tokio::spawn(end_pod(shared.clone(), target.clone(), uid, time));
            }
            ok(deletion.answer(target))
        }
        _ => Err(Refusal::no_such_method()),
    }
}

/// What a kubelet does to a pod that is to end.
async fn end_pod(shared: Arc<Shared>, target: Target, uid: String, time: std::time::Duration) {
    tokio::time::sleep(time).await;
    shared.with_store(|store| write::remove(store, &target, &uid));
}

/// Paths where there are no objects.
fn elsewhere(shared: &Shared, ask: &Ask) -> Result<Answer, Refusal> {
    let created = |object| Ok(Answer::Object(201, Arc::new(object)));
    match (ask.verb, ask.path.as_str()) {
        ("get", "/healthz" | "/livez" | "/readyz") => Ok(Answer::Text("ok")),
        ("get", "/version") => {
            let version = json!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "platform": "linux/amd64"});
            Ok(Answer::Object(200, Arc::new(version)))
        }
        ("get", path) => {
            let found = discovery::at(path).ok_or_else(Refusal::no_such_path)?;
            Ok(Answer::Object(200, Arc::new(found)))
        }
        ("create", "/apis/authentication.k8s.io/v1/tokenreviews") => {
            created(locked(&shared.reviews).token(ask.object()?))
        }
        ("create", "/apis/authorization.k8s.io/v1/subjectaccessreviews") => {
            created(locked(&shared.reviews).access(ask.object()?))
        }
        _ => Err(Refusal::no_such_path()),
    }
}
