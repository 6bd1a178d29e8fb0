//! Liveness and readiness of the scheduler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// State of the scheduler, for the checks of `/healthz`, `/livez` and `/readyz`. The driver and the program that runs
/// it update the state. Clones share it.
#[derive(Clone, Debug)]
pub struct Health(Arc<State>);

#[derive(Debug)]
struct State {
    /// Duration of a lease; `None` without an election.
    lease: Option<Duration>,
    is_synced: AtomicBool,
    is_leading: AtomicBool,
    is_stopping: AtomicBool,
    /// Time at which the lease was last written or observed to change, in milliseconds since `began`.
    lease_seen: AtomicU64,
    began: Instant,
}

/// Additional time after the end of a lease before a leader counts as unhealthy: kube-scheduler's value.
const TOLERANCE: Duration = Duration::from_secs(20);

impl Health {
    /// Creates the state of a scheduler that starts. `lease`: duration of a lease, if there is an election.
    pub fn new(lease: Option<Duration>) -> Self {
        Health(Arc::new(State {
            lease,
            is_synced: AtomicBool::new(false),
            is_leading: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            lease_seen: AtomicU64::new(0),
            began: Instant::now(),
        }))
    }

    /// Records whether all objects that existed at the start have been handled.
    pub(crate) fn set_synced(&self, is_synced: bool) {
        self.0.is_synced.store(is_synced, Ordering::Relaxed);
    }

    /// Records whether this replica schedules, and that its lease was written or observed to change. Without an
    /// election, the replica schedules as soon as it runs.
    pub fn set_leading(&self, is_leading: bool) {
        self.set_lease_seen();
        self.0.is_leading.store(is_leading, Ordering::Relaxed);
    }

    /// Records that the lease was written or observed to change.
    pub(crate) fn set_lease_seen(&self) {
        let since = u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.lease_seen.store(since, Ordering::Relaxed);
    }

    /// Records that the scheduler is stopping.
    pub fn set_stopping(&self) {
        self.0.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns whether this replica schedules.
    pub(crate) fn is_leading(&self) -> bool {
        self.0.is_leading.load(Ordering::Relaxed)
    }

    /// Returns whether all objects that existed at the start have been handled.
    pub fn is_synced(&self) -> bool {
        self.0.is_synced.load(Ordering::Relaxed)
    }

    /// Returns whether the scheduler is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.0.is_stopping.load(Ordering::Relaxed)
    }

    /// Returns whether there is an election.
    pub(crate) fn has_election(&self) -> bool {
        self.0.lease.is_some()
    }

    /// Returns whether this replica leads although its lease expired more than [`TOLERANCE`] ago. Such a scheduler
    /// should have exited, and may be killed.
    pub(crate) fn has_outlived_lease(&self) -> bool {
        self.has_outlived_lease_after(self.0.began.elapsed())
    }

    /// Returns the same as [`Health::has_outlived_lease`], for a given time since the start.
    fn has_outlived_lease_after(&self, time: Duration) -> bool {
        let seen = Duration::from_millis(self.0.lease_seen.load(Ordering::Relaxed));
        self.0.lease.is_some_and(|lease| self.is_leading() && time.saturating_sub(seen) > lease + TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_does_not_outlive_its_lease() {
        let health = Health::new(Some(Duration::from_secs(15)));
        let after = |seconds| health.has_outlived_lease_after(Duration::from_secs(seconds));
        assert!(!after(3600), "a replica on standby needs no lease");
        health.set_leading(true);
        assert!(!after(35));
        assert!(after(37));
        health.set_leading(false);
        assert!(!after(37));
    }

    #[test]
    fn without_an_election_there_is_no_lease() {
        let health = Health::new(None);
        health.set_leading(true);
        assert!(!health.has_outlived_lease_after(Duration::from_secs(3600)));
    }
}
