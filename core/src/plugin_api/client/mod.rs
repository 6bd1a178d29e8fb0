//! Requests of the scheduler and its plugins to the cluster.
//!
//! The client is a type parameter of the methods that use it, and plugins and profiles do not depend on it. Changes in
//! the cluster do not arrive through the client; the driver passes them to the scheduler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::model::placement::Placement;
use crate::model::{Pod, Uid};

mod object_updates;

pub use crate::model::object_ref::ObjectRef;
pub use object_updates::ObjectUpdates;

/// Failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Kind of failure.
    pub reason: ApiReason,
    /// The server's message.
    pub message: String,
}

/// Kinds of failures that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiReason {
    /// The object does not exist, or another one has its name.
    NotFound,
    /// The object's state is not the expected one: a pod has a node already, or the version is not the newest.
    Conflict,
    /// An object with this name exists already.
    AlreadyExists,
    /// The request is wrong.
    Invalid,
    /// The effect is unknown.
    Timeout,
    /// This cluster does not support the request.
    Unsupported,
    /// Any other failure.
    Other,
}

impl ApiError {
    /// Makes a failure.
    pub fn new(reason: ApiReason, message: impl Into<String>) -> Self {
        ApiError { reason, message: message.into() }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<ApiError> for String {
    fn from(error: ApiError) -> String {
        error.message
    }
}

/// A condition of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `PodScheduled` or `DisruptionTarget`.
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: bool,
    /// One word.
    pub reason: &'static str,
    /// One sentence.
    pub message: String,
}

/// Change of a pod's status. A client may skip values that the status already has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusPatch {
    /// The new condition.
    pub condition: Option<Condition>,
    /// The new nominated node; the inner `None` removes it.
    pub nominated_node: Option<Option<Arc<str>>>,
}

impl StatusPatch {
    /// Combines two patches; `later` has precedence.
    pub fn then(self, later: StatusPatch) -> StatusPatch {
        StatusPatch {
            condition: later.condition.or(self.condition),
            nominated_node: later.nominated_node.or(self.nominated_node),
        }
    }
}

/// Type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// For information.
    Normal,
    /// A possible problem.
    Warning,
}

/// An event about a pod: an object of `events.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The reporter: the scheduler name of the profile.
    pub scheduler: &'static str,
    /// The pod.
    pub regarding: Arc<Pod>,
    /// Another pod that is involved.
    pub related: Option<Arc<Pod>>,
    /// Its type.
    pub event_type: EventType,
    /// One word: `Scheduled`, `FailedScheduling`, `Preempted`.
    pub reason: &'static str,
    /// Action of the scheduler: `Binding`, `Scheduling`, `Preempting`.
    pub action: &'static str,
    /// One sentence. A text that may be longer than an API server accepts is cut by [`Event::note`].
    pub note: String,
}

impl Event {
    /// Returns the message as a note, cut to the 1024 bytes that an API server accepts.
    pub fn note(message: &str) -> String {
        const MAX_LENGTH: usize = 1024;
        const CUT: &str = " ...";
        if message.len() <= MAX_LENGTH {
            return message.to_owned();
        }
        message[..message.floor_char_boundary(MAX_LENGTH - CUT.len())].to_owned() + CUT
    }
}

/// The cluster. All methods except [`Client::bind`] and [`Client::sleep`] have defaults, for clusters that do not
/// support them.
///
/// Clones act on the same cluster. Futures may be dropped before they complete: the effect is then unknown.
pub trait Client: Clone + Send + Sync + 'static {
    /// Binds a pod to its node, on condition that a pod with this uid exists and has no node.
    fn bind(&self, placement: &Placement) -> impl Future<Output = Result<(), ApiError>> + Send;

    /// Lets an extender bind a pod. `call` sends the request, blocks until the response, possibly for long, and returns
    /// whether an extender bound the pod. If so, a cluster that the extender cannot reach, such as one in memory, binds
    /// the pod itself.
    ///
    /// # Errors
    /// The pod is not bound, as far as is known.
    fn bind_by_extender(
        &self,
        _placement: &Placement,
        call: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> impl Future<Output = Result<bool, String>> + Send {
        async { call() }
    }

    /// Notifies an extender, without a result. `notify` blocks, possibly for long; the default runs it in this call.
    fn notify_extender(&self, notify: impl FnOnce() + Send + 'static) {
        notify();
    }

    /// Writes a pod's status, on condition that a pod with this uid exists.
    fn patch_pod_status(
        &self,
        _pod: &Arc<Pod>,
        _patch: &StatusPatch,
    ) -> impl Future<Output = Result<(), ApiError>> + Send {
        async { Ok(()) }
    }

    /// Deletes a pod with this uid, with its termination grace period.
    fn delete_pod(&self, pod: &Arc<Pod>) -> impl Future<Output = Result<(), ApiError>> + Send {
        let refusal = unsupported(format_args!("delete pod {}", pod.name));
        async { Err(refusal) }
    }

    /// Records an event, possibly later; events may be lost.
    fn record(&self, _event: Event) {}

    /// Sleeps, by the clock of this cluster.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Gets an object of a kind that a plugin declares, as its manifest.
    fn get(&self, object: &ObjectRef) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("get {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Watches some objects of kinds that a plugin declares, from now on. [`ObjectUpdates::next`] returns updates for
    /// at most this time, which begins with its first call. The caller can then wait for a change without polling. A
    /// cluster without watches is polled every second.
    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> impl ObjectUpdates {
        object_updates::PollingUpdates::new(self.clone(), objects, time)
    }
    /// Creates an object. Returns the new object.
    fn create(&self, object: &ObjectRef, _manifest: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("create {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Changes an object by a JSON merge patch (RFC 7386). If the patch has a `metadata.resourceVersion`, the object
    /// must have this version. Returns the changed object.
    fn patch(&self, object: &ObjectRef, _patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("patch {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Changes an object's status by a JSON merge patch; the patch's `metadata` serves only for preconditions (`uid`,
    /// `resourceVersion`). Most kinds have a status subresource: for these, [`Client::patch`] leaves the status
    /// unchanged.
    fn patch_status(&self, object: &ObjectRef, _patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("patch the status of {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Deletes an object. If a uid is given, only an object with this uid is deleted.
    fn delete(&self, object: &ObjectRef, _uid: Option<&Uid>) -> impl Future<Output = Result<(), ApiError>> + Send {
        let refusal = unsupported(format_args!("delete {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
}

fn unsupported(what: fmt::Arguments<'_>) -> ApiError {
    ApiError::new(ApiReason::Unsupported, format!("this cluster cannot {what}"))
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn a_note_is_cut_where_an_api_server_would_refuse_it() {
        assert_eq!(Event::note(&"a".repeat(1024)), "a".repeat(1024));
        assert_eq!(Event::note(&"a".repeat(1025)), "a".repeat(1020) + " ...");
        assert_eq!(Event::note(&("a".to_owned() + &"é".repeat(600))), "a".to_owned() + &"é".repeat(509) + " ...");
    }
}
