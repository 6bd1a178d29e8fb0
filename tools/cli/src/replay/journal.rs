//! The latest changes of the recorded state, which the search for another order reverts.

use std::collections::VecDeque;
use std::sync::Arc;

use schedc_recording::Reference;
use schedc_recording::entry::{Bind, Entry, Reject};
use schedc_recording::reader::Place;
use serde::Serialize;

use super::reservations::Name;
use super::window::SPAN;

/// An object as recorded JSON; `None` if it does not exist.
pub(super) type Version = Option<Arc<str>>;

/// A change of an object.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    pub(super) key: Reference,
    pub(super) before: Version,
    pub(super) after: Version,
}

/// A change with its place in the recording.
#[derive(Clone, Debug)]
pub(super) struct RecordedChange {
    pub(super) place: Place,
    /// Time in milliseconds since 1970.
    pub(super) at: i64,
    pub(super) replacement: Replacement,
    pub(super) origin: Origin,
}

/// The writer of a change, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A scheduler bound a pod.
    Binding(String),
    /// A scheduler reported a pod as unschedulable.
    Rejection(String),
    /// Another writer, or an unknown one.
    Other,
}

/// Finds the origins of changes: in a recording, the entry of a decision precedes the entry of the changed pod.
#[derive(Debug, Default)]
pub(super) struct Origins(Option<(Name, Origin)>);

impl Origins {
    /// Returns the origin of the next entry of a recording.
    pub(super) fn of(&mut self, entry: &Entry) -> Origin {
        match entry {
            Entry::Bind(Bind { namespace, name, scheduler, .. }) => {
                self.0 = Some(((namespace.clone(), name.clone()), Origin::Binding(scheduler.clone())));
            }
            Entry::Reject(Reject { namespace, name, scheduler, .. }) => {
                self.0 = Some(((namespace.clone(), name.clone()), Origin::Rejection(scheduler.clone())));
            }
            Entry::Set(object) if object["kind"] == "Pod" => {
                let metadata = &object["metadata"];
                let is_of = |((namespace, name), _): &mut (Name, _)| {
                    metadata["name"] == **name && metadata["namespace"].as_str().unwrap_or_default() == namespace
                };
                return self.0.take_if(is_of).map_or(Origin::Other, |(_, origin)| origin);
            }
            _ => {}
        }
        Origin::Other
    }
}

/// A change in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedChange {
    /// File and line.
    pub place: String,
    /// Kind of the object.
    pub kind: String,
    /// `namespace/name`, or the name of an object without a namespace.
    pub name: String,
    /// `bound`, `rejected`, `created`, `deleted` or `changed`.
    pub change: &'static str,
}

impl RecordedChange {
    pub(super) fn named(&self) -> NamedChange {
        let Replacement { key: Reference { kind, namespace, name }, before, after } = &self.replacement;
        let name = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
        let change = match (&self.origin, before, after) {
            (Origin::Binding(_), ..) => "bound",
            (Origin::Rejection(_), ..) => "rejected",
            (Origin::Other, None, _) => "created",
            (Origin::Other, _, None) => "deleted",
            (Origin::Other, Some(_), Some(_)) => "changed",
        };
        NamedChange { place: self.place.to_string(), kind: kind.clone(), name, change }
    }
}

/// Maximum number of changes in a journal.
const MAX_CHANGES: usize = 4_096;

/// The latest changes, oldest first: those of the last `2 * SPAN` before the newest change.
#[derive(Default)]
pub(super) struct Journal(VecDeque<RecordedChange>);

impl Journal {
    pub(super) fn push(&mut self, change: RecordedChange) {
        let oldest = change.at - 2 * SPAN;
        self.0.push_back(change);
        while self.0.len() > MAX_CHANGES || self.0.front().is_some_and(|first| first.at < oldest) {
            self.0.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the newest changes since a time, at most `count`, oldest first.
    pub(super) fn since(&self, at: i64, count: usize) -> Vec<RecordedChange> {
        let mut changes: Vec<_> = self.0.iter().rev().filter(|change| change.at >= at).take(count).cloned().collect();
        changes.reverse();
        changes
    }
}
