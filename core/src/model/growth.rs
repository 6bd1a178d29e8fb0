//! Growth of vectors with an entry for each node or pod.

/// Minimum capacity: three pointers fit into the smallest block of common allocators.
const MIN_ENTRIES: usize = 3;

/// Reserves memory for a number of entries, and a quarter more if the vector has to grow. Doubling, as `Vec` does,
/// would leave up to half of the memory unused.
pub(crate) fn reserve<T>(entries: &mut Vec<T>, len: usize) {
    if len > entries.capacity() {
        let capacity = (len + len / 4).max(MIN_ENTRIES);
        entries.reserve_exact(capacity - entries.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_memory_is_spare_at_most() {
        let mut entries = Vec::new();
        let mut growths = 0;
        for number in 0..10_000_usize {
            let before = entries.capacity();
            reserve(&mut entries, number + 1);
            entries.push(number);
            growths += usize::from(entries.capacity() != before);
            assert!(number < 4 || entries.capacity() <= entries.len() + entries.len() / 4);
        }
        assert!(growths < 50, "{growths}");
    }
}
