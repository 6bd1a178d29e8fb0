//! What changed, for readers that come back now and then.

/// The latest entries, each at a position that grows forever. A reader remembers how far it has read; one that stayed away
/// too long learns that entries are missing, and starts from nothing.
#[derive(Clone, Debug)]
pub struct ChangeLog<T> {
    /// A ring: the entry at a position is at that position modulo the capacity, which is a power of two.
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
    /// A log that keeps at least so many entries. Room is taken as they come.
    pub fn with_capacity(entries: usize) -> Self {
        ChangeLog { ring: Vec::new(), capacity: entries.max(1).next_power_of_two(), end: 0 }
    }

    /// Keeps at least so many entries from now on. Where that is more than before, those written so far are lost.
    pub fn grow(&mut self, entries: usize) {
        if entries > self.capacity {
            self.capacity = entries.next_power_of_two();
            self.cut();
        }
    }

    /// The position after the last entry: where a reader who has seen everything goes on.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Writes an entry.
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

    /// The entries from a position on, the oldest first. `None`: some of them are kept no longer, or the position is of
    /// another log.
    #[inline]
    pub fn since(&self, position: u64) -> Option<impl Iterator<Item = &T>> {
        let missing = self.end.checked_sub(position)? > self.ring.len() as u64;
        let at = |position: u64| self.ring.get(position as usize & (self.capacity - 1));
        (!missing).then(|| (position..self.end).filter_map(at))
    }

    /// All that was written is of no use any more: who has not read it starts from nothing.
    pub fn cut(&mut self) {
        self.ring.clear();
        // The ring starts at a position where its first entry belongs.
        self.end = (self.end / self.capacity as u64 + 1) * self.capacity as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_what_it_missed_or_learns_that_too_much_is_missing() {
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
    fn a_cut_log_has_no_entries_for_late_readers() {
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
