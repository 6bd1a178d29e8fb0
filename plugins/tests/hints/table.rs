//! What a plugin's hints say, as a table: changes that wake a pod that the plugin rejected, and changes that do not.

/// What is said of the events that a plugin registered with a hint.
pub(crate) struct Hints {
    pub(crate) plugin: &'static str,
    pub(crate) events: &'static [Event],
}

/// What is said of one kind of event to one pod. A kind can have several of these.
pub(crate) struct Event {
    /// The plugin's registration and one of its actions, as kube-scheduler writes them.
    pub(crate) name: &'static str,
    /// The pod that the plugin rejected.
    pub(crate) rejected: &'static str,
    /// Other objects.
    pub(crate) around: &'static [&'static str],
    pub(crate) wake: &'static [Change],
    pub(crate) do_not: &'static [Change],
}

impl Event {
    /// Nothing is said yet.
    pub(crate) const OF: Event = Event { name: "", rejected: "{}", around: &[], wake: &[], do_not: &[] };
}

/// A manifest before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) old: Option<&'static str>,
    pub(crate) new: Option<&'static str>,
    /// Whether the change makes such an event. Hints have an answer for others, too.
    pub(crate) is_told: bool,
}

pub(crate) const fn came(new: &'static str) -> Change {
    Change { old: None, new: Some(new), is_told: true }
}

pub(crate) const fn changed(old: &'static str, new: &'static str) -> Change {
    Change { old: Some(old), new: Some(new), is_told: true }
}

pub(crate) const fn went(old: &'static str) -> Change {
    Change { old: Some(old), new: None, is_told: true }
}

impl Change {
    /// The same change, of which nobody hears.
    pub(crate) const fn untold(self) -> Change {
        Change { is_told: false, ..self }
    }
}
