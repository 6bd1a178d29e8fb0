//! Conversion of lists and watches to the lines of a recording.
//!
//! Reflectors number the lists of a kind as epochs, and pass each object with the epoch in which it arrived. The second
//! list of a kind means that a watch expired, so changes may be missing: they are repaired, and the gap is marked.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::AnyObject;

use crate::change::{Change, reference};
use crate::entry::{self, Bind, Entry, Kind, ObjectText, Reference, Reject, Synced};
use crate::recorded;

/// A line of a recorder.
type Line = entry::Line<ObjectText>;

/// The recorded state of a cluster.
#[derive(Debug)]
pub struct Recorder {
    objects: BTreeMap<Reference, Known>,
    kinds: BTreeMap<&'static str, List>,
    /// Kinds of a merged backlog that is being recorded.
    backlog: BTreeSet<&'static str>,
    is_synced: bool,
}

#[derive(Debug)]
struct Known {
    text: ObjectText,
    epoch: u32,
    rv: Option<u64>,
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
        Recorder { objects: BTreeMap::new(), kinds, backlog: BTreeSet::new(), is_synced: false }
    }

    /// Returns whether the first lists of all kinds are complete.
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Returns whether the first lists are complete and no gap is open.
    pub fn is_repaired(&self) -> bool {
        self.is_synced && self.backlog.is_empty() && self.kinds.values().all(|list| list.is_complete)
    }

    /// Records a change. Returns the lines; none if no recorded field changed.
    pub fn record(&mut self, at: i64, change: Change) -> Vec<Line> {
        match change {
            Change::Upsert(object, epoch) => self.upsert(at, object, epoch),
            Change::Removal(object) => self.removal(at, &object),
            Change::ListComplete { kind, epoch } => self.list_complete(at, kind, epoch),
        }
    }

    /// Records that the changes of these kinds that follow are merged: their order and earlier forms of the objects are
    /// missing, up to [`Recorder::end_backlog`].
    pub fn begin_backlog(&mut self, at: i64, kinds: BTreeSet<&'static str>) -> Vec<Line> {
        if !self.is_synced {
            return Vec::new();
        }
        let is_whole = |kind: &&&str| self.kinds.get(**kind).is_some_and(|list| list.is_complete);
        let gaps = kinds.iter().filter(is_whole).map(|kind| gap(at, kind)).collect();
        self.backlog = kinds;
        gaps
    }

    /// Records the end of merged changes.
    pub fn end_backlog(&mut self, at: i64) -> Vec<Line> {
        let kinds = std::mem::take(&mut self.backlog);
        let is_whole = |kind: &&str| self.kinds.get(*kind).is_some_and(|list| list.is_complete);
        kinds.into_iter().filter(is_whole).map(|kind| repaired(at, kind)).collect()
    }

    fn upsert(&mut self, at: i64, object: AnyObject, epoch: u32) -> Vec<Line> {
        let mut lines = self.begin_epoch(at, object.kind(), epoch);
        let (key, rv) = (reference(&object), resource_version(&object));
        let object = recorded::select(object);
        let Some(text) = recorded::text(&object) else { return lines };
        let before = self.objects.get_mut(&key);
        if let Some(known) = before
            && known.text == text
        {
            known.epoch = epoch;
            return lines;
        }
        let pod = match &object {
            AnyObject::Pod(pod) => Some(PodState::of(pod)),
            _ => None,
        };
        let before = self.objects.insert(key, Known { text: text.clone(), epoch, rv, pod });
        if self.is_synced
            && let AnyObject::Pod(pod) = &object
            && let Some(before) = before.and_then(|before| before.pod)
        {
            lines.extend(decision(&before, pod).map(|entry| Line { at, rv, entry }));
        }
        lines.push(Line { at, rv, entry: Entry::Set(text) });
        lines
    }

    fn removal(&mut self, at: i64, object: &AnyObject) -> Vec<Line> {
        let key = reference(object);
        match self.objects.remove(&key) {
            Some(_) => vec![Line { at, rv: resource_version(object), entry: Entry::Delete(key) }],
            None => Vec::new(),
        }
    }

    fn list_complete(&mut self, at: i64, kind: &'static str, epoch: u32) -> Vec<Line> {
        // In a merged backlog, the objects of the next list may precede the end of this one.
        let is_latest = self.kinds.get(kind).and_then(|list| list.epoch).is_none_or(|latest| latest <= epoch);
        let mut lines = if is_latest { self.begin_epoch(at, kind, epoch) } else { Vec::new() };
        let is_gone = |(key, known): &(&Reference, &Known)| key.kind == kind && known.epoch < epoch;
        let gone: Vec<Reference> = self.objects.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.objects.remove(&key);
            lines.push(Line::new(at, Entry::Delete(key)));
        }
        if !is_latest {
            return lines;
        }
        let list = self.kinds.entry(kind).or_default();
        let was_complete = std::mem::replace(&mut list.is_complete, true);
        // A gap of the backlog is still open.
        if self.is_synced && !was_complete && !self.backlog.contains(kind) {
            lines.push(repaired(at, kind));
        }
        if !self.is_synced && self.kinds.values().all(|list| list.is_complete) {
            self.is_synced = true;
            lines.push(self.synced(at));
        }
        lines
    }

    /// Returns the lines of all objects, for the begin of a file.
    pub fn snapshot(&self, at: i64) -> impl Iterator<Item = Line> + '_ {
        let objects = self.objects.values();
        let objects = objects.map(move |known| Line { at, rv: known.rv, entry: Entry::Set(known.text.clone()) });
        objects.chain([self.synced(at)])
    }

    fn synced(&self, at: i64) -> Line {
        Line::new(at, Entry::Synced(Synced { objects: self.objects.len() }))
    }

    /// Marks a gap if this is a new list of a kind whose objects were known.
    fn begin_epoch(&mut self, at: i64, kind: &'static str, epoch: u32) -> Vec<Line> {
        let list = self.kinds.entry(kind).or_default();
        // A merged backlog has objects of several lists in any order.
        if list.epoch.is_some_and(|latest| latest > epoch) {
            return Vec::new();
        }
        let is_gap = list.epoch.replace(epoch).is_some_and(|before| before != epoch) && list.is_complete;
        if !is_gap || !self.is_synced {
            return Vec::new();
        }
        list.is_complete = false;
        // The gap of a merged backlog is marked already.
        if self.backlog.contains(kind) { Vec::new() } else { vec![gap(at, kind)] }
    }
}

fn gap(at: i64, kind: &str) -> Line {
    Line::new(at, Entry::Gap(Kind { kind: kind.to_owned() }))
}

fn repaired(at: i64, kind: &str) -> Line {
    Line::new(at, Entry::Repaired(Kind { kind: kind.to_owned() }))
}

/// Returns the resource version of an object. Versions of kinds that plugins declare may be those of another store.
fn resource_version(object: &AnyObject) -> Option<u64> {
    let version = object.metadata().resource_version.as_deref();
    version.filter(|_| !matches!(object, AnyObject::Custom(_))).and_then(|version| version.parse().ok())
}

impl PodState {
    fn of(pod: &Pod) -> PodState {
        PodState {
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            has_node: node(pod).is_some(),
            rejection: rejection(pod).map(str::to_owned),
        }
    }
}

/// Returns the decision that changed a pod.
fn decision(before: &PodState, pod: &Pod) -> Option<Entry<ObjectText>> {
    if pod.metadata.uid.as_deref().unwrap_or_default() != before.uid || before.has_node {
        return None;
    }
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let namespace = text(pod.metadata.namespace.as_deref());
    let name = text(pod.metadata.name.as_deref());
    let scheduler = text(pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref()));
    if let Some(node) = node(pod) {
        return Some(Entry::Bind(Bind { namespace, name, scheduler, node: node.to_owned() }));
    }
    let message = rejection(pod)?;
    (before.rejection.as_deref() != Some(message))
        .then(|| Entry::Reject(Reject { namespace, name, scheduler, message: message.to_owned() }))
}

/// Returns the node of a pod.
fn node(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty())
}

/// Returns the message about an unschedulable pod.
fn rejection(pod: &Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_deref().unwrap_or_default();
    let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled")?;
    let is_failed = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
    condition.message.as_deref().filter(|_| is_failed)
}

#[cfg(test)]
mod tests;
