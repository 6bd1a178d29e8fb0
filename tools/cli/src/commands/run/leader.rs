//! Leader election of this replica.

use std::time::Duration;

use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::driver::Leadership;
use schedc_kubernetes::election::{self, Election, ElectionStatus, LeaderElectionConfiguration};
use schedc_kubernetes::transport::Transport;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::host;

/// A participant in leader election, until it releases the lease.
pub(super) struct Leader {
    status: watch::Receiver<ElectionStatus>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Leader {
    /// Takes part in the election; `None` with `--leader-elect=false`.
    pub(super) fn start<T: Transport>(
        settings: &LeaderElectionConfiguration,
        profiles: &[ProfileInfo],
        transport: T,
        seed: u64,
    ) -> Option<Leader> {
        if !settings.leader_elect {
            return None;
        }
        let (sender, status) = watch::channel(ElectionStatus::default());
        let (stop, is_stopped) = watch::channel(false);
        let component = profiles.first().map_or("default-scheduler", |profile| profile.scheduler_name);
        let election = Election::new(&host::identity(), settings.clone(), seed);
        let task = tokio::spawn(election::run(transport, election, component, sender, is_stopped));
        Some(Leader { status, stop, task })
    }

    /// Returns the leadership of this replica.
    pub(super) fn leadership(&self) -> Leadership {
        Leadership::elected(self.status.clone())
    }

    /// Returns the status of the election.
    pub(super) fn status(&self) -> watch::Receiver<ElectionStatus> {
        self.status.clone()
    }

    /// Releases the lease.
    pub(super) async fn release(self) {
        self.stop.send_replace(true);
        // If the task failed, the lease is not released, and other replicas wait until it expires.
        let _ = self.task.await;
    }
}

/// Returns the duration of the lease, if there is an election.
pub(super) fn lease(election: &LeaderElectionConfiguration) -> Option<Duration> {
    election.leader_elect.then_some(election.lease_duration)
}

/// Returns the name of the lease, if there is an election.
pub(super) fn lease_name(election: &LeaderElectionConfiguration) -> Option<String> {
    election.leader_elect.then(|| election.name.clone())
}
