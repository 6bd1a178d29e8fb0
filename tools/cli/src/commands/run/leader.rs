//! This replica's part in the election.

use std::time::Duration;

use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::config::LeaderElection;
use schedc_kubernetes::driver::Leadership;
use schedc_kubernetes::election::{self, Election, ElectionSettings, ElectionStatus};
use schedc_kubernetes::transport::Transport;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::host;

/// A part in the election, until it is given up.
pub(super) struct Leader {
    standing: watch::Receiver<ElectionStatus>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Leader {
    /// Takes part, unless `--leader-elect=false` says that there is nobody else.
    pub(super) fn start<T: Transport>(
        election: &LeaderElection,
        profiles: &[ProfileInfo],
        transport: T,
        seed: u64,
    ) -> Option<Leader> {
        let settings = settings(election)?;
        let (tell, standing) = watch::channel(ElectionStatus::default());
        let (stop, is_stopped) = watch::channel(false);
        let component = profiles.first().map_or("default-scheduler", |profile| profile.scheduler_name);
        let election = Election::new(settings, seed);
        let task = tokio::spawn(election::run(transport, election, component, tell, is_stopped));
        Some(Leader { standing, stop, task })
    }

    /// Whether we lead.
    pub(super) fn leadership(&self) -> Leadership {
        Leadership::elected(self.standing.clone())
    }

    /// How the election stands.
    pub(super) fn standing(&self) -> watch::Receiver<ElectionStatus> {
        self.standing.clone()
    }

    /// Gives the lease back.
    pub(super) async fn release(self) {
        self.stop.send_replace(true);
        // Whatever became of it: others wait until the lease is over.
        let _ = self.task.await;
    }
}

/// How long a lease holds, if there is an election.
pub(super) fn lease(election: &LeaderElection) -> Option<Duration> {
    election.leader_elect.then_some(election.lease_duration)
}

/// The name of the lease, if there is an election.
pub(super) fn lease_name(election: &LeaderElection) -> Option<String> {
    election.leader_elect.then(|| election.name.clone())
}

fn settings(election: &LeaderElection) -> Option<ElectionSettings> {
    election.leader_elect.then(|| ElectionSettings {
        identity: host::identity().into(),
        namespace: election.namespace.as_str().into(),
        name: election.name.as_str().into(),
        lease_duration: election.lease_duration,
        renew_deadline: election.renew_deadline,
        retry_period: election.retry_period,
    })
}
