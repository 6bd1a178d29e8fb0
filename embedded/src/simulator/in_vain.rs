//! When to stop: pods that are tried over and over, and nothing changes.

use std::collections::HashMap;

use schedc_core::model::Uid;
use schedc_core::queue::Place;
use schedc_core::scheduler::Outcome;

/// How often pods were tried since something changed besides what is said of pods.
#[derive(Debug, Default)]
pub(super) struct InVain {
    /// Counts the times when something changed.
    epoch: u64,
    tries: HashMap<Uid, (u64, u32)>,
}

impl InVain {
    /// Something changed.
    pub(super) fn progress(&mut self) {
        self.epoch += 1;
    }

    pub(super) fn tried(&mut self, outcome: &Outcome) {
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

    /// Whether every pod that will be tried again has been so often enough. `attempts`: number of those that are being tried.
    pub(super) fn is_hopeless(
        &mut self,
        enough: u32,
        mut attempts: usize,
        place: impl Fn(&Uid) -> Option<Place>,
    ) -> bool {
        let epoch = self.epoch;
        self.tries.retain(|uid, _| place(uid).is_some());
        for (uid, (tried_in, tries)) in &self.tries {
            let tries = if *tried_in == epoch { *tries } else { 0 };
            match place(uid) {
                Some(Place::Unschedulable | Place::Gated) | None => continue,
                Some(Place::InFlight) => attempts = attempts.saturating_sub(1),
                Some(Place::Active | Place::Backoff | Place::ErrorBackoff) => {}
            }
            if tries < enough {
                return false;
            }
        }
        attempts == 0
    }
}
