//! A small API server whose responses a test can hold.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod as ApiPod, PodCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schedc_core::client::{ApiError, ApiReason, Client, Event, ObjectRef, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use serde_json::Value;

/// A request of the scheduler.
#[derive(Clone, Debug)]
enum Request {
    Bind {
        pod: Uid,
        node: String,
    },
    Patch {
        pod: Uid,
        patch: StatusPatch,
        node: Option<String>,
    },
    Delete {
        pod: Uid,
    },
    /// Get of an object that does not exist here; the response is null.
    Get,
}

/// A request that waits for its response.
struct Call {
    id: usize,
    /// Pod whose attempt sent the request.
    owner: String,
    /// Text of the request, such as `bind web`.
    text: String,
    request: Request,
    answer: Option<Result<Value, ApiError>>,
}

/// State of the server, and its log.
#[derive(Default)]
pub(crate) struct Server {
    /// Pods by name.
    pods: BTreeMap<String, ApiPod>,
    calls: Vec<Call>,
    /// Number of requests so far.
    made: usize,
    /// Pod whose attempt sends requests.
    pub(crate) owner: String,
    /// Held requests: the pod of the attempt (empty for any) and the prefix.
    held: Vec<(String, String)>,
    /// Failing requests: the prefix and the error.
    failing: Vec<(String, ApiError)>,
    /// Names of pods with undelivered changes.
    changed: Vec<String>,
    /// Requests, their results, and events.
    log: Vec<String>,
}

impl Server {
    /// Creates a pod, or replaces one.
    pub(crate) fn put(&mut self, pod: ApiPod) {
        let name = pod.metadata.name.clone().unwrap();
        self.pods.insert(name.clone(), pod);
        self.changed.push(name);
    }
    /// Returns changed pods with their current state, or `None` for deleted ones.
    pub(crate) fn take_changes(&mut self) -> Vec<(String, Option<ApiPod>)> {
        let state = |name: String| (name.clone(), self.pods.get(&name).cloned());
        take(&mut self.changed).into_iter().map(state).collect()
    }
    /// Returns a pod.
    pub(crate) fn pod(&self, name: &str) -> Option<&ApiPod> {
        self.pods.get(name)
    }
    pub(crate) fn edit(&mut self, name: &str, change: impl FnOnce(&mut ApiPod)) {
        change(self.pods.get_mut(name).unwrap_or_else(|| panic!("no pod {name}")));
        self.changed.push(name.to_owned());
    }
    /// Removes a pod, as at the end of its grace period.
    pub(crate) fn remove(&mut self, name: &str) {
        self.pods.remove(name).unwrap_or_else(|| panic!("no pod {name}"));
        self.changed.push(name.to_owned());
    }
    /// Holds responses to requests with this prefix.
    pub(crate) fn hold(&mut self, owner: &str, requests: &str) {
        self.held.push((owner.to_owned(), requests.to_owned()));
    }
    /// Releases responses that were held by this prefix.
    pub(crate) fn release(&mut self, owner: &str, requests: &str) {
        let before = self.held.len();
        self.held.retain(|(held_owner, held)| held_owner != owner || held != requests);
        assert!(self.held.len() < before, "`{requests}` is not held");
    }
    /// Fails the next request with this prefix.
    pub(crate) fn fail(&mut self, requests: &str, error: ApiError) {
        self.failing.push((requests.to_owned(), error));
    }
    /// Returns the requests without a response.
    pub(crate) fn pending(&self) -> Vec<String> {
        self.calls.iter().filter(|call| call.answer.is_none()).map(|call| call.text.clone()).collect()
    }
    /// Returns the number of requests.
    pub(crate) fn request_count(&self) -> usize {
        self.made
    }
    /// Returns the log since the last call.
    pub(crate) fn take_log(&mut self) -> Vec<String> {
        take(&mut self.log)
    }

    /// Answers requests that are not held. Returns whether there were any.
    pub(crate) fn answer(&mut self) -> bool {
        let mut calls = take(&mut self.calls);
        let mut any = false;
        for call in calls.iter_mut().filter(|call| call.answer.is_none()) {
            let matches_call =
                |owner: &str, start: &str| call.text.starts_with(start) && (owner.is_empty() || owner == call.owner);
            if self.held.iter().any(|(owner, start)| matches_call(owner, start)) {
                continue;
            }
            any = true;
            let answer = match self.failing.iter().position(|(start, _)| matches_call("", start)) {
                Some(at) => Err(self.failing.remove(at).1),
                None => self.carry_out(&call.request),
            };
            let error = answer.as_ref().err().map(|error| format!(": {error}")).unwrap_or_default();
            self.log.push(format!("{}{error}", call.text));
            call.answer = Some(answer);
        }
        self.calls = calls;
        any
    }

    fn carry_out(&mut self, request: &Request) -> Result<Value, ApiError> {
        match request {
            Request::Bind { pod, node } => {
                let (name, pod) = self.pod_by_uid(pod)?;
                let spec = pod.spec.get_or_insert_default();
                if pod.metadata.deletion_timestamp.is_some() {
                    return Err(ApiError::new(ApiReason::Conflict, format!("pod {name} is being deleted")));
                }
                if let Some(node) = &spec.node_name {
                    return Err(ApiError::new(ApiReason::Conflict, format!("pod {name} is on {node} already")));
                }
                spec.node_name = Some(node.clone());
                pod.status.get_or_insert_default().nominated_node_name = None;
                set_condition(pod, "PodScheduled", true, "", "");
                self.changed.push(name);
            }
            Request::Patch { pod, patch, node } => {
                let (name, pod) = self.pod_by_uid(pod)?;
                if patch.nominated_node.is_some() {
                    pod.status.get_or_insert_default().nominated_node_name = node.clone();
                }
                if let Some(condition) = &patch.condition {
                    set_condition(pod, condition.kind, condition.status, condition.reason, &condition.message);
                }
                self.changed.push(name);
            }
            Request::Delete { pod } => {
                let (name, _) = self.pod_by_uid(pod)?;
                self.delete(&name)?;
            }
            Request::Get => {}
        }
        Ok(Value::Null)
    }

    /// Deletes a pod, or sets its deletion timestamp.
    pub(crate) fn delete(&mut self, name: &str) -> Result<(), ApiError> {
        let pod = self.pods.get_mut(name).ok_or_else(not_found)?;
        let spec = pod.spec.get_or_insert_default();
        // A pending pod ends immediately, unless it has finalizers.
        let at_once = spec.node_name.is_none() || spec.termination_grace_period_seconds == Some(0);
        if at_once && pod.metadata.finalizers.iter().flatten().next().is_none() {
            self.pods.remove(name);
        } else {
            pod.metadata.deletion_timestamp = Some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
        }
        self.changed.push(name.to_owned());
        Ok(())
    }

    fn pod_by_uid(&mut self, uid: &Uid) -> Result<(String, &mut ApiPod), ApiError> {
        let found = self.pods.iter_mut().find(|(_, pod)| pod.metadata.uid.as_deref() == Some(&*uid.0));
        found.map(|(name, pod)| (name.clone(), pod)).ok_or_else(not_found)
    }
}

fn not_found() -> ApiError {
    ApiError::new(ApiReason::NotFound, "there is no such pod")
}

fn set_condition(pod: &mut ApiPod, kind: &str, status: bool, reason: &str, message: &str) {
    let conditions = pod.status.get_or_insert_default().conditions.get_or_insert_default();
    conditions.retain(|condition| condition.type_ != kind);
    conditions.push(PodCondition {
        type_: kind.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        ..PodCondition::default()
    });
}

/// Client of the server.
#[derive(Clone, Default)]
pub(crate) struct Api(Arc<Mutex<Server>>);

impl Api {
    /// Returns the server.
    pub(crate) fn server(&self) -> MutexGuard<'_, Server> {
        self.0.lock().unwrap()
    }
    fn call(&self, text: String, request: Request) -> Waiting {
        let mut server = self.server();
        server.made += 1;
        let (id, owner) = (server.made, server.owner.clone());
        server.calls.push(Call { id, owner, text, request, answer: None });
        Waiting { api: self.clone(), id }
    }
}

impl Client for Api {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        let request = Request::Bind { pod: placement.pod.uid.clone(), node: placement.node_name.to_string() };
        self.call(format!("bind {} to {}", placement.pod.name, placement.node_name), request).await.map(drop)
    }
    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        let node = patch.nominated_node.clone().flatten().map(|node| node.to_string());
        let mut text = format!("patch {}", pod.name);
        if patch.nominated_node.is_some() {
            write!(text, " nominated={}", node.as_deref().unwrap_or("none")).unwrap();
        }
        if let Some(condition) = &patch.condition {
            write!(text, " {}={}", condition.kind, condition.reason).unwrap();
        }
        let request = Request::Patch { pod: pod.uid.clone(), patch: patch.clone(), node };
        self.call(text, request).await.map(drop)
    }
    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        self.call(format!("delete {}", pod.name), Request::Delete { pod: pod.uid.clone() }).await.map(drop)
    }
    fn record(&self, event: Event) {
        self.server().log.push(format!("{} {}: {}", event.reason, event.regarding.name, event.note));
    }
    async fn sleep(&self, _: Duration) {}
    async fn get(&self, object: &ObjectRef) -> Result<Value, ApiError> {
        self.call(format!("get {} {}", object.kind, object.name), Request::Get).await
    }
}

/// Future of a response.
struct Waiting {
    api: Api,
    id: usize,
}

impl Future for Waiting {
    type Output = Result<Value, ApiError>;
    /// Polls for the response. No waker is needed, because the harness polls all futures after each response.
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let mut server = self.api.server();
        let call = server.calls.iter_mut().find(|call| call.id == self.id).expect("a call stays until its future ends");
        call.answer.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut server = self.api.server();
        server.calls.retain(|call| call.id != self.id);
    }
}
