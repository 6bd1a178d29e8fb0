//! Effective configuration: the command line, with the KubeSchedulerConfiguration of `--config` if there is one.
//!
//! As in kube-scheduler, the `clientConnection` of this file replaces all connection flags except `--master`. Leader
//! election flags override the file.
//!
//! | module | content |
//! |---|---|
//! | [`file`] | strict parsing of the file |
//! | [`effective`](fn@effective) | the result as a KubeSchedulerConfiguration |

mod effective;
mod file;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schedc_core::profile::ProfileInfo;
use schedc_core::queue::Backoff;

use crate::election::{LeaderElectionConfiguration, SettingNames};
use crate::flags::Flags;
use crate::transport::RateLimiterConfig;

pub use effective::effective;

/// Effective settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Kubeconfig that names the API server.
    pub kubeconfig: Option<PathBuf>,
    /// Address of the API server; overrides the kubeconfig.
    pub master: Option<String>,
    /// Client rate limit; `None`: no limit.
    pub rate_limit: Option<RateLimiterConfig>,
    /// Leader election.
    pub leader_election: LeaderElectionConfiguration,
    /// Initial and maximum backoff in seconds, if the file sets them. The profiles contain the defaults.
    pub backoff_seconds: (Option<u64>, Option<u64>),
    /// Time after which an unschedulable pod is retried without an event, if set.
    pub max_unschedulable_time: Option<Duration>,
    /// Whether a replica on standby watches nothing: `delayCacheUntilActive`, if the file sets it.
    pub delay_cache: Option<bool>,
    /// Warnings about the file. Those about the command line are in [`Flags::warnings`].
    pub warnings: Vec<String>,
}

/// Problems of a configuration, one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Vec<String>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl Settings {
    /// Returns the settings of the command line.
    pub fn new(flags: &Flags) -> Settings {
        let connection = &flags.connection;
        let rate_limit = connection.qps.map(|qps| RateLimiterConfig { qps, burst: connection.burst.unwrap_or(BURST) });
        let settings =
            Settings { kubeconfig: connection.kubeconfig.clone(), rate_limit, ..Settings::from_flags_alone(flags) };
        Settings {
            leader_election: flags.leader_election.override_settings(LeaderElectionConfiguration::default()),
            ..settings
        }
    }

    /// Returns the settings of the `--config` file, overridden by the command line. `path` names the file in messages.
    ///
    /// # Errors
    /// The first error of parsing, or all invalid values of a file that can be parsed.
    pub fn from_file(flags: &Flags, path: &Path, text: &str) -> Result<Settings, ConfigError> {
        let file = file::read(text).map_err(|why| ConfigError(vec![format!("{}{why}", path.display())]))?;
        let mut problems = Vec::new();
        let election = flags.leader_election.override_settings(file.leader_election(&mut problems));
        let names = SettingNames {
            lease_duration: "leaderElection.leaseDuration",
            renew_deadline: "leaderElection.renewDeadline",
            retry_period: "leaderElection.retryPeriod",
            name: "leaderElection.resourceName",
            namespace: "leaderElection.resourceNamespace",
        };
        election.validate(&names, &mut problems);
        file.check(&mut problems);
        if !problems.is_empty() {
            return Err(ConfigError(problems.iter().map(|why| format!("{}: {why}", path.display())).collect()));
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

    /// Returns the settings that only flags set, with defaults for all others.
    fn from_flags_alone(flags: &Flags) -> Settings {
        Settings {
            kubeconfig: None,
            master: flags.connection.master.clone(),
            rate_limit: None,
            leader_election: LeaderElectionConfiguration::default(),
            backoff_seconds: (None, None),
            max_unschedulable_time: flags.max_unschedulable_time,
            delay_cache: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the backoff for [`schedc_core::scheduler::Options`], or `None` if the file sets neither delay: the
    /// backoff of the profiles then applies.
    pub fn backoff(&self, profiles: &[ProfileInfo]) -> Option<Backoff> {
        self.backoff_seconds.0.or(self.backoff_seconds.1)?;
        let (initial, max) = self.seconds(profiles);
        Some(Backoff::seconds(initial, max))
    }

    /// Returns the initial and the maximum backoff in seconds: each from the file if set there, otherwise from the
    /// first profile.
    fn seconds(&self, profiles: &[ProfileInfo]) -> (u64, u64) {
        let first = profiles.first();
        let initial = self.backoff_seconds.0.or(first.map(|first| first.pod_initial_backoff_seconds)).unwrap_or(1);
        let max = self.backoff_seconds.1.or(first.map(|first| first.pod_max_backoff_seconds)).unwrap_or(10);
        (initial, max.max(initial))
    }
}

/// Default burst if only the rate is set: kube-scheduler's value.
const BURST: u32 = 100;

#[cfg(test)]
mod tests;
