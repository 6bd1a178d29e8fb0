//! Object store, ordered by kind, namespace and name.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_objects::AnyObject;

use super::Key;

type ByName = BTreeMap<Arc<str>, Arc<AnyObject>>;

/// The objects of a cluster. Most lookups compare only names, because there are few kinds and few namespaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects(BTreeMap<&'static str, BTreeMap<Arc<str>, ByName>>);

impl Objects {
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<AnyObject>> {
        self.0.get(key.kind)?.get(&key.namespace)?.get(&key.name)
    }

    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut Arc<AnyObject>> {
        self.0.get_mut(key.kind)?.get_mut(&key.namespace)?.get_mut(&key.name)
    }

    pub(super) fn insert(&mut self, key: Key, object: Arc<AnyObject>) {
        self.0.entry(key.kind).or_default().entry(key.namespace).or_default().insert(key.name, object);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<AnyObject>> {
        self.0.get_mut(key.kind)?.get_mut(&key.namespace)?.remove(&key.name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<AnyObject>> {
        self.0.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind, by namespace and name.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Arc<AnyObject>> + use<'_> {
        self.0.get(kind).into_iter().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }

    /// Returns the objects of a kind in a namespace, by name.
    pub(super) fn of_namespace(&self, kind: &str, namespace: &str) -> impl Iterator<Item = &Arc<AnyObject>> + use<'_> {
        self.0.get(kind).and_then(|namespaces| namespaces.get(namespace)).into_iter().flat_map(BTreeMap::values)
    }
}
