//! What holds: the command line, with the KubeSchedulerConfiguration of `--config` if there is one.
//!
//! As in kube-scheduler, the file's `clientConnection` is all that counts of the connection then, but for `--master`, and
//! leader election is the file's where the command line does not say otherwise.
//!
//! | module | idea |
//! |---|---|
//! | [`file`] | the file as written, read strictly |
//! | [`effective`](fn@effective) | what holds, as a KubeSchedulerConfiguration |
//! | `rules` | what kube-scheduler would refuse, too |

mod effective;
mod file;
pub(crate) mod rules;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schedc_core::profile::ProfileInfo;
use schedc_core::queue::Backoff;

use crate::flags::Flags;
use crate::transport::RateLimiterConfig;

pub use effective::effective;

/// What holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How to reach the API server: a kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// Its address, whatever the kubeconfig says.
    pub master: Option<String>,
    /// How many requests there may be; no limit unless one was asked for.
    pub rate_limit: Option<RateLimiterConfig>,
    /// Leader election.
    pub leader_election: LeaderElection,
    /// Seconds that a pod waits after its first failure, and at most: what the file says. Profiles say the rest.
    pub backoff_seconds: (Option<u64>, Option<u64>),
    /// After what time a parked pod is tried without any event, if that was said.
    pub leftover_after: Option<Duration>,
    /// A replica that does not lead follows nothing: `delayCacheUntilActive`, if the file says it.
    pub delay_cache: Option<bool>,
    /// What the user should know of the file. What there is to know of the command line is in [`Flags::warnings`].
    pub warnings: Vec<String>,
}

/// Leader election, with nothing left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// Whether there may be others.
    pub leader_elect: bool,
    /// How long others leave the lease to its holder.
    pub lease_duration: Duration,
    /// How long the holder tries to renew it.
    pub renew_deadline: Duration,
    /// How long to wait between tries.
    pub retry_period: Duration,
    /// The lease's name.
    pub name: String,
    /// The lease's namespace.
    pub namespace: String,
}

impl Default for LeaderElection {
    /// kube-scheduler's.
    fn default() -> Self {
        LeaderElection {
            leader_elect: true,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            name: "kube-scheduler".to_owned(),
            namespace: "kube-system".to_owned(),
        }
    }
}

/// What is wrong with a configuration: a line for each thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl Settings {
    /// What the command line says.
    pub fn new(flags: &Flags) -> Settings {
        let connection = &flags.connection;
        let rate_limit = connection.qps.map(|qps| RateLimiterConfig { qps, burst: connection.burst.unwrap_or(BURST) });
        let settings =
            Settings { kubeconfig: connection.kubeconfig.clone(), rate_limit, ..Settings::from_flags_alone(flags) };
        Settings { leader_election: override_with_flags(LeaderElection::default(), flags), ..settings }
    }

    /// What the file of `--config` says, where the command line does not go before it. `path` is what messages call it.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_file(flags: &Flags, path: &Path, text: &str) -> Result<Settings, ConfigError> {
        let file = file::read(text).map_err(|why| ConfigError(vec![format!("{}{why}", path.display())]))?;
        let mut wrong = Vec::new();
        let election = override_with_flags(file.leader_election(&mut wrong), flags);
        let names = rules::ElectionNames {
            lease_duration: "leaderElection.leaseDuration",
            renew_deadline: "leaderElection.renewDeadline",
            retry_period: "leaderElection.retryPeriod",
            name: "leaderElection.resourceName",
            namespace: "leaderElection.resourceNamespace",
        };
        rules::leader_election(&election, &names, &mut wrong);
        file.check(&mut wrong);
        if !wrong.is_empty() {
            return Err(ConfigError(wrong.iter().map(|why| format!("{}: {why}", path.display())).collect()));
        }
        let warnings = file.warnings().iter().map(|warning| format!("{}: {warning}", path.display())).collect();
        let seconds = |seconds: Option<i64>| seconds.and_then(|seconds| u64::try_from(seconds).ok());
        Ok(Settings {
            kubeconfig: file.kubeconfig(),
            rate_limit: file.rate_limit(),
            leader_election: election,
            backoff_seconds: (seconds(file.pod_initial_backoff_seconds), seconds(file.pod_max_backoff_seconds)),
            delay_cache: file.delay_cache_until_active,
            warnings,
            ..Settings::from_flags_alone(flags)
        })
    }

    /// What no file can say.
    fn from_flags_alone(flags: &Flags) -> Settings {
        Settings {
            kubeconfig: None,
            master: flags.connection.master.clone(),
            rate_limit: None,
            leader_election: LeaderElection::default(),
            backoff_seconds: (None, None),
            leftover_after: flags.leftover_after,
            delay_cache: None,
            warnings: Vec::new(),
        }
    }

    /// The backoff, if it is another than the profiles say: for [`schedc_core::scheduler::Options`].
    pub fn backoff(&self, profiles: &[ProfileInfo]) -> Option<Backoff> {
        self.backoff_seconds.0.or(self.backoff_seconds.1)?;
        let (initial, max) = self.seconds(profiles);
        Some(Backoff::seconds(initial, max))
    }

    fn seconds(&self, profiles: &[ProfileInfo]) -> (u64, u64) {
        let first = profiles.first();
        let initial = self.backoff_seconds.0.or(first.map(|first| first.pod_initial_backoff_seconds)).unwrap_or(1);
        let max = self.backoff_seconds.1.or(first.map(|first| first.pod_max_backoff_seconds)).unwrap_or(10);
        (initial, max.max(initial))
    }
}

/// How many requests at once there may be if only their number in a second is said: kube-scheduler's.
const BURST: u32 = 100;

/// The command line goes first.
pub(crate) fn override_with_flags(election: LeaderElection, flags: &Flags) -> LeaderElection {
    let given = &flags.leader_election;
    LeaderElection {
        leader_elect: given.leader_elect.unwrap_or(election.leader_elect),
        lease_duration: given.lease_duration.unwrap_or(election.lease_duration),
        renew_deadline: given.renew_deadline.unwrap_or(election.renew_deadline),
        retry_period: given.retry_period.unwrap_or(election.retry_period),
        name: given.name.clone().unwrap_or(election.name),
        namespace: given.namespace.clone().unwrap_or(election.namespace),
    }
}

#[cfg(test)]
mod tests;
