//! Sizes of caches, for metrics.

/// Size of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// Its name.
    pub cache: &'static str,
    /// Number of entries, or of bytes.
    pub size: usize,
    /// The size at which entries are evicted. `None`: the entries belong to current objects, and leave with them.
    pub limit: Option<usize>,
}

impl CacheSize {
    /// Makes the size of a cache that evicts entries.
    pub fn limited(cache: &'static str, size: usize, limit: usize) -> Self {
        CacheSize { cache, size, limit: Some(limit) }
    }
    /// Makes the size of a cache whose entries belong to current objects.
    pub fn of_objects(cache: &'static str, size: usize) -> Self {
        CacheSize { cache, size, limit: None }
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
