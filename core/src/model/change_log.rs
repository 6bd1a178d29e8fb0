//! A bounded log of changes, for incremental readers.

use super::cache_size::CacheSize;

/// The latest entries. Positions grow with every entry, and are never reused. A reader stores its position. If entries
/// after it are no longer kept, the reader has to read the complete state again.
#[derive(Clone, Debug)]
pub struct ChangeLog<T> {
    /// A ring buffer: the index of an entry is its position modulo the capacity, which is a power of two.
    ring: Vec<T>,
    capacity: usize,
    end: u64,
}

impl<T> Default for ChangeLog<T> {
    fn default() -> Self {
        ChangeLog::with_capacity(1024)
    }
}

impl<T> ChangeLog<T> {
    /// Makes a log that keeps at least this number of entries. Memory is allocated as they arrive.
    pub fn with_capacity(entries: usize) -> Self {
        ChangeLog { ring: Vec::new(), capacity: entries.max(1).next_power_of_two(), end: 0 }
    }

    /// Allocates memory for the first entry.
    pub fn reserve_first(&mut self) {
        self.ring.reserve(1);
    }

    /// Raises the minimum number of entries. If the capacity grows, all earlier entries are lost.
    pub fn grow(&mut self, entries: usize) {
        if entries > self.capacity {
            self.capacity = entries.next_power_of_two();
            self.cut();
        }
    }

    /// Returns the log's size under the name `cache`: its number of entries, and the number of entries at which it
    /// begins to discard the oldest.
    pub(crate) fn cache_size(&self, cache: &'static str) -> CacheSize {
        CacheSize::limited(cache, self.ring.len(), self.capacity)
    }

    /// Returns the position after the last entry: the position of a reader that has read all.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, entry: T) {
        if self.ring.len() < self.capacity {
            self.ring.push(entry);
        } else {
            let at = self.end as usize & (self.capacity - 1);
            self.ring[at] = entry;
        }
        self.end += 1;
    }

    /// Returns the entries from a position on, the oldest first. `None`: some of them are no longer kept, or the
    /// position belongs to another log.
    #[inline]
    pub fn since(&self, position: u64) -> Option<impl Iterator<Item = &T>> {
        self.slices_since(position).map(|slices| slices.into_iter().flatten())
    }

    /// Returns the entries as [`ChangeLog::since`] does, in two slices. Loops over slices take fewer instructions.
    #[inline]
    pub fn slices_since(&self, position: u64) -> Option<[&[T]; 2]> {
        let count = self.end.checked_sub(position).filter(|&count| count <= self.ring.len() as u64)? as usize;
        let first = position as usize & (self.capacity - 1);
        let before_wrap = count.min(self.ring.len().saturating_sub(first));
        let after_wrap = self.ring.get(..count - before_wrap)?;
        Some([self.ring.get(first..first + before_wrap).unwrap_or_default(), after_wrap])
    }

    /// Invalidates all entries and positions: every reader has to read the complete state again.
    pub fn cut(&mut self) {
        self.ring.clear();
        // The new position is a multiple of the capacity, which is the start of the ring.
        self.end = (self.end / self.capacity as u64 + 1) * self.capacity as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_missed_entries_or_none_if_too_many_are_missing() {
        let mut log = ChangeLog::with_capacity(4);
        let read =
            |log: &ChangeLog<u32>, position| log.since(position).map(|entries| entries.copied().collect::<Vec<_>>());
        assert_eq!(read(&log, 0), Some(vec![]));
        (0..3).for_each(|entry| log.push(entry));
        assert_eq!(read(&log, 1), Some(vec![1, 2]));
        (3..7).for_each(|entry| log.push(entry));
        assert_eq!(read(&log, 3), Some(vec![3, 4, 5, 6]));
        assert_eq!(read(&log, 2), None);
        assert_eq!(read(&log, log.end()), Some(vec![]));
        assert_eq!(read(&log, 99), None);
    }

    #[test]
    fn a_log_that_grows_keeps_more_from_then_on() {
        let mut log = ChangeLog::with_capacity(2);
        log.push(0);
        log.grow(3);
        assert!(log.since(0).is_none());
        let start = log.end();
        (1..5).for_each(|entry| log.push(entry));
        log.grow(4);
        assert_eq!(log.since(start).map(|entries| entries.copied().collect()), Some(vec![1, 2, 3, 4]));
    }

    #[test]
    fn after_a_cut_all_earlier_positions_are_invalid() {
        let mut log = ChangeLog::with_capacity(4);
        (0..6).for_each(|entry| log.push(entry));
        let before = log.end();
        log.cut();
        assert!(log.since(before).is_none());
        let cut = log.end();
        (10..13).for_each(|entry| log.push(entry));
        assert_eq!(log.since(cut).map(|entries| entries.copied().collect()), Some(vec![10, 11, 12]));
    }
}
