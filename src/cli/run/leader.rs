//! This replica's part in the election.

use std::time::Duration;

use schedc::pipelines::Profiles;
use schedc_core::profile::Bundle;
use schedc_kubernetes::drive::Leadership;
use schedc_kubernetes::election::{self, Election, Settings, Standing};
use schedc_kubernetes::flags::LeaderElection;
use schedc_kubernetes::wire::Transport;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::host;

/// A part in the election, until it is given up.
pub(super) struct Leader {
    standing: watch::Receiver<Standing>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Leader {
    /// Takes part, unless `--leader-elect=false` says that there is nobody else.
    pub(super) fn start<T: Transport>(flags: &LeaderElection, transport: T, seed: u64) -> Option<Leader> {
        let settings = settings(flags)?;
        let (tell, standing) = watch::channel(Standing::default());
        let (stop, is_stopped) = watch::channel(false);
        let component = Profiles::PROFILES.first().map_or("default-scheduler", |profile| profile.scheduler_name);
        let election = Election::new(settings, seed);
        let task = tokio::spawn(election::run(transport, election, component, tell, is_stopped));
        Some(Leader { standing, stop, task })
    }

    /// Whether we lead.
    pub(super) fn leadership(&self) -> Leadership {
        Leadership::elected(self.standing.clone())
    }

    /// How the election stands.
    pub(super) fn standing(&self) -> watch::Receiver<Standing> {
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
pub(super) fn lease(flags: &LeaderElection) -> Option<Duration> {
    settings(flags).map(|settings| settings.lease_duration)
}

fn settings(flags: &LeaderElection) -> Option<Settings> {
    let seconds = |given: Option<Duration>, default| given.unwrap_or(Duration::from_secs(default));
    let text = |given: &Option<String>, default| given.as_deref().unwrap_or(default).into();
    flags.leader_elect.unwrap_or(true).then(|| Settings {
        identity: host::identity().into(),
        namespace: text(&flags.namespace, "kube-system"),
        name: text(&flags.name, "kube-scheduler"),
        lease_duration: seconds(flags.lease_duration, 15),
        renew_deadline: seconds(flags.renew_deadline, 10),
        retry_period: seconds(flags.retry_period, 2),
    })
}
