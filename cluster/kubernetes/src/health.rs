//! How the scheduler is, for those who ask whether it lives and whether it is ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How the scheduler is: told by those who run it, read by the checks of `/healthz`, `/livez` and `/readyz`. Clones share
/// it.
#[derive(Clone, Debug)]
pub struct Health(Arc<State>);

#[derive(Debug)]
struct State {
    /// How long a lease holds; none: there is no election.
    lease: Option<Duration>,
    is_synced: AtomicBool,
    is_leading: AtomicBool,
    is_stopping: AtomicBool,
    /// When the lease was last written or seen to change, in milliseconds since `began`.
    lease_seen: AtomicU64,
    began: Instant,
}

/// How much longer than it holds a lease may be neither renewed nor given up: kube-scheduler's.
const TOLERANCE: Duration = Duration::from_secs(20);

impl Health {
    /// Of a scheduler that has just begun. `lease`: how long a lease holds, if there is an election.
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

    /// Whether everything that was there at the beginning is known, and handled.
    pub fn set_synced(&self, is_synced: bool) {
        self.0.is_synced.store(is_synced, Ordering::Relaxed);
    }

    /// Whether this replica schedules. Without an election, it does once it runs.
    pub fn set_leading(&self, is_leading: bool) {
        self.set_lease_seen();
        self.0.is_leading.store(is_leading, Ordering::Relaxed);
    }

    /// The lease was written, or seen to have changed.
    pub fn set_lease_seen(&self) {
        let since = u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.lease_seen.store(since, Ordering::Relaxed);
    }

    /// The scheduler was asked to end.
    pub fn set_stopping(&self) {
        self.0.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether this replica schedules.
    pub fn is_leading(&self) -> bool {
        self.0.is_leading.load(Ordering::Relaxed)
    }

    /// Whether everything that was there at the beginning is known.
    pub fn is_synced(&self) -> bool {
        self.0.is_synced.load(Ordering::Relaxed)
    }

    /// Whether the scheduler was asked to end.
    pub fn is_stopping(&self) -> bool {
        self.0.is_stopping.load(Ordering::Relaxed)
    }

    /// Whether there is an election.
    pub fn has_election(&self) -> bool {
        self.0.lease.is_some()
    }

    /// Whether this replica leads by a lease that ran out long ago. It should have ended by itself; whoever sees this may
    /// end it.
    pub fn has_outlived_lease(&self) -> bool {
        self.has_outlived_lease_after(self.0.began.elapsed())
    }

    /// The same, at some time since the beginning.
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
        assert!(!after(3600), "who stands by needs no lease");
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
