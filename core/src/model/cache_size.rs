//! Sizes of caches, for metrics.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// Its name.
    pub cache: &'static str,
    /// Number of entries, or of bytes.
    pub size: usize,
    /// The size at which entries are evicted or refused. `None`: the entries belong to current objects, and are removed
    /// with them.
    pub limit: Option<usize>,
}

impl CacheSize {
    /// Makes the size of a cache with a limit.
    pub fn limited(cache: &'static str, size: usize, limit: usize) -> Self {
        CacheSize { cache, size, limit: Some(limit) }
    }
    /// Makes the size of a cache whose entries belong to current objects.
    pub fn of_objects(cache: &'static str, size: usize) -> Self {
        CacheSize { cache, size, limit: None }
    }
}

/// Size of a cache in a plugin. The plugin updates it; the scheduler reads it for metrics.
#[derive(Debug)]
pub struct PluginCacheSize {
    cache: &'static str,
    size: AtomicUsize,
    limit: usize,
}

impl PluginCacheSize {
    /// Makes the size of an empty cache with this limit.
    pub(crate) fn new(cache: &'static str, limit: usize) -> Self {
        PluginCacheSize { cache, size: AtomicUsize::new(0), limit }
    }
    /// Sets the number of entries, or of bytes.
    #[inline]
    pub fn set(&self, size: usize) {
        self.size.store(size, Ordering::Relaxed);
    }
    /// Returns the size that was set last.
    pub(crate) fn get(&self) -> CacheSize {
        CacheSize::limited(self.cache, self.size.load(Ordering::Relaxed), self.limit)
    }
}

/// Adds the sizes of caches with the same name, such as those of several profiles. Sorts the sizes by name.
pub(crate) fn sums(mut sizes: Vec<CacheSize>) -> Vec<CacheSize> {
    sizes.sort_by_key(|size| size.cache);
    sizes.dedup_by(|next, sum| {
        let is_same = next.cache == sum.cache;
        if is_same {
            sum.size += next.size;
            sum.limit = sum.limit.zip(next.limit).map(|(sum, next)| sum + next);
        }
        is_same
    });
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_profiles_are_added() {
        let [terms, a, b] =
            [CacheSize::of_objects("terms", 7), CacheSize::limited("specs", 1, 10), CacheSize::limited("specs", 2, 10)];
        assert_eq!(sums(vec![terms, a, b]), [CacheSize::limited("specs", 3, 20), terms]);
    }
}
