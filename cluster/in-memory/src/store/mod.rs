//! Store of an API server: objects, a common version counter, and the change log, which watches read.
//!
//! The objects are typed in the [`ApiServer`](crate::ApiServer) of this crate, and JSON in the fake API server.

mod object;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub use object::StoredObject;

/// Key of an object: kind, namespace and name. Keys are sorted like the objects in a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key<K = &'static str> {
    /// Its kind, such as `Pod`.
    pub kind: K,
    /// Its namespace; empty for kinds without namespaces.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl<K> Key<K> {
    /// Returns the key of an object.
    pub fn new(kind: K, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Key { kind, namespace: namespace.into(), name: name.into() }
    }
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The object was created.
    Added,
    /// The object was updated.
    Modified,
    /// The object was deleted.
    Deleted,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change<O, K = &'static str> {
    /// Version of the store after the change.
    pub version: u64,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Key of the object.
    pub key: Key<K>,
    /// The object before the change, in a store [with history](Store::with_history). `None`: the object was created, or
    /// the store has no history.
    pub previous: Option<Arc<O>>,
    /// The object after the change, or the last state of a deleted one, with the version of the change.
    pub object: Arc<O>,
}

type Namespace<O> = BTreeMap<Arc<str>, Arc<O>>;

/// Objects of kinds `K`. Most lookups compare only names, because there are few kinds and few namespaces.
#[derive(Clone, Debug)]
pub struct Store<O, K = &'static str> {
    objects: BTreeMap<K, BTreeMap<Arc<str>, Namespace<O>>>,
    version: u64,
    /// Oldest version from which a new watch may start, unless later changes are discarded.
    oldest: u64,
    /// Version up to which changes are discarded.
    forgotten: u64,
    changes: VecDeque<Change<O, K>>,
    /// Maximum number of changes that are kept.
    limit: usize,
    keeps_previous: bool,
}

impl<O, K> Default for Store<O, K> {
    /// Returns a store that keeps changes until they are [forgotten](Store::forget).
    fn default() -> Self {
        let (objects, changes) = (BTreeMap::new(), VecDeque::new());
        Store { objects, version: 0, oldest: 0, forgotten: 0, changes, limit: usize::MAX, keeps_previous: false }
    }
}

impl<O: StoredObject, K: Copy + Ord> Store<O, K> {
    /// Returns a store whose changes contain the previous object. It keeps the newest `limit` changes.
    pub fn with_history(limit: usize) -> Self {
        Store { limit, keeps_previous: true, ..Store::default() }
    }

    /// Returns the version of the newest change; 0 if there was none.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the oldest version from which a watch may start.
    pub fn oldest(&self) -> u64 {
        self.oldest.max(self.forgotten)
    }

    /// Returns an object, if it exists.
    pub fn get(&self, key: &Key<K>) -> Option<&Arc<O>> {
        self.objects.get(&key.kind)?.get(&key.namespace)?.get(&key.name)
    }

    /// Returns the objects of a kind, by namespace and name. An empty `namespace` stands for all namespaces.
    pub fn list(&self, kind: K, namespace: &str) -> impl Iterator<Item = &Arc<O>> + use<'_, O, K> {
        let namespaces = self.objects.get(&kind);
        let one = namespaces.filter(|_| !namespace.is_empty()).map(|namespaces| namespaces.get(namespace));
        let all = namespaces.filter(|_| namespace.is_empty()).map(BTreeMap::values);
        one.flatten().into_iter().chain(all.into_iter().flatten()).flat_map(BTreeMap::values)
    }

    /// Returns all objects, by kind, namespace and name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<O>> {
        self.objects.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// Creates or replaces an object. An equal object causes no change.
    pub fn put(&mut self, key: &Key<K>, mut object: O) -> Arc<O> {
        let previous = self.get(key).cloned();
        if let Some(previous) = &previous {
            object.copy_version(previous);
            if object == **previous {
                return previous.clone();
            }
        }
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        object.set_version(self.version + 1);
        let object = Arc::new(object);
        let namespace = self.objects.entry(key.kind).or_default().entry(key.namespace.clone()).or_default();
        namespace.insert(key.name.clone(), object.clone());
        self.record(kind, key, previous.filter(|_| self.keeps_previous), object)
    }

    /// Changes an object, in place if no other reference to it exists. `None`: it does not exist.
    pub(crate) fn modify(&mut self, key: &Key<K>, change: impl FnOnce(&mut O)) -> Option<Arc<O>> {
        let object = self.objects.get_mut(&key.kind)?.get_mut(&key.namespace)?.get_mut(&key.name)?;
        let previous = self.keeps_previous.then(|| object.clone());
        let changed = Arc::make_mut(object);
        change(changed);
        changed.set_version(self.version + 1);
        let object = object.clone();
        Some(self.record(ChangeKind::Modified, key, previous, object))
    }

    /// Removes an object after a last `change` to it, and returns its last state. `None`: it does not exist.
    pub fn remove(&mut self, key: &Key<K>, change: impl FnOnce(&mut O)) -> Option<Arc<O>> {
        let mut object = self.objects.get_mut(&key.kind)?.get_mut(&key.namespace)?.remove(&key.name)?;
        let previous = self.keeps_previous.then(|| object.clone());
        let last = Arc::make_mut(&mut object);
        change(last);
        last.set_version(self.version + 1);
        Some(self.record(ChangeKind::Deleted, key, previous, object))
    }

    /// Returns the changes after a version, in order.
    pub fn since(&self, version: u64) -> impl Iterator<Item = &Change<O, K>> {
        let start = self.changes.partition_point(|change| change.version <= version);
        self.changes.range(start..)
    }

    /// Returns the first change after a version. `None`: it does not exist yet, or is discarded.
    pub fn after(&self, version: u64) -> Option<&Change<O, K>> {
        self.since(version).next().filter(|_| self.has_changes_since(version))
    }

    /// Returns whether all changes after a version are available. If not, a reader at that version must list.
    pub fn has_changes_since(&self, version: u64) -> bool {
        version >= self.forgotten
    }

    /// Discards the changes up to a version.
    pub fn forget(&mut self, version: u64) {
        while self.changes.pop_front_if(|change| change.version <= version).is_some() {}
        self.forgotten = self.forgotten.max(version.min(self.version));
    }

    /// Limits the number of changes that are kept.
    pub fn keep(&mut self, limit: usize) {
        self.limit = limit;
        while self.changes.len() > limit {
            self.forgotten = self.changes.pop_front().map_or(self.forgotten, |change| change.version);
        }
    }

    /// Expires all versions before the current one for new watches. Open watches continue.
    pub fn compact(&mut self) {
        self.oldest = self.version;
    }

    /// Increments the version and expires all earlier ones for new watches, as a restart of the API server does.
    pub fn expire_versions(&mut self) {
        self.version += 1;
        self.compact();
    }

    /// Logs a change. The object already has the next version.
    fn record(&mut self, kind: ChangeKind, key: &Key<K>, previous: Option<Arc<O>>, object: Arc<O>) -> Arc<O> {
        self.version += 1;
        let version = self.version;
        self.changes.push_back(Change { version, kind, key: key.clone(), previous, object: object.clone() });
        self.keep(self.limit);
        object
    }
}
