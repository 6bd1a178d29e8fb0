//! Changes of a cluster over time: objects are created, updated and deleted at times of a simulation.
//!
//! There are two sources: events files, in which each entry has a time and an action, and a trace, which consists of
//! manifests with annotations for creation and deletion times. [`Timeline::read`] reads and validates both before the
//! simulation. Objects must be valid for an API server, and objects of updates and deletions must exist, as far as that
//! does not depend on the scheduler and controllers.

mod entry;
mod history;
mod time;
mod trace;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use k8s_openapi::jiff::Timestamp;
use schedc_objects::manifests::{Problem, SourceLocation, entries};
use schedc_objects::{AnyObject, Error, IgnoredErrors, ObjectReader, Objects};
use serde_json::Value;

use entry::{EntryAction, WrittenEvent};
use history::{EventDraft, History};
use time::EventTime;
pub use time::{Span, point};

/// Sources of the events.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Events files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Whether to create and delete objects at the times of their annotations.
    pub trace: bool,
    /// Start of the simulation. By default, the earliest absolute time of the events.
    pub start: Option<Timestamp>,
}

/// All events in the order of time. Events at the same time are in their written order, those of the trace
/// first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The events.
    pub events: Vec<Event>,
    /// Start as a time, if it is given or if events have absolute times.
    pub start: Option<Timestamp>,
    /// Number of objects with creation or deletion times in annotations.
    pub traced: usize,
    /// Number of created objects other than nodes and pods, by kind. Namespaces without a manifest do not count.
    pub objects: BTreeMap<&'static str, usize>,
    /// Number of events of kinds that scheduling ignores, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Ignored errors of created and updated objects.
    pub ignored: IgnoredErrors,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time since the start.
    pub at: Span,
    /// Action.
    pub action: Action,
    /// Source location.
    pub place: SourceLocation,
}

/// An action on an object. Objects have the defaults of an API server, unless these are left out.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Creates the object.
    Create(AnyObject),
    /// Replaces the object. A pod keeps its node.
    Update(AnyObject),
    /// Changes some fields of the object.
    Patch {
        /// The object after the change, if nothing else changes it.
        object: AnyObject,
        /// The changed fields, as a JSON merge patch.
        patch: Value,
    },
    /// Deletes the object.
    Delete(Reference),
}

/// A reference to an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Kind: one of [`KINDS`](schedc_objects::KINDS) or the full name of a kind that a plugin declares.
    pub kind: &'static str,
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Reference {
    /// Creates a reference by name. The default namespace of namespaced kinds is `default`; other kinds have none.
    fn new(kind: &'static str, is_namespaced: bool, namespace: &str, name: &str) -> Self {
        let namespace = match namespace {
            _ if !is_namespaced => "",
            "" => "default",
            _ => namespace,
        };
        Reference { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// Returns the reference to an object.
    pub fn of(object: &AnyObject) -> Self {
        Reference::new(object.kind(), object.has_namespace(), object.namespace(), object.name())
    }

    /// Returns the name within its kind: `namespace/name`, or the name of a cluster-scoped object.
    pub fn local(&self) -> String {
        match self.namespace.is_empty() {
            true => self.name.clone(),
            false => format!("{}/{}", self.namespace, self.name),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.local())
    }
}

impl Timeline {
    /// Reads the changes of a cluster that initially contains `objects`. Objects that a trace creates later are
    /// removed from `objects`.
    ///
    /// # Errors
    /// Returns all problems: invalid events, objects that an API server would refuse, events for objects that do
    /// not exist, and creations of objects that exist already.
    pub fn read(sources: &Sources, objects: &mut Objects) -> Result<Timeline, Error> {
        let mut problems = Vec::new();
        let mut written = Vec::new();
        let mut reader = ObjectReader::new(objects.kinds, objects.validation);
        for file in &sources.files {
            match entries::read(file) {
                Ok(entries) => {
                    let read = |entry| entry::read(entry, &mut reader, &mut written, &mut problems);
                    entries.into_iter().for_each(read);
                }
                Err(error) => problems.extend(error.problems),
            }
        }
        let mut timeline = Timeline::new(written, problems, sources.trace, sources.start, objects)?;
        timeline.ignored.extend(reader.ignored);
        Ok(timeline)
    }

    fn new(
        written: Vec<WrittenEvent>,
        mut problems: Vec<Problem>,
        trace: bool,
        start: Option<Timestamp>,
        objects: &mut Objects,
    ) -> Result<Timeline, Error> {
        let start = start.or_else(|| earliest(&written));
        let mut timeline = Timeline { start, ..Timeline::default() };
        let mut drafts = Vec::new();
        if trace {
            timeline.traced = trace::take(objects, &mut drafts, &mut problems);
        }
        for WrittenEvent { when, what, place } in written {
            match (since(start, when), what) {
                (_, EntryAction::Nothing { kind }) => *timeline.skipped.entry(kind).or_default() += 1,
                (Ok(at), what) => drafts.push((at, EventDraft::Written(what), place)),
                (Err(message), _) => problems.push(Problem { place, object: None, field: None, message }),
            }
        }
        drafts.sort_by_key(|(at, ..)| *at);
        let mut history = History::new(objects, &mut problems);
        for (at, draft, place) in drafts {
            history.add_event(at, draft, place);
        }
        (timeline.events, timeline.objects) = (history.events, history.objects);
        timeline.ignored = history.reader.ignored;
        match problems.is_empty() {
            true => Ok(timeline),
            false => Err(Error { problems }),
        }
    }
}

fn earliest(events: &[WrittenEvent]) -> Option<Timestamp> {
    let points = events.iter().filter_map(|event| match event.when {
        EventTime::At(point) => Some(point),
        EventTime::After(_) => None,
    });
    points.min()
}

/// Returns the time of an event since the start. A time before the start is an error.
fn since(start: Option<Timestamp>, when: EventTime) -> Result<Span, String> {
    let point = match when {
        EventTime::After(span) => return Ok(span),
        EventTime::At(point) => point,
    };
    let start = start.unwrap_or(point);
    let nanoseconds = point.duration_since(start).as_nanos();
    match i64::try_from(nanoseconds) {
        Ok(nanoseconds @ 0..) => Ok(Span(nanoseconds)),
        Ok(_) => Err(format!("at: `{point}` is before the start, {start}")),
        Err(_) => Err(format!("at: `{point}` is too long after the start, {start}; 292 years are the limit")),
    }
}

#[cfg(test)]
mod tests;
