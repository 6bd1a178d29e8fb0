//! Conversion of lists and watches to the lines of a recording.
//!
//! Reflectors number the lists of a kind as epochs, and pass each object with the epoch in which it arrived. The second
//! list of a kind means that a watch expired, so changes may be missing: they are repaired, and the gap is marked.

use std::collections::BTreeMap;

use schedc_objects::AnyObject;
use serde_json::Value;

use crate::entry::{self, Bind, Entry, Kind, ObjectText, Reference, Reject, Synced};
use crate::recorded;

/// A line of a recorder.
type Line = entry::Line<ObjectText>;

/// The recorded state of a cluster.
#[derive(Debug)]
pub struct Recorder {
    objects: BTreeMap<Reference, Known>,
    kinds: BTreeMap<&'static str, List>,
    is_synced: bool,
}

#[derive(Debug)]
struct Known {
    text: ObjectText,
    epoch: u32,
    /// State of a pod.
    pod: Option<PodState>,
}

/// The part of a pod that a decision changes.
#[derive(Debug)]
struct PodState {
    uid: String,
    has_node: bool,
    rejection: Option<String>,
}

/// The lists of a kind.
#[derive(Debug, Default)]
struct List {
    epoch: Option<u32>,
    is_complete: bool,
}

impl Recorder {
    /// Creates a recorder for lists and watches of these kinds.
    pub fn new(kinds: impl IntoIterator<Item = &'static str>) -> Recorder {
        let kinds = kinds.into_iter().map(|kind| (kind, List::default())).collect();
        Recorder { objects: BTreeMap::new(), kinds, is_synced: false }
    }

    /// Returns whether the first lists of all kinds are complete.
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Returns whether the first lists are complete and no gap is open.
    pub fn is_repaired(&self) -> bool {
        self.is_synced && self.kinds.values().all(|list| list.is_complete)
    }

    /// Records an object that arrived in an epoch. Returns the lines; none if no recorded field changed.
    pub fn upsert(&mut self, at: i64, object: &AnyObject, epoch: u32) -> Vec<Line> {
        let mut lines = self.begin_epoch(at, object.kind(), epoch);
        let Some(value) = recorded::fields(object) else { return lines };
        let Some(text) = ObjectText::new(&value) else { return lines };
        let key = reference(object);
        if let Some(known) = self.objects.get_mut(&key)
            && known.text == text
        {
            known.epoch = epoch;
            return lines;
        }
        let pod = matches!(object, AnyObject::Pod(_)).then(|| PodState::of(&value));
        let known = Known { text: text.clone(), epoch, pod };
        let entry = match (&known.pod, self.objects.get(&key).and_then(|before| before.pod.as_ref())) {
            (Some(pod), Some(before)) if self.is_synced => decision(before, pod, &value),
            _ => None,
        };
        self.objects.insert(key, known);
        lines.extend(entry.map(|entry| Line { at, entry }));
        lines.push(Line { at, entry: Entry::Set(text) });
        lines
    }

    /// Records that an object was removed.
    pub fn removal(&mut self, at: i64, object: &AnyObject) -> Vec<Line> {
        let key = reference(object);
        match self.objects.remove(&key) {
            Some(_) => vec![Line { at, entry: Entry::Delete(key) }],
            None => Vec::new(),
        }
    }

    /// Records that all objects of a kind arrived since an epoch began.
    pub fn list_complete(&mut self, at: i64, kind: &'static str, epoch: u32) -> Vec<Line> {
        let mut lines = self.begin_epoch(at, kind, epoch);
        let is_gone = |(key, known): &(&Reference, &Known)| key.kind == kind && known.epoch != epoch;
        let gone: Vec<Reference> = self.objects.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.objects.remove(&key);
            lines.push(Line { at, entry: Entry::Delete(key) });
        }
        let list = self.kinds.entry(kind).or_default();
        let was_complete = std::mem::replace(&mut list.is_complete, true);
        if self.is_synced && !was_complete {
            lines.push(Line { at, entry: Entry::Repaired(Kind { kind: kind.to_owned() }) });
        }
        if !self.is_synced && self.kinds.values().all(|list| list.is_complete) {
            self.is_synced = true;
            lines.push(self.synced(at));
        }
        lines
    }

    /// Returns the lines of all objects, for the begin of a file.
    pub fn snapshot(&self, at: i64) -> impl Iterator<Item = Line> + '_ {
        let objects = self.objects.values().map(move |known| Line { at, entry: Entry::Set(known.text.clone()) });
        objects.chain([self.synced(at)])
    }

    fn synced(&self, at: i64) -> Line {
        Line { at, entry: Entry::Synced(Synced { objects: self.objects.len() }) }
    }

    /// Marks a gap if this is a new list of a kind whose objects were known.
    fn begin_epoch(&mut self, at: i64, kind: &'static str, epoch: u32) -> Vec<Line> {
        let list = self.kinds.entry(kind).or_default();
        let is_gap = list.epoch.replace(epoch).is_some_and(|before| before != epoch) && list.is_complete;
        if !is_gap || !self.is_synced {
            return Vec::new();
        }
        list.is_complete = false;
        vec![Line { at, entry: Entry::Gap(Kind { kind: kind.to_owned() }) }]
    }
}

fn reference(object: &AnyObject) -> Reference {
    let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
    Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

impl PodState {
    fn of(pod: &Value) -> PodState {
        PodState {
            uid: pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned(),
            has_node: !pod["spec"]["nodeName"].is_null(),
            rejection: rejection(pod).map(str::to_owned),
        }
    }
}

/// Returns the decision that changed a pod.
fn decision(before: &PodState, after: &PodState, pod: &Value) -> Option<Entry<ObjectText>> {
    if before.uid != after.uid || before.has_node {
        return None;
    }
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let (scheduler, node) = (text("/spec/schedulerName"), text("/spec/nodeName"));
    if !node.is_empty() {
        return Some(Entry::Bind(Bind { namespace, name, scheduler, node }));
    }
    let message = after.rejection.clone()?;
    (before.rejection.as_ref() != Some(&message)).then_some(Entry::Reject(Reject {
        namespace,
        name,
        scheduler,
        message,
    }))
}

/// Returns the message about an unschedulable pod.
fn rejection(pod: &Value) -> Option<&str> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let condition = conditions.iter().find(|condition| condition["type"] == "PodScheduled")?;
    let is_failed = condition["status"] == "False" && condition["reason"] == "Unschedulable";
    condition["message"].as_str().filter(|_| is_failed)
}

#[cfg(test)]
mod tests;
