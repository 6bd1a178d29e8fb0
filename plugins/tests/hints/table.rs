//! Results of a plugin's hints as a table: changes that queue a rejected pod, and changes that do not.

/// The expected results for the events that a plugin registered with a hint.
pub(crate) struct Hints {
    pub(crate) plugin: &'static str,
    pub(crate) events: &'static [Event],
}

/// The expected results for one event and one pod. An event can have several entries.
pub(crate) struct Event {
    /// The plugin's registration and one of its actions, in kube-scheduler's notation.
    pub(crate) name: &'static str,
    /// The pod that the plugin rejected.
    pub(crate) rejected: &'static str,
    /// Other objects.
    pub(crate) others: &'static [&'static str],
    pub(crate) queue: &'static [Change],
    pub(crate) skip: &'static [Change],
}

impl Event {
    /// An event without expectations, for the fields that an entry omits: `..Event::EMPTY`.
    pub(crate) const EMPTY: Event = Event { name: "", rejected: "{}", others: &[], queue: &[], skip: &[] };
}

/// A change of an object: its manifest before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) old: Option<&'static str>,
    pub(crate) new: Option<&'static str>,
    /// Whether the change causes this event. Hints return a result for other changes too.
    pub(crate) makes_event: bool,
}

pub(crate) const fn added(new: &'static str) -> Change {
    Change { old: None, new: Some(new), makes_event: true }
}

pub(crate) const fn updated(old: &'static str, new: &'static str) -> Change {
    Change { old: Some(old), new: Some(new), makes_event: true }
}

pub(crate) const fn deleted(old: &'static str) -> Change {
    Change { old: Some(old), new: None, makes_event: true }
}

impl Change {
    /// Returns the change with the expectation that it does not cause the event.
    pub(crate) const fn without_event(self) -> Change {
        Change { makes_event: false, ..self }
    }
}
