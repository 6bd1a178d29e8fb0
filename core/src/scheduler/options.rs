//! Settings of a run.

use crate::engine::tie_break::TieBreak;
use crate::profile_api::extenders::Overrides;
use crate::profile_api::profile::ProfileInfo;
use crate::scheduler::queue::{self, Backoff};

/// Settings of a run, in contrast to those of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Seed of random choices.
    pub seed: u64,
    /// Choice among equally good nodes.
    pub tie_break: TieBreak,
    /// Index of a profile that serves every pod, regardless of `spec.schedulerName`.
    pub serve_all: Option<usize>,
    /// Time in nanoseconds after which an unschedulable pod is retried without an event:
    /// `podMaxInUnschedulablePodsDuration`.
    pub leftover_after: i64,
    /// Backoff of pods; overrides the profiles.
    pub backoff: Option<Backoff>,
    /// Maximum number of events kept for pods in flight; see [`queue::Options::max_in_flight_events`].
    pub max_in_flight_events: usize,
    /// Overrides for the profiles' extenders.
    pub extenders: &'static Overrides,
    /// Whether outcomes list all candidates for preemption, not only the chosen node and its victims.
    pub lists_preemption_candidates: bool,
    /// Whether timeouts within a decision use the real time. Otherwise a decision does not depend on the speed of the
    /// machine.
    pub real_time: bool,
}

impl Default for Options {
    /// Returns kube-scheduler's defaults.
    fn default() -> Self {
        let queue::Options { leftover_after, max_in_flight_events, .. } = queue::Options::default();
        Options {
            seed: 0,
            tie_break: TieBreak::Random,
            serve_all: None,
            leftover_after,
            backoff: None,
            max_in_flight_events,
            extenders: Overrides::NONE,
            lists_preemption_candidates: false,
            real_time: false,
        }
    }
}

impl Options {
    /// Returns the queue's options: settings of the run, and the constants that all profiles of a program share.
    pub(super) fn for_queue(&self, profiles: &[ProfileInfo]) -> queue::Options {
        let backoff = profiles
            .first()
            .map(|profile| Backoff::seconds(profile.pod_initial_backoff_seconds, profile.pod_max_backoff_seconds));
        queue::Options {
            backoff: self.backoff.or(backoff).unwrap_or(queue::Options::default().backoff),
            leftover_after: self.leftover_after,
            max_in_flight_events: self.max_in_flight_events,
        }
    }
}
