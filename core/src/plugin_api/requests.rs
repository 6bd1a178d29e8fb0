//! Requests of plugins to the scheduler.

use serde_json::Value;

use crate::model::Uid;
use crate::model::object_ref::ObjectRef;

/// A request of a plugin to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The plugin allows a pod that waits in Permit.
    Allow {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that made it wait.
        plugin: &'static str,
    },
    /// The plugin rejects a pod that waits in Permit.
    Reject {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that rejects it.
        plugin: &'static str,
        /// The reason.
        reason: String,
    },
    /// A pod that is unschedulable or in backoff is retried.
    Activate(Uid),
    /// A pod is retried at a time in nanoseconds of the scheduler's clock, if it is unschedulable or in backoff at that
    /// time.
    ActivateAt(Uid, i64),
    /// An event about a pod is recorded.
    Event {
        /// The pod.
        pod: Uid,
        /// The event's reason, one word.
        reason: &'static str,
        /// The event's message, a sentence.
        note: String,
    },
    /// An object is written to the cluster.
    Write(WriteRequest),
}

/// A fire-and-forget write of a plugin to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The object.
    pub object: ObjectRef,
    /// The operation.
    pub operation: WriteOperation,
    /// The plugin.
    pub plugin: &'static str,
    /// The pod about which an event is recorded if the write fails.
    pub pod: Uid,
}

/// Operation on an object. The methods of [`Client`](crate::client::Client) with the same names describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteOperation {
    /// Creates it from this manifest.
    Create(Value),
    /// Changes it by a JSON merge patch.
    Patch(Value),
    /// Changes its status by a JSON merge patch.
    PatchStatus(Value),
    /// Deletes it. If a uid is given, only an object with this uid is deleted.
    Delete(Option<Uid>),
}
