//! Object store with a change log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::kinds::{KINDS, Kind};

/// Key of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    kind: usize,
    /// Namespace; empty for cluster-scoped kinds.
    pub(crate) namespace: String,
    /// Name.
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn new(kind: &Kind, namespace: &str, name: &str) -> Self {
        Key { kind: kind.index(), namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn kind(&self) -> &'static Kind {
        &KINDS[self.kind]
    }
}

/// A change of an object.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Version of the server after the change.
    pub(crate) version: u64,
    /// Key of the object.
    pub(crate) key: Key,
    /// The object before the change; `None` if it was created.
    pub(crate) before: Option<Arc<Value>>,
    /// The object after the change, or the last state of a deleted one, with the version of the change.
    pub(crate) object: Arc<Value>,
    /// Whether the object was deleted.
    pub(crate) is_gone: bool,
}

/// The objects, a common version counter, and the last changes.
#[derive(Debug)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Arc<Value>>,
    version: u64,
    /// Oldest version from which a new watch may start.
    oldest: u64,
    /// Version up to which changes are discarded.
    forgotten: u64,
    changes: VecDeque<Change>,
    /// Maximum number of changes that are kept.
    kept: usize,
    pages: Pages,
}

impl Default for Store {
    fn default() -> Self {
        let (objects, changes) = Default::default();
        Store { objects, version: 0, oldest: 0, forgotten: 0, changes, kept: 200_000, pages: Pages::default() }
    }
}

/// Remaining objects of paginated lists: version and objects, by number.
#[derive(Debug, Default)]
struct Pages {
    last: u64,
    open: BTreeMap<u64, (u64, Vec<Arc<Value>>)>,
}

impl Store {
    /// Returns the version of the last change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the oldest version from which a watch may start.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// Returns the objects of a kind, by namespace and name; limited to one namespace, unless it is empty.
    pub(crate) fn list<'a>(&'a self, kind: &Kind, namespace: &'a str) -> impl Iterator<Item = &'a Arc<Value>> {
        let kind = kind.index();
        let first = Key { kind, namespace: namespace.to_owned(), name: String::new() };
        let all = self.objects.range(first..);
        all.take_while(move |(key, _)| key.kind == kind && (namespace.is_empty() || key.namespace == namespace))
            .map(|(_, object)| object)
    }

    /// Creates or replaces an object. An equal object causes no change.
    pub(crate) fn put(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        let before = self.objects.get(key).cloned();
        if let Some(before) = &before {
            object["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
            if object == **before {
                return before.clone();
            }
        }
        let object = self.next(object);
        self.objects.insert(key.clone(), object.clone());
        self.record(Change { version: self.version, key: key.clone(), before, object: object.clone(), is_gone: false });
        object
    }

    /// Removes an object, and returns its last state.
    pub(crate) fn remove(&mut self, key: &Key, last: Value) -> Arc<Value> {
        let before = self.objects.remove(key);
        let object = self.next(last);
        if before.is_some() {
            let gone =
                Change { version: self.version, key: key.clone(), before, object: object.clone(), is_gone: true };
            self.record(gone);
        }
        object
    }

    /// Whether objects of these kinds have changed since a version.
    pub(crate) fn has_changed(&self, version: u64, kinds: &[&str]) -> bool {
        self.since(version).any(|change| kinds.contains(&change.key.kind().kind))
    }

    /// Whether all changes since a version are available.
    pub(crate) fn has_changes_since(&self, version: u64) -> bool {
        self.forgotten <= version
    }

    /// Returns the changes since a version, in order.
    pub(crate) fn since(&self, version: u64) -> impl Iterator<Item = &Change> {
        let start = self.changes.partition_point(|change| change.version <= version);
        self.changes.range(start..)
    }

    /// Discards all changes and paginated lists: their readers have to list again. Open watches continue.
    pub(crate) fn compact(&mut self) {
        self.oldest = self.version;
        self.pages.open.clear();
    }

    /// Invalidates all versions for new watches, as a restart does. Paginated lists stay readable.
    pub(crate) fn expire_versions(&mut self) {
        self.version += 1;
        self.oldest = self.version;
    }

    /// Limits the number of changes that are kept.
    pub(crate) fn keep(&mut self, changes: usize) {
        self.kept = changes;
        self.forget();
    }

    /// Stores the rest of a list. Returns its number, for the continue token.
    pub(crate) fn keep_page(&mut self, version: u64, rest: Vec<Arc<Value>>) -> u64 {
        self.pages.last += 1;
        self.pages.open.insert(self.pages.last, (version, rest));
        self.pages.last
    }

    /// Returns the version and the rest of a list, also repeatedly. `None`: it is discarded.
    pub(crate) fn page(&self, number: u64) -> Option<(u64, Vec<Arc<Value>>)> {
        self.pages.open.get(&number).cloned()
    }

    fn next(&mut self, mut object: Value) -> Arc<Value> {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        Arc::new(object)
    }

    fn record(&mut self, change: Change) {
        self.changes.push_back(change);
        self.forget();
    }

    fn forget(&mut self) {
        while self.changes.len() > self.kept {
            self.forgotten = self.changes.pop_front().map_or(self.forgotten, |change| change.version);
        }
        self.oldest = self.oldest.max(self.forgotten);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> Key {
        Key::new(&KINDS[3], "", name)
    }

    #[test]
    fn only_changes_get_a_version() {
        let mut store = Store::default();
        let first = store.put(&key("a"), json!({"metadata": {}, "spec": 1}));
        assert_eq!(first["metadata"]["resourceVersion"], "1");
        store.put(&key("a"), json!({"metadata": {}, "spec": 1}));
        assert_eq!(store.version(), 1);
        store.put(&key("a"), json!({"metadata": {}, "spec": 2}));
        let gone = store.remove(&key("a"), json!({"metadata": {}, "spec": 2}));
        assert_eq!(gone["metadata"]["resourceVersion"], "3");

        let changes: Vec<_> = store.since(1).map(|change| (change.version, change.is_gone)).collect();
        assert_eq!(changes, [(2, false), (3, true)]);
    }

    #[test]
    fn compacted_versions_are_forgotten() {
        let mut store = Store::default();
        let object = store.put(&key("a"), json!({"metadata": {}}));
        let page = store.keep_page(1, vec![object]);
        assert!(store.page(page).is_some());
        store.compact();
        assert_eq!((store.oldest(), store.page(page)), (1, None));
        assert!(store.has_changes_since(0), "open watches continue");
    }

    #[test]
    fn a_reset_store_forgets_old_versions() {
        let mut store = Store::default();
        let object = store.put(&key("a"), json!({"metadata": {}}));
        let page = store.keep_page(1, vec![object]);
        store.expire_versions();
        assert_eq!((store.version(), store.oldest()), (2, 2));
        assert!(store.page(page).is_some());
    }

    #[test]
    fn the_number_of_changes_is_limited() {
        let mut store = Store::default();
        store.keep(2);
        for spec in 0..5 {
            store.put(&key("a"), json!({"metadata": {}, "spec": spec}));
        }
        assert_eq!(store.since(0).map(|change| change.version).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((store.oldest(), store.has_changes_since(2), store.has_changes_since(3)), (3, false, true));
    }
}
