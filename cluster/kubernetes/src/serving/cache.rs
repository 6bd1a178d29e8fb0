//! Cache of review results with a lifetime.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ring::digest::{SHA256, digest};

/// Maximum number of entries.
pub(super) const CAPACITY: usize = 512;

/// Results by a digest of the request: neither long requests nor secrets are stored.
#[derive(Debug)]
pub(super) struct Cache<V>(Mutex<HashMap<CacheKey, (Duration, V)>>);

/// Digest of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CacheKey([u8; 32]);

impl CacheKey {
    pub(super) fn new(request: &[u8]) -> CacheKey {
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, request).as_ref());
        CacheKey(key)
    }
}

impl<V> Default for Cache<V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<V: Clone> Cache<V> {
    /// Returns the cached result unless it has expired.
    pub(super) fn get(&self, key: &CacheKey, now: Duration) -> Option<V> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).filter(|(until, _)| *until > now).map(|(_, value)| value.clone())
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Stores a result for `time`; does nothing if `time` is zero. A full cache drops its expired entries, or if there
    /// are none, the entry that expires first.
    pub(super) fn insert(&self, key: CacheKey, value: V, now: Duration, time: Duration) {
        if time.is_zero() {
            return;
        }
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= CAPACITY && !entries.contains_key(&key) {
            entries.retain(|_, (until, _)| *until > now);
            let first = entries.iter().min_by_key(|(_, (until, _))| *until).map(|(key, _)| *key);
            if let Some(first) = first.filter(|_| entries.len() >= CAPACITY) {
                entries.remove(&first);
            }
        }
        entries.insert(key, (now.saturating_add(time), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn entries_expire() {
        let cache = Cache::default();
        let key = CacheKey::new(b"question");
        cache.insert(key, 1, SECOND, SECOND);
        assert_eq!(cache.get(&key, SECOND), Some(1));
        assert_eq!(cache.get(&key, 2 * SECOND), None);
        assert_eq!(cache.get(&CacheKey::new(b"other"), SECOND), None);
        cache.insert(key, 2, SECOND, Duration::ZERO);
        assert_eq!(cache.get(&key, SECOND), Some(1));
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = Cache::default();
        let key = |n: u32| CacheKey::new(&n.to_be_bytes());
        for n in 0..2000 {
            cache.insert(key(n), n, SECOND, SECOND + Duration::from_millis(n.into()));
        }
        assert_eq!(cache.0.lock().unwrap().len(), CAPACITY);
        assert_eq!((cache.get(&key(1000), SECOND), cache.get(&key(1999), SECOND)), (None, Some(1999)));
    }
}
