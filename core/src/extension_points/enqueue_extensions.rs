//! EnqueueExtensions: which events can make a rejected pod schedulable, and QueueingHint: whether this one does.

use std::fmt;

use crate::events::{Action, ClusterEvent, EventObject, EventResource};
use crate::model::Pod;
use crate::plugin::{IndexView, Plugin};

/// A kind of event that a plugin waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    /// The event, or several: every action of it.
    pub event: ClusterEvent,
    /// Whether the plugin's hint is asked. If not, every such event is worth an attempt.
    pub has_hint: bool,
}

impl Registration {
    /// Every such event is worth an attempt.
    pub const fn always(resource: EventResource, actions: Action) -> Registration {
        Registration { event: ClusterEvent::new(resource, actions), has_hint: false }
    }
    /// [`EnqueueExtensions::queueing_hint`] tells which are.
    pub const fn hinted(resource: EventResource, actions: Action) -> Registration {
        Registration { event: ClusterEvent::new(resource, actions), has_hint: true }
    }
}

/// Whether an event may make a pod schedulable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueingHint {
    /// It cannot: leave the pod where it is.
    Skip,
    /// It may: try again.
    Queue,
}

impl QueueingHint {
    /// `Queue` if so.
    pub const fn queue_if(worth_an_attempt: bool) -> QueueingHint {
        if worth_an_attempt { QueueingHint::Queue } else { QueueingHint::Skip }
    }
}

/// A hint could not be found. The pod is tried again, to be safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintError(pub String);

impl fmt::Display for HintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HintError {}

/// What a hint is asked about, and what it can look at.
pub struct HintContext<'a, P: Plugin> {
    /// The pod that the plugin rejected, as it is now.
    pub rejected: &'a Pod,
    /// What the event happened to, before and after.
    pub object: EventObject<'a>,
    /// The plugin's indexes, which know of the event already, and the cluster's strings.
    pub view: IndexView<'a, P>,
}

/// Tells which events are worth a new attempt for pods that this plugin rejected. A plugin without it is woken by every
/// event.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `EnqueueExtensions`",
    note = "its catalog entry says `enqueue-extensions = true`"
)]
pub trait EnqueueExtensions: Plugin {
    /// The events. An event of none of these never wakes a pod, with one exception of kube-scheduler's: who waits for new
    /// nodes and not for changes of taints is woken by every change of taints.
    const EVENTS: &'static [Registration];

    /// Looks closer at an event that is registered as [`Registration::hinted`]. A needless `Queue` costs an attempt; a
    /// wrong `Skip` leaves a pod behind.
    ///
    /// # Errors
    /// It cannot be told. The pod is tried again.
    fn queueing_hint(&self, _args: &Self::Args, _cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Queue)
    }
}
