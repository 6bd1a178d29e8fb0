//! A map with forks.

use std::collections::HashMap;
use std::hash::Hash;

/// A map whose changes since a fork can be reverted. Forks have the rules of
/// [`Snapshot`](schedc_core::snapshot::Snapshot).
pub(crate) struct ForkedMap<K, V> {
    map: HashMap<K, V>,
    /// The changes since the outermost fork, in order: the key, and its former value.
    changes: Vec<(K, Option<V>)>,
    /// Index in `changes` of the beginning of each fork.
    forks: Vec<usize>,
}

impl<K, V> Default for ForkedMap<K, V> {
    fn default() -> Self {
        ForkedMap { map: HashMap::new(), changes: Vec::new(), forks: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash, V> ForkedMap<K, V> {
    pub(crate) fn map(&self) -> &HashMap<K, V> {
        &self.map
    }

    /// Sets or removes the value of a key.
    pub(crate) fn set(&mut self, key: K, value: Option<V>) {
        let old = replace(&mut self.map, key.clone(), value);
        if !self.forks.is_empty() {
            self.changes.push((key, old));
        }
    }

    pub(crate) fn fork(&mut self) {
        self.forks.push(self.changes.len());
    }

    pub(crate) fn commit(&mut self) {
        if self.forks.pop().is_some() && self.forks.is_empty() {
            self.changes.clear();
        }
    }

    pub(crate) fn revert(&mut self) {
        let Some(begin) = self.forks.pop() else { return };
        for (key, old) in self.changes.drain(begin..).rev() {
            replace(&mut self.map, key, old);
        }
    }
}

/// Sets or removes the value of a key. Returns the former value.
fn replace<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(map: &ForkedMap<&str, i32>) -> Option<i32> {
        map.map().get("a").copied()
    }

    #[test]
    fn a_reverted_fork_restores_the_values_before_it() {
        let mut map = ForkedMap::default();
        map.set("a", Some(1));
        map.fork();
        map.set("a", Some(2));
        map.fork();
        map.set("a", None);
        map.set("a", Some(3));
        map.revert();
        assert_eq!(value(&map), Some(2));
        map.revert();
        assert_eq!(value(&map), Some(1));
        map.revert();
        assert_eq!(value(&map), Some(1), "without a fork, nothing happens");
    }

    #[test]
    fn a_committed_fork_belongs_to_the_fork_around_it() {
        let mut map = ForkedMap::default();
        map.fork();
        map.fork();
        map.set("a", Some(1));
        map.commit();
        assert_eq!(value(&map), Some(1));
        map.revert();
        assert_eq!(value(&map), None);
    }
}
