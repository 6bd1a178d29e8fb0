//! The cluster, as the scheduler and its plugins act on it.
//!
//! It is a parameter of what acts, so that plugins and profiles are free of it. What comes back from the cluster comes as
//! changes to the scheduler, never through here.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::extension_points::Placement;
use crate::model::{Pod, Uid};

mod object_updates;

pub use object_updates::ObjectUpdates;

/// What the cluster answered instead of doing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// What kind of answer.
    pub reason: ApiReason,
    /// In the server's words.
    pub message: String,
}

/// Kinds of failures that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiReason {
    /// There is no such object, or it is another one by now.
    NotFound,
    /// The object is not as the caller thinks: a pod that has a node already, a version that is not the newest.
    Conflict,
    /// There is one of this name already.
    AlreadyExists,
    /// The request was wrong.
    Invalid,
    /// Nobody knows whether it happened.
    Timeout,
    /// This cluster cannot do that.
    Unsupported,
    /// Anything else.
    Other,
}

impl ApiError {
    /// A failure.
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

/// Which object, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef {
    /// `v1`, `storage.k8s.io/v1`.
    pub api_version: Arc<str>,
    /// `PersistentVolumeClaim`.
    pub kind: Arc<str>,
    /// Empty for a kind without namespaces.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

/// A condition of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `PodScheduled` or `DisruptionTarget`.
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: bool,
    /// A word.
    pub reason: &'static str,
    /// A sentence.
    pub message: String,
}

/// What changes in a pod's status. What the status says already need not be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusPatch {
    /// This condition.
    pub condition: Option<Condition>,
    /// This nominated node; the inner `None`: none any more.
    pub nominated_node: Option<Option<Arc<str>>>,
}

impl StatusPatch {
    /// Both, `later` where they differ.
    pub fn then(self, later: StatusPatch) -> StatusPatch {
        StatusPatch {
            condition: later.condition.or(self.condition),
            nominated_node: later.nominated_node.or(self.nominated_node),
        }
    }
}

/// Whether people should worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// No.
    Normal,
    /// Maybe.
    Warning,
}

/// Something that people should know of a pod: an object of `events.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who says so: the scheduler name of the profile.
    pub scheduler: &'static str,
    /// The pod.
    pub regarding: Arc<Pod>,
    /// Another pod that has to do with it.
    pub related: Option<Arc<Pod>>,
    /// Its type.
    pub event_type: EventType,
    /// A word: `Scheduled`, `FailedScheduling`, `Preempted`.
    pub reason: &'static str,
    /// What the scheduler did: `Binding`, `Scheduling`, `Preempting`.
    pub action: &'static str,
    /// A sentence, made by [`Event::note`] where it may be long.
    pub note: String,
}

impl Event {
    /// A message as a note, which an API server accepts up to 1024 bytes.
    pub fn note(message: &str) -> String {
        const LONGEST: usize = 1024;
        const CUT: &str = " ...";
        if message.len() <= LONGEST {
            return message.to_owned();
        }
        message[..message.floor_char_boundary(LONGEST - CUT.len())].to_owned() + CUT
    }
}

/// The cluster. All but [`Client::bind`] has a default for clusters that cannot do it or do not care.
///
/// Clones act on the same cluster. Futures may be dropped before they are done: then it is not known what happened.
pub trait Client: Clone + Send + Sync + 'static {
    /// Binds a pod to its node, on condition that there is a pod of this uid and that it has no node.
    fn bind(&self, placement: &Placement) -> impl Future<Output = Result<(), ApiError>> + Send;

    /// Has an extender bind a pod. `ask` asks it, which may take long and blocks, and tells whether the pod is bound now.
    /// A cluster that no extender can know binds the pod itself then.
    ///
    /// # Errors
    /// The pod is not bound, as far as is known.
    fn bind_by_extender(
        &self,
        _placement: &Placement,
        ask: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> impl Future<Output = Result<bool, String>> + Send {
        async { ask() }
    }

    /// Tells an extender something that nobody waits for, which may take long and blocks.
    fn notify_extender(&self, tell: impl FnOnce() + Send + 'static) {
        tell();
    }

    /// Writes a pod's status, on condition that there is a pod of this uid.
    fn patch_pod_status(
        &self,
        _pod: &Arc<Pod>,
        _patch: &StatusPatch,
    ) -> impl Future<Output = Result<(), ApiError>> + Send {
        async { Ok(()) }
    }

    /// Deletes a pod of this uid, with the time that it is granted to end.
    fn delete_pod(&self, pod: &Arc<Pod>) -> impl Future<Output = Result<(), ApiError>> + Send {
        let refusal = unsupported(format_args!("delete pod {}", pod.name));
        async { Err(refusal) }
    }

    /// Records an event, sooner or later, or never.
    fn record(&self, _event: Event) {}

    /// Waits, by the clock of this cluster.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// An object of a kind that a plugin declares, as its manifest.
    fn get(&self, object: &ObjectRef) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("get {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Follows some objects of kinds that a plugin declares, from now on, for so long at most: what waits for something to
    /// happen to them need not ask again and again. A cluster that does not tell of changes is asked every second.
    fn watch_objects(&self, objects: Vec<ObjectRef>, time: Duration) -> impl ObjectUpdates {
        object_updates::PollingUpdates::new(self.clone(), objects, time)
    }
    /// Creates one. Returns it as it is then.
    fn create(&self, object: &ObjectRef, _manifest: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("create {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Changes one by a JSON merge patch (RFC 7386). A `metadata.resourceVersion` in it is a condition. Returns the object as
    /// it is then.
    fn patch(&self, object: &ObjectRef, _patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("patch {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// The same for its status (`metadata` of the patch is a condition alone): where a kind has the subresource, and most have,
    /// [`Client::patch`] leaves the status as it is.
    fn patch_status(&self, object: &ObjectRef, _patch: &Value) -> impl Future<Output = Result<Value, ApiError>> + Send {
        let refusal = unsupported(format_args!("patch the status of {} {}", object.kind, object.name));
        async { Err(refusal) }
    }
    /// Deletes one; of this uid, if one is given.
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
