//! Time passes: backoff ends, and pods that no event woke are tried again.

use super::backoff::WINDOW;
use super::events::Strategy;
use super::{Backoff, Cause, QueueContext, QueueOrder, SchedulingQueue};

/// How often leftovers are looked for.
pub(super) const LEFTOVER_INTERVAL: i64 = 30_000_000_000;

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Time passes. Pods whose backoff is over go to the active queue (`flushBackoffQCompleted`), and parked pods that were
    /// parked for too long are tried, or gated again, without any event (`flushUnschedulablePodsLeftover`).
    pub fn tick(&mut self, context: &mut impl QueueContext<Event = E>, now: i64) {
        self.recover(context, now);
        while let Some(slot) =
            self.backoff.peek(&self.entries).filter(|&slot| Backoff::is_over(self.entries[slot].ready, now))
        {
            self.take_out(slot);
            self.push_active(slot, Cause::BackoffComplete);
        }
        while let Some(slot) =
            self.error_backoff.peek(&self.entries).filter(|&slot| Backoff::is_over(self.entries[slot].ready, now))
        {
            self.take_out(slot);
            self.push_active(slot, Cause::BackoffComplete);
        }
        if !self.parked.is_empty() && now >= self.next_leftovers {
            self.next_leftovers = now.saturating_add(LEFTOVER_INTERVAL);
            let oldest = now.saturating_sub(self.options.leftover_after);
            let slots = self.parked.slots();
            let leftovers: Vec<_> = slots.filter(|&slot| self.entries[slot].since < oldest).collect();
            for slot in leftovers {
                self.take_out(slot);
                self.entries[slot].flushed = true;
                self.move_by(slot, Strategy::AfterBackoff, context, Cause::UnschedulableTimeout, now);
            }
        }
    }

    /// When [`SchedulingQueue::tick`] has something to do next; none if only something else than time can change anything.
    pub fn next_tick(&self) -> Option<i64> {
        let has_leftovers = !self.parked.is_empty() && self.options.leftover_after < i64::MAX;
        self.next_backoff_end().into_iter().chain(has_leftovers.then_some(self.next_leftovers)).min()
    }

    /// When the next backoff ends. No parked pod is meant, that may be tried only because it was parked for long.
    pub fn next_backoff_end(&self) -> Option<i64> {
        let backoff = [self.backoff.peek(&self.entries), self.error_backoff.peek(&self.entries)];
        backoff.into_iter().flatten().map(|slot| self.entries[slot].ready.saturating_add(WINDOW)).min()
    }
}
