//! What happens to a cluster, and when: objects come, change and go at times of a simulation.
//!
//! Two sources tell it. An events file lists it, entry by entry ([`Timeline::read`]); and objects of the manifests may be
//! part of a trace, with annotations that say when they come and go. Both are checked before anything is simulated: that
//! objects are what an API server takes, and that what changes or goes is there then, as far as that does not depend on
//! what a scheduler and controllers do.

mod entry;
mod history;
mod time;
mod trace;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use k8s_openapi::jiff::Timestamp;
use schedc_objects::manifests::{Problem, SourceLocation, entries};
use schedc_objects::{AnyObject, Error, IgnoredFields, ObjectReader, Objects};
use serde_json::Value;

use entry::{EntryAction, WrittenEvent};
use history::{EventDraft, History};
use time::EventTime;
pub use time::{Span, point};

/// Where the events come from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Events files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Whether objects come and go as their annotations say.
    pub trace: bool,
    /// The start of the simulation. If it is missing, the earliest point in time that events name.
    pub start: Option<Timestamp>,
}

/// All that happens, in the order of time. What happens at one time is in the order in which it is written, trace first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What happens.
    pub events: Vec<Event>,
    /// The start as a point in time, if anybody said one.
    pub start: Option<Timestamp>,
    /// How many objects came or went by their annotations.
    pub traced: usize,
    /// How many objects besides nodes and pods come, by kind. Namespaces that nobody wrote do not count.
    pub objects: BTreeMap<&'static str, usize>,
    /// How many events there were about objects of kinds that scheduling does not look at, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Fields of the objects that come and change that their kinds do not have, and that were ignored.
    pub ignored: IgnoredFields,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, since the start.
    pub at: Span,
    /// What.
    pub action: Action,
    /// Where it is written.
    pub place: SourceLocation,
}

/// What happens to an object. Objects are complete, as an API server makes them, if that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It comes.
    Create(AnyObject),
    /// It becomes this. A pod keeps the node that it has by then.
    Update(AnyObject),
    /// Some of its fields change.
    Patch {
        /// What it becomes, if nobody else changes it.
        object: AnyObject,
        /// The fields that change: a JSON merge patch.
        patch: Value,
    },
    /// It goes.
    Delete(Reference),
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Its kind, one of [`KINDS`](schedc_objects::KINDS) or the full name of one that a plugin declares.
    pub kind: &'static str,
    /// Its namespace, empty for kinds without.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Reference {
    /// The object of this name; no namespace is `default`.
    fn new(kind: &'static str, is_namespaced: bool, namespace: &str, name: &str) -> Self {
        let namespace = match namespace {
            _ if !is_namespaced => "",
            "" => "default",
            _ => namespace,
        };
        Reference { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// An object's own.
    pub fn of(object: &AnyObject) -> Self {
        Reference::new(object.kind(), object.has_namespace(), object.namespace(), object.name())
    }

    /// What it is called among objects of its kind.
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
    /// Reads what happens to a cluster that is in the beginning as `objects` say. Objects that a trace brings later are
    /// taken out of them.
    ///
    /// # Errors
    /// All problems that there are: what is no event, what an API server would refuse, and events about objects that are
    /// not there, or there already.
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

/// The time since the start.
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
