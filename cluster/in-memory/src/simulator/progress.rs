//! Detection of simulations without progress: pods are retried and tasks wake up, but nothing changes.

use std::collections::HashMap;

use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::Outcome;

/// Failed attempts of each pod, and wake-ups of tasks, since the last change of anything but a pod's status.
#[derive(Debug, Default)]
pub(super) struct ProgressTracker {
    /// Number of changes of anything but a pod's status.
    epoch: u64,
    /// The epoch of each pod's last failed attempt, and the number of failed attempts in that epoch.
    tries: HashMap<Uid, (u64, u32)>,
    /// Wake-ups of plugins' background tasks in this epoch.
    wakes: u32,
}

impl ProgressTracker {
    pub(super) fn record_change(&mut self) {
        self.epoch += 1;
        self.wakes = 0;
    }

    /// Records a wake-up of background tasks.
    pub(super) fn record_wake(&mut self) {
        self.wakes += 1;
    }

    /// Returns whether tasks have woken up `enough` times.
    pub(super) fn has_woken_often(&self, enough: u32) -> bool {
        self.wakes >= enough
    }

    pub(super) fn record_attempt(&mut self, outcome: &Outcome) {
        if outcome.result.is_ok() {
            self.tries.remove(&outcome.pod.uid);
            return;
        }
        let (epoch, tries) = self.tries.entry(outcome.pod.uid.clone()).or_default();
        if *epoch != self.epoch {
            (*epoch, *tries) = (self.epoch, 0);
        }
        *tries += 1;
    }

    /// Returns whether every pod that will be retried has had `enough` attempts in this epoch, and no other pod is in
    /// flight. `attempts` is the number of attempts in flight.
    pub(super) fn is_stuck(
        &mut self,
        enough: u32,
        mut attempts: usize,
        place: impl Fn(&Uid) -> Option<QueuePlace>,
    ) -> bool {
        let epoch = self.epoch;
        self.tries.retain(|uid, _| place(uid).is_some());
        for (uid, (tried_in, tries)) in &self.tries {
            let tries = if *tried_in == epoch { *tries } else { 0 };
            match place(uid) {
                Some(QueuePlace::Unschedulable | QueuePlace::Gated) | None => continue,
                Some(QueuePlace::InFlight) => attempts = attempts.saturating_sub(1),
                Some(QueuePlace::Active | QueuePlace::Backoff | QueuePlace::ErrorBackoff) => {}
            }
            if tries < enough {
                return false;
            }
        }
        attempts == 0
    }
}
