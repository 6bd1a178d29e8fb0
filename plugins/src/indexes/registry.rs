//! Ids of keys that plugins registered with an index.

use std::hash::{BuildHasher, BuildHasherDefault, Hash};

use hashbrown::HashTable;
use schedc_core::map::FixedHasher;

/// Assigns ids to registered keys, and evicts the keys that were registered least recently.
///
/// Keys are registered when a pod is compiled. The id is valid until [`Registry::epoch`] changes. Keys are
/// evicted only when the cluster changes, never between the compilation of a pod and the end of its attempt.
#[derive(Clone, Debug)]
pub(super) struct Registry<K, V> {
    /// Hashes of the keys, with their ids. Only the entries have the keys: a growing table does not read them.
    ids: HashTable<(u64, Id)>,
    entries: Vec<Option<Entry<K, V>>>,
    free: Vec<u32>,
    generation: u32,
    clock: u64,
    epoch: u64,
}

/// Id of a key. It is never reused: a lookup with the id of an evicted key returns nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id {
    slot: u32,
    /// Number of `forget` calls that had evicted keys when this key was registered.
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
        Registry { ids: HashTable::default(), entries: Vec::new(), free: Vec::new(), generation: 0, clock: 0, epoch: 0 }
    }
}

impl<K: Eq + Hash, V> Registry<K, V> {
    /// Returns the id of `key`. `make` creates the value of a new key.
    pub(super) fn register(&mut self, key: K, make: impl FnOnce(Id, &K) -> V) -> Id {
        self.clock += 1;
        let hash = hash_of(&key);
        if let Some(id) = self.find_hashed(hash, &key) {
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
        self.ids.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        self.entries[slot as usize] = Some(Entry { generation, key, value, registered_at: self.clock });
        id
    }

    /// Returns the id of `key`, if it is registered.
    pub(super) fn find(&self, key: &K) -> Option<Id> {
        self.find_hashed(hash_of(key), key)
    }

    fn find_hashed(&self, hash: u64, key: &K) -> Option<Id> {
        let has_key = |id: Id| self.entries[id.slot as usize].as_ref().is_some_and(|entry| entry.key == *key);
        let found = self.ids.find(hash, |&(known, id)| known == hash && has_key(id));
        found.map(|&(_, id)| id)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns a number that grows when keys are evicted.
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

    /// If there are more than `limit` keys, evicts all except the most recently registered `limit / 2` (rounded up).
    /// Returns the evicted keys.
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
                self.free.push(slot as u32);
                forgotten.push((Id { slot: slot as u32, generation }, key));
            }
        }
        self.ids.retain(|(_, id)| self.entries[id.slot as usize].is_some());
        // Keys that reuse the slots have another generation.
        self.generation += 1;
        forgotten
    }
}

fn hash_of(key: &impl Hash) -> u64 {
    BuildHasherDefault::<FixedHasher>::default().hash_one(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_registered_keys_are_kept() {
        let mut registry = Registry::default();
        let ids: Vec<_> = (0..5).map(|key| registry.register(key, |_, key| key * 10)).collect();
        assert_eq!(registry.register(1, |_, _| unreachable!("key 1 is registered")), ids[1]);
        assert!(registry.forget(5).is_empty());
        let mut forgotten = registry.forget(4);
        forgotten.sort_unstable();
        assert_eq!(forgotten, [(ids[0], 0), (ids[2], 2), (ids[3], 3)]);
        assert_eq!((registry.get(ids[1]), registry.get(ids[4])), (Some((&1, &10)), Some((&4, &40))));
        assert_eq!(registry.get(ids[0]), None);
        let new = registry.register(9, |_, _| 90);
        assert!(
            !ids.contains(&new) && ids.iter().any(|id| id.slot == new.slot),
            "the new id has a slot of an evicted key"
        );
        assert_eq!((registry.get(new), registry.get(ids[2])), (Some((&9, &90)), None));
        assert_eq!(registry.iter_mut().count(), 3);
    }
}
