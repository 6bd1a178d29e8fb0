//! EnqueueExtensions: the events that can make a rejected pod schedulable. QueueingHint: whether such an event may make
//! a particular pod schedulable.

use std::fmt;

use crate::model::Pod;
use crate::plugin_api::events::{Action, ClusterEvent, EventObject, EventResource};
use crate::plugin_api::plugin::{IndexView, Plugin};

/// Events that a plugin is interested in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    /// The resource and one or several of its actions.
    pub event: ClusterEvent,
    /// Whether the plugin's hint is called. Otherwise, every event of the registration causes an attempt.
    pub has_hint: bool,
}

impl Registration {
    /// Registers events that always cause an attempt.
    pub const fn always(resource: EventResource, actions: Action) -> Registration {
        Registration { event: ClusterEvent::new(resource, actions), has_hint: false }
    }
    /// Registers events for which [`EnqueueExtensions::queueing_hint`] decides.
    pub const fn hinted(resource: EventResource, actions: Action) -> Registration {
        Registration { event: ClusterEvent::new(resource, actions), has_hint: true }
    }
}

/// Result of a hint: whether an event may make a pod schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueingHint {
    /// The event cannot: the pod stays where it is.
    Skip,
    /// The event may: the pod is retried.
    Queue,
}

impl QueueingHint {
    /// Returns `Queue` if the condition holds, otherwise `Skip`.
    pub const fn queue_if(worth_an_attempt: bool) -> QueueingHint {
        if worth_an_attempt { QueueingHint::Queue } else { QueueingHint::Skip }
    }
}

/// Failure of a hint. The pod is retried, to be safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintError(pub String);

impl fmt::Display for HintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HintError {}

/// Input of a hint.
pub struct HintContext<'a, P: Plugin> {
    /// The current state of the pod that the plugin rejected.
    pub rejected: &'a Pod,
    /// The object of the event, before and after.
    pub object: EventObject<'a>,
    /// The plugin's indexes, which contain the event already, and the cluster's strings.
    pub view: IndexView<'a, P>,
}

/// Declares the events that cause a new attempt for pods that this plugin rejected. For a plugin without this trait,
/// every event causes an attempt.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `EnqueueExtensions`",
    note = "its catalog entry has `enqueue-extensions = true`"
)]
pub trait EnqueueExtensions: Plugin {
    /// The events. Other events never cause an attempt, with one exception of kube-scheduler: if a plugin registers for
    /// new nodes, but not for taint changes, every taint change causes an attempt.
    const EVENTS: &'static [Registration];

    /// Evaluates an event that is registered with [`Registration::hinted`]. A needless `Queue` costs an attempt; a
    /// wrong `Skip` leaves a pod pending.
    ///
    /// # Errors
    /// The result is unknown. The pod is retried.
    fn queueing_hint(&self, _args: &Self::Args, _cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Queue)
    }
}
