//! Effects of time: backoff ends, and unschedulable pods are retried without an event.

use super::backoff::WINDOW;
use super::events::Strategy;
use super::{Backoff, Cause, QueueContext, QueueOrder, SchedulingQueue};

/// Interval of the check for pods that were unschedulable for too long, in nanoseconds.
pub(super) const LEFTOVER_INTERVAL: i64 = 30_000_000_000;

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Advances the time. Pods whose backoff is over move to the active queue (`flushBackoffQCompleted`). Pods that
    /// were unschedulable for too long are retried, or gated again, without an event
    /// (`flushUnschedulablePodsLeftover`).
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
            let cutoff = now.saturating_sub(self.options.leftover_after);
            let slots = self.parked.slots();
            let leftovers: Vec<_> = slots.filter(|&slot| self.entries[slot].since < cutoff).collect();
            for slot in leftovers {
                self.take_out(slot);
                self.entries[slot].flushed = true;
                self.move_by(slot, Strategy::AfterBackoff, context, Cause::UnschedulableTimeout, now);
            }
        }
    }

    /// Returns the time when [`SchedulingQueue::tick`] may have work next; `None` if time alone changes nothing.
    pub fn next_tick(&self) -> Option<i64> {
        let has_leftovers = !self.parked.is_empty() && self.options.leftover_after < i64::MAX;
        self.next_backoff_end().into_iter().chain(has_leftovers.then_some(self.next_leftovers)).min()
    }

    /// Returns the end of the next backoff. Unschedulable pods do not count.
    pub fn next_backoff_end(&self) -> Option<i64> {
        let backoff = [self.backoff.peek(&self.entries), self.error_backoff.peek(&self.entries)];
        backoff.into_iter().flatten().map(|slot| self.entries[slot].ready.saturating_add(WINDOW)).min()
    }
}
