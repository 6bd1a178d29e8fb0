//! Conversion of lists and watches to the lines of a recording.
//!
//! Each list of a kind begins an epoch, and reflectors pass each object with its epoch. A list after the first one
//! means that a watch expired, so changes may be missing: the gap is marked, and the list repairs the state.

use std::collections::BTreeSet;
use std::hash::BuildHasherDefault;
use std::io;

use hashbrown::HashMap;
use schedc_core::map::{FixedHasher, Map};

use crate::change::{ConvertedChange, Form, Key};
use crate::entry::{Entry, Kind, Line, Synced};
use crate::lines::{Lines, ObjectChange};

/// The recorded state of a cluster.
#[derive(Debug)]
pub(crate) struct Recorder {
    objects: HashMap<Key, Known, BuildHasherDefault<FixedHasher>>,
    kinds: Map<&'static str, List>,
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
    pub(crate) fn new(kinds: impl IntoIterator<Item = &'static str>) -> Recorder {
        let kinds = kinds.into_iter().map(|kind| (kind, List::default())).collect();
        Recorder { objects: HashMap::default(), kinds, backlog: BTreeSet::new(), is_synced: false }
    }

    /// Returns whether the first lists of all kinds are complete.
    pub(crate) fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Returns whether the first lists are complete and no gap is open.
    pub(crate) fn is_repaired(&self) -> bool {
        self.is_synced && self.backlog.is_empty() && self.kinds.values().all(|list| list.is_complete)
    }

    /// Adds the lines of a change; none if no recorded field changed.
    ///
    /// # Errors
    /// Returns an error if a line cannot be written as JSON, which does not happen in practice. This applies to all
    /// methods.
    pub(crate) fn record<T: AsRef<str> + Into<String>>(
        &mut self,
        at: i64,
        change: ConvertedChange<T>,
        lines: &mut Lines,
    ) -> io::Result<()> {
        match change {
            ConvertedChange::Upsert { key, form, epoch, rv } => {
                let form = form.map(&mut |text| text.into());
                self.upsert(at, key, Known { form, epoch, rv }, lines)
            }
            ConvertedChange::Removal { key, rv } => self.removal(at, key, rv, lines),
            ConvertedChange::ListComplete { kind, epoch } => self.list_complete(at, kind, epoch, lines),
        }
    }

    /// Begins a merged backlog. If the recorder is [synced](Recorder::is_synced), marks a gap for each of these kinds:
    /// until [`Recorder::end_backlog`], the order of changes and earlier forms of objects are missing.
    pub(crate) fn begin_backlog(
        &mut self,
        at: i64,
        kinds: BTreeSet<&'static str>,
        lines: &mut Lines,
    ) -> io::Result<()> {
        if !self.is_synced {
            return Ok(());
        }
        kinds.iter().filter(|kind| self.has_complete_list(kind)).try_for_each(|kind| lines.add(gap(at, kind)))?;
        self.backlog = kinds;
        Ok(())
    }

    /// Ends a merged backlog. Marks its kinds as repaired. A kind whose next list is incomplete is marked later, when
    /// the list is complete.
    pub(crate) fn end_backlog(&mut self, at: i64, lines: &mut Lines) -> io::Result<()> {
        let kinds = std::mem::take(&mut self.backlog);
        kinds.into_iter().filter(|kind| self.has_complete_list(kind)).try_for_each(|kind| lines.add(repaired(at, kind)))
    }

    fn has_complete_list(&self, kind: &str) -> bool {
        self.kinds.get(kind).is_some_and(|list| list.is_complete)
    }

    fn upsert<T: AsRef<str> + Into<String>>(
        &mut self,
        at: i64,
        key: Key<T>,
        object: Known,
        lines: &mut Lines,
    ) -> io::Result<()> {
        self.begin_epoch(at, key.kind, object.epoch, lines)?;
        let Some(known) = self.objects.get_mut(&key.borrowed()) else {
            lines.add_object(&object.change(at, key.borrowed()))?;
            self.objects.insert(key.map(&mut |text| text.into()), object);
            return Ok(());
        };
        if known.form == object.form {
            known.epoch = object.epoch;
            return Ok(());
        }
        let decision = match (&known.form, &object.form) {
            (Form::Pod(before), Form::Pod(pod)) if self.is_synced => pod.decision(before),
            _ => None,
        };
        let change = object.change(at, key.borrowed());
        lines.add_object(&ObjectChange { before: Some(&known.form), decision, ..change })?;
        *known = object;
        Ok(())
    }

    fn removal<T: AsRef<str> + Into<String>>(
        &mut self,
        at: i64,
        key: Key<T>,
        rv: Option<u64>,
        lines: &mut Lines,
    ) -> io::Result<()> {
        match self.objects.remove(&key.borrowed()) {
            Some(_) => lines.add(Line { at, rv, entry: Entry::Delete(key.map(&mut |text| text.into()).into()) }),
            None => Ok(()),
        }
    }

    fn list_complete(&mut self, at: i64, kind: &'static str, epoch: u32, lines: &mut Lines) -> io::Result<()> {
        // In a merged backlog, the objects of the next list may precede the end of this one.
        let is_latest = self.kinds.get(kind).and_then(|list| list.epoch).is_none_or(|latest| latest <= epoch);
        if is_latest {
            self.begin_epoch(at, kind, epoch, lines)?;
        }
        let is_gone = |(key, known): &(&Key, &Known)| key.kind == kind && known.epoch < epoch;
        let mut gone: Vec<Key> = self.objects.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        gone.sort_unstable();
        for key in gone {
            self.removal(at, key, None, lines)?;
        }
        if !is_latest {
            return Ok(());
        }
        let list = self.kinds.entry(kind).or_default();
        let was_complete = std::mem::replace(&mut list.is_complete, true);
        // A gap for a backlog remains open until the end of the backlog.
        if self.is_synced && !was_complete && !self.backlog.contains(kind) {
            lines.add(repaired(at, kind))?;
        }
        if !self.is_synced && self.kinds.values().all(|list| list.is_complete) {
            self.is_synced = true;
            lines.add(self.synced(at))?;
        }
        Ok(())
    }

    /// Adds the lines of all objects, for the beginning of a file. Calls `write` after each object.
    pub(crate) fn snapshot(
        &self,
        at: i64,
        lines: &mut Lines,
        mut write: impl FnMut(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        lines.begin_file();
        let mut objects: Vec<_> = self.objects.iter().collect();
        objects.sort_unstable_by_key(|(key, _)| *key);
        for (key, known) in objects {
            lines.add_object(&known.change(at, key.borrowed()))?;
            write(lines.text())?;
        }
        lines.add(self.synced(at))?;
        write(lines.text())
    }

    fn synced(&self, at: i64) -> Line {
        Line::new(at, Entry::Synced(Synced { objects: self.objects.len() }))
    }

    /// Marks a gap if this is a new list of a kind whose objects were known.
    fn begin_epoch(&mut self, at: i64, kind: &'static str, epoch: u32, lines: &mut Lines) -> io::Result<()> {
        let list = self.kinds.entry(kind).or_default();
        // A merged backlog has objects of several lists in any order.
        if list.epoch.is_some_and(|latest| latest > epoch) {
            return Ok(());
        }
        let is_gap = list.epoch.replace(epoch).is_some_and(|before| before != epoch) && list.is_complete;
        if !is_gap || !self.is_synced {
            return Ok(());
        }
        list.is_complete = false;
        // The gap of a merged backlog is marked already.
        if self.backlog.contains(kind) { Ok(()) } else { lines.add(gap(at, kind)) }
    }
}

impl Known {
    /// Returns the change of an object that has no previous line.
    fn change<'a>(&'a self, at: i64, key: Key<&'a str>) -> ObjectChange<'a> {
        ObjectChange { at, rv: self.rv, key, form: &self.form, before: None, decision: None }
    }
}

fn gap(at: i64, kind: &str) -> Line {
    Line::new(at, Entry::Gap(Kind { kind: kind.to_owned() }))
}

fn repaired(at: i64, kind: &str) -> Line {
    Line::new(at, Entry::Repaired(Kind { kind: kind.to_owned() }))
}

#[cfg(test)]
mod tests;
