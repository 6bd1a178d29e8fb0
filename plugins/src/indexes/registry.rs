//! What plugins asked an index to keep, by number.

use std::hash::Hash;

use schedc_core::map::Map;

/// Numbers things that are asked for by a key, and forgets those that nobody has asked for lately.
///
/// Pods ask when they are compiled and use the number until they are decided on. So numbers may go, and come to mean
/// something else, whenever the cluster changes, but never between the compiling of a pod and the end of its attempt.
#[derive(Clone, Debug)]
pub(super) struct Registry<K, V> {
    ids: Map<K, u32>,
    entries: Vec<Option<Entry<K, V>>>,
    free: Vec<u32>,
    clock: u64,
    epoch: u64,
}

#[derive(Clone, Debug)]
struct Entry<K, V> {
    key: K,
    value: V,
    asked: u64,
}

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Registry { ids: Map::default(), entries: Vec::new(), free: Vec::new(), clock: 0, epoch: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Registry<K, V> {
    /// The number of `key`. `make` makes its value if it has none yet.
    pub(super) fn register(&mut self, key: K, make: impl FnOnce(u32, &K) -> V) -> u32 {
        self.clock += 1;
        if let Some(&id) = self.ids.get(&key) {
            if let Some(entry) = &mut self.entries[id as usize] {
                entry.asked = self.clock;
            }
            return id;
        }
        let id = self.free.pop().unwrap_or(self.entries.len() as u32);
        if id as usize == self.entries.len() {
            self.entries.push(None);
        }
        let value = make(id, &key);
        self.ids.insert(key.clone(), id);
        self.entries[id as usize] = Some(Entry { key, value, asked: self.clock });
        id
    }

    /// The number of `key`, if it has one.
    pub(super) fn find(&self, key: &K) -> Option<u32> {
        self.ids.get(key).copied()
    }

    /// Grows when numbers are forgotten.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn get(&self, id: u32) -> Option<(&K, &V)> {
        let entry = self.entries.get(id as usize)?.as_ref()?;
        Some((&entry.key, &entry.value))
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut V> {
        Some(&mut self.entries.get_mut(id as usize)?.as_mut()?.value)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &K, &mut V)> {
        let entries = self.entries.iter_mut().enumerate();
        entries.filter_map(|(id, entry)| entry.as_mut().map(|entry| (id as u32, &entry.key, &mut entry.value)))
    }

    /// If there are more than `limit`, forgets all but the half of it that were asked for last. Returns the others.
    pub(super) fn forget(&mut self, limit: usize) -> Vec<(u32, K)> {
        if self.ids.len() <= limit {
            return Vec::new();
        }
        self.epoch += 1;
        let mut asked: Vec<_> = self.entries.iter().flatten().map(|entry| entry.asked).collect();
        asked.sort_unstable();
        let first_kept = asked[asked.len() - limit.div_ceil(2).max(1)];
        let mut forgotten = Vec::new();
        for (id, slot) in self.entries.iter_mut().enumerate() {
            if let Some(entry) = slot.take_if(|entry| entry.asked < first_kept) {
                self.ids.remove(&entry.key);
                self.free.push(id as u32);
                forgotten.push((id as u32, entry.key));
            }
        }
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_is_kept() {
        let mut registry = Registry::default();
        let ids: Vec<_> = (0..5).map(|key| registry.register(key, |_, key| key * 10)).collect();
        assert_eq!(registry.register(1, |_, _| unreachable!("it is there")), ids[1]);
        assert!(registry.forget(5).is_empty());
        let mut forgotten = registry.forget(4);
        forgotten.sort_unstable();
        assert_eq!(forgotten, [(ids[0], 0), (ids[2], 2), (ids[3], 3)]);
        assert_eq!((registry.get(ids[1]), registry.get(ids[4])), (Some((&1, &10)), Some((&4, &40))));
        assert_eq!(registry.get(ids[0]), None);
        assert!(ids.contains(&registry.register(9, |_, _| 90)), "numbers are used again");
        assert_eq!(registry.iter_mut().count(), 3);
    }
}
