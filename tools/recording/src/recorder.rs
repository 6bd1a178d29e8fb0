//! Conversion of lists and watches to the lines of a recording.
//!
//! Each list of a kind begins an epoch, and reflectors pass each object with its epoch. A list after the first one means
//! that a watch expired, so changes may be missing: the gap is marked, and the list repairs the state.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::change::{ConvertedChange, Form, Key, PodForm};
use crate::entry::{self, Bind, Entry, Kind, ObjectText, PodLine, Reject, Synced, Template};

/// A line of a recorder.
type Line = entry::Line<ObjectText>;

/// The recorded state of a cluster.
#[derive(Debug)]
pub struct Recorder {
    objects: HashMap<Key, Known>,
    templates: TemplateNumbers,
    kinds: BTreeMap<&'static str, List>,
    /// Kinds of a merged backlog that is being recorded.
    backlog: BTreeSet<&'static str>,
    is_synced: bool,
}

#[derive(Debug)]
struct Known {
    form: Form,
    epoch: u32,
    rv: Option<u64>,
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
        let (objects, templates) = (HashMap::new(), TemplateNumbers::default());
        Recorder { objects, templates, kinds, backlog: BTreeSet::new(), is_synced: false }
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
    pub fn record(&mut self, at: i64, change: ConvertedChange) -> Vec<Line> {
        match change {
            ConvertedChange::Upsert { key, form, epoch, rv } => self.upsert(at, key, Known { form, epoch, rv }),
            ConvertedChange::Removal { key, rv } => self.removal(at, key, rv),
            ConvertedChange::ListComplete { kind, epoch } => self.list_complete(at, kind, epoch),
        }
    }

    /// Begins a merged backlog, and marks a gap for each of these kinds, once [synced](Recorder::is_synced). Until
    /// [`Recorder::end_backlog`], the order of changes and earlier forms of objects are missing.
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

    fn upsert(&mut self, at: i64, key: Key, object: Known) -> Vec<Line> {
        let mut lines = self.begin_epoch(at, key.kind, object.epoch);
        let Some(known) = self.objects.get_mut(&key) else {
            self.templates.add_lines(&mut lines, at, &key, &object, None);
            self.objects.insert(key, object);
            return lines;
        };
        if known.form == object.form {
            known.epoch = object.epoch;
            return lines;
        }
        if let (true, Form::Pod(before), Form::Pod(pod)) = (self.is_synced, &known.form, &object.form) {
            lines.extend(decision(before, &key, pod).map(|entry| Line { at, rv: object.rv, entry }));
        }
        self.templates.add_lines(&mut lines, at, &key, &object, Some(&known.form));
        *known = object;
        lines
    }

    fn removal(&mut self, at: i64, key: Key, rv: Option<u64>) -> Vec<Line> {
        match self.objects.remove(&key) {
            Some(_) => vec![Line { at, rv, entry: Entry::Delete(key.into()) }],
            None => Vec::new(),
        }
    }

    fn list_complete(&mut self, at: i64, kind: &'static str, epoch: u32) -> Vec<Line> {
        // In a merged backlog, the objects of the next list may precede the end of this one.
        let is_latest = self.kinds.get(kind).and_then(|list| list.epoch).is_none_or(|latest| latest <= epoch);
        let mut lines = if is_latest { self.begin_epoch(at, kind, epoch) } else { Vec::new() };
        let is_gone = |(key, known): &(&Key, &Known)| key.kind == kind && known.epoch < epoch;
        let mut gone: Vec<Key> = self.objects.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        gone.sort_unstable();
        for key in gone {
            lines.extend(self.removal(at, key, None));
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

    /// Returns the lines of all objects, for the beginning of a file.
    pub fn snapshot(&mut self, at: i64) -> impl Iterator<Item = Line> + '_ {
        let synced = self.synced(at);
        let Recorder { objects, templates, .. } = self;
        templates.clear();
        let mut objects: Vec<_> = objects.iter().collect();
        objects.sort_unstable_by_key(|(key, _)| *key);
        let lines = move |(key, known): (&Key, &Known)| {
            let mut lines = Vec::new();
            templates.add_lines(&mut lines, at, key, known, None);
            lines
        };
        objects.into_iter().flat_map(lines).chain([synced])
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

/// Returns the decision that changed a pod.
fn decision(before: &PodForm, key: &Key, pod: &PodForm) -> Option<Entry<ObjectText>> {
    if pod.uid != before.uid || before.node.is_some() {
        return None;
    }
    let Key { namespace, name, .. } = key.clone();
    let scheduler = pod.scheduler.clone();
    if let Some(node) = pod.node.clone() {
        return Some(Entry::Bind(Bind { namespace, name, scheduler, node }));
    }
    let message = pod.rejection.clone()?;
    (before.rejection.as_ref() != Some(&message)).then_some(Entry::Reject(Reject {
        namespace,
        name,
        scheduler,
        message,
    }))
}

/// The templates of a file.
#[derive(Debug, Default)]
struct TemplateNumbers(HashMap<ObjectText, u32>);

/// Maximum number of templates, which bounds the memory of recorders and readers. Further templates replace all of them.
const MAX_TEMPLATES: usize = 16_384;

impl TemplateNumbers {
    fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the lines of an object. `before` is its form in its previous line of the file.
    fn add_lines(&mut self, lines: &mut Vec<Line>, at: i64, key: &Key, known: &Known, before: Option<&Form>) {
        let rv = known.rv;
        let pod = match &known.form {
            Form::Object(text) => return lines.push(Line { at, rv, entry: Entry::Set(text.clone()) }),
            Form::Pod(pod) => pod,
        };
        let is_same = |before: &PodForm| {
            (&before.template, &before.uid, &before.created) == (&pod.template, &pod.uid, &pod.created)
        };
        let is_known = matches!(before, Some(Form::Pod(before)) if is_same(before));
        let template = (!is_known).then(|| self.number(lines, at, &pod.template));
        let entry = Entry::Pod(PodLine {
            template,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: pod.uid.clone().filter(|_| !is_known),
            created: pod.created.clone().filter(|_| !is_known),
            deleted: pod.deleted.clone(),
            node: pod.node.clone(),
            status: pod.status.clone(),
        });
        lines.push(Line { at, rv, entry });
    }

    /// Returns the number of a template. Adds its line if it has none.
    fn number(&mut self, lines: &mut Vec<Line>, at: i64, template: &ObjectText) -> u32 {
        if let Some(number) = self.0.get(template) {
            return *number;
        }
        if self.0.len() == MAX_TEMPLATES {
            self.0.clear();
        }
        let number = u32::try_from(self.0.len()).unwrap_or_default();
        self.0.insert(template.clone(), number);
        lines.push(Line::new(at, Entry::Template(Template { number, pod: template.clone() })));
        number
    }
}

#[cfg(test)]
mod tests;
