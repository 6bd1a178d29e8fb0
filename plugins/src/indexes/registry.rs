//! What plugins asked an index to keep, by number.

use std::hash::Hash;

use schedc_core::map::Map;

/// Numbers things that are asked for by a key, and forgets those that nobody has asked for lately.
///
/// Pods ask when they are compiled, and use the number as long as [`Registry::epoch`] stands still. Things are forgotten only
/// when the cluster changes: never between the compiling of a pod and the end of its attempt.
#[derive(Clone, Debug)]
pub(super) struct Registry<K, V> {
    ids: Map<K, Id>,
    entries: Vec<Option<Entry<K, V>>>,
    free: Vec<u32>,
    generation: u32,
    clock: u64,
    epoch: u64,
}

/// A number that never comes to mean something else: whoever still holds one of a thing that is forgotten finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id {
    slot: u32,
    /// How often things were forgotten before this one came.
    generation: u32,
}

#[derive(Clone, Debug)]
struct Entry<K, V> {
    generation: u32,
    key: K,
    value: V,
    registered_at: u64,
}

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Registry { ids: Map::default(), entries: Vec::new(), free: Vec::new(), generation: 0, clock: 0, epoch: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Registry<K, V> {
    /// The number of `key`. `make` makes its value if it has none yet.
    pub(super) fn register(&mut self, key: K, make: impl FnOnce(Id, &K) -> V) -> Id {
        self.clock += 1;
        if let Some(&id) = self.ids.get(&key) {
            if let Some(entry) = &mut self.entries[id.slot as usize] {
                entry.registered_at = self.clock;
            }
            return id;
        }
        let slot = self.free.pop().unwrap_or(self.entries.len() as u32);
        if slot as usize == self.entries.len() {
            self.entries.push(None);
        }
        let generation = self.generation;
        let id = Id { slot, generation };
        let value = make(id, &key);
        self.ids.insert(key.clone(), id);
        self.entries[slot as usize] = Some(Entry { generation, key, value, registered_at: self.clock });
        id
    }

    /// The number of `key`, if it has one.
    pub(super) fn find(&self, key: &K) -> Option<Id> {
        self.ids.get(key).copied()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Grows when numbers are forgotten.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    #[inline]
    pub(super) fn get(&self, id: Id) -> Option<(&K, &V)> {
        let entry = self.entries.get(id.slot as usize)?.as_ref().filter(|entry| entry.generation == id.generation)?;
        Some((&entry.key, &entry.value))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut V> {
        let entry = self.entries.get_mut(id.slot as usize)?.as_mut()?;
        (entry.generation == id.generation).then_some(&mut entry.value)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Id, &K, &mut V)> {
        self.entries.iter_mut().enumerate().filter_map(|(slot, entry)| {
            let Entry { generation, key, value, .. } = entry.as_mut()?;
            Some((Id { slot: slot as u32, generation: *generation }, &*key, value))
        })
    }

    /// If there are more than `limit`, forgets all but the half of it that were asked for last. Returns the others.
    pub(super) fn forget(&mut self, limit: usize) -> Vec<(Id, K)> {
        if self.len() <= limit {
            return Vec::new();
        }
        self.epoch += 1;
        let mut registered_at: Vec<_> = self.entries.iter().flatten().map(|entry| entry.registered_at).collect();
        registered_at.sort_unstable();
        let first_kept = registered_at[registered_at.len() - limit.div_ceil(2).max(1)];
        let mut forgotten = Vec::new();
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            if let Some(Entry { generation, key, .. }) = entry.take_if(|entry| entry.registered_at < first_kept) {
                self.ids.remove(&key);
                self.free.push(slot as u32);
                forgotten.push((Id { slot: slot as u32, generation }, key));
            }
        }
        // Those that take their slots are of another generation.
        self.generation += 1;
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_registered_keys_are_kept() {
        let mut registry = Registry::default();
        let ids: Vec<_> = (0..5).map(|key| registry.register(key, |_, key| key * 10)).collect();
        assert_eq!(registry.register(1, |_, _| unreachable!("it is there")), ids[1]);
        assert!(registry.forget(5).is_empty());
        let mut forgotten = registry.forget(4);
        forgotten.sort_unstable();
        assert_eq!(forgotten, [(ids[0], 0), (ids[2], 2), (ids[3], 3)]);
        assert_eq!((registry.get(ids[1]), registry.get(ids[4])), (Some((&1, &10)), Some((&4, &40))));
        assert_eq!(registry.get(ids[0]), None);
        let new = registry.register(9, |_, _| 90);
        assert!(!ids.contains(&new) && ids.iter().any(|id| id.slot == new.slot), "its number is new, its place is not");
        assert_eq!((registry.get(new), registry.get(ids[2])), (Some((&9, &90)), None));
        assert_eq!(registry.iter_mut().count(), 3);
    }
}
