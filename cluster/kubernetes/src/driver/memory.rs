//! Memory after bursts of changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::DriverHooks;

/// Number of changes after which free memory may be worth returning.
const BURST: u32 = 1000;
/// A burst ends with the first interval that has at most this number of changes.
const MAX_QUIET_CHANGES: u32 = 50;
const INTERVAL: Duration = Duration::from_secs(1);
/// Time after a burst until its events are written.
const TIME_FOR_EVENTS: Duration = Duration::from_secs(10);

/// Returns free memory to the system after bursts. Memory that stays in use is spread over the heap, so an allocator
/// returns little without a request. Clones share the counter.
#[derive(Clone, Debug, Default)]
pub struct FreeMemory(Arc<Changes>);

/// Changes since free memory was returned.
#[derive(Debug, Default)]
struct Changes {
    count: AtomicU32,
    is_burst: Notify,
}

impl AttemptObserver for FreeMemory {}

impl DriverHooks for FreeMemory {
    fn after_change(&mut self, _: &dyn AnyScheduler) {
        self.0.count();
    }
}

impl Changes {
    fn count(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == BURST {
            self.is_burst.notify_one();
        }
    }

    /// Waits until a burst has ended.
    async fn end_of_burst(&self) {
        self.is_burst.notified().await;
        loop {
            let before = self.count.load(Ordering::Relaxed);
            sleep(INTERVAL).await;
            if self.count.load(Ordering::Relaxed).wrapping_sub(before) <= MAX_QUIET_CHANGES {
                self.count.store(0, Ordering::Relaxed);
                return;
            }
        }
    }
}

impl FreeMemory {
    /// Calls `return_memory` after each burst, and again when its events are written.
    pub async fn return_after_bursts(self, return_memory: impl Fn()) {
        loop {
            self.0.end_of_burst().await;
            return_memory();
            sleep(TIME_FOR_EVENTS).await;
            return_memory();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn memory_is_returned_after_each_burst() {
        let (memory, returned) = (FreeMemory::default(), Arc::new(AtomicU32::new(0)));
        let count = |number| (0..number).for_each(|_| memory.0.count());
        let counted = returned.clone();
        let return_memory = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        tokio::spawn(memory.clone().return_after_bursts(return_memory));
        let returns_after = async |time: Duration| {
            sleep(time).await;
            returned.load(Ordering::Relaxed)
        };
        count(BURST - 1);
        assert_eq!(returns_after(10 * INTERVAL).await, 0, "there are few changes");
        count(1);
        for _ in 0..20 {
            assert_eq!(returns_after(INTERVAL / 2).await, 0, "changes arrive");
            count(MAX_QUIET_CHANGES + 1);
        }
        assert_eq!(returns_after(3 * INTERVAL).await, 1);
        assert_eq!(returns_after(TIME_FOR_EVENTS).await, 2);
        assert_eq!(returns_after(10 * TIME_FOR_EVENTS).await, 2);
        count(BURST);
        assert_eq!(returns_after(3 * INTERVAL).await, 3);
    }
}
