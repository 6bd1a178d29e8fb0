//! Settings of leader election, and their validation by the rules of client-go and API servers.

use std::time::Duration;

use schedc_bounds::text::shortened;
use schedc_core::model::dns_subdomain_problems;

/// client-go's `JitterFactor`, in tenths. The renew deadline must be longer than the retry period times this factor.
const JITTER_TENTHS: u32 = 12;

/// Maximum length of an RFC 1123 label.
const LABEL_LENGTH: usize = 63;

/// Leader election settings of the command line and of `--config`, with defaults for missing ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElectionConfiguration {
    /// Whether there is an election.
    pub leader_elect: bool,
    /// Time after a renewal during which candidates leave the lease to its holder.
    pub lease_duration: Duration,
    /// Time after which a holder gives up a failing renewal.
    pub renew_deadline: Duration,
    /// Interval between attempts.
    pub retry_period: Duration,
    /// Name of the lease.
    pub name: String,
    /// Namespace of the lease.
    pub namespace: String,
}

impl Default for LeaderElectionConfiguration {
    /// Returns kube-scheduler's defaults.
    fn default() -> Self {
        LeaderElectionConfiguration {
            leader_elect: true,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            name: "kube-scheduler".to_owned(),
            namespace: "kube-system".to_owned(),
        }
    }
}

/// Names of the settings, for messages.
pub(crate) struct SettingNames {
    pub(crate) lease_duration: &'static str,
    pub(crate) renew_deadline: &'static str,
    pub(crate) retry_period: &'static str,
    pub(crate) name: &'static str,
    pub(crate) namespace: &'static str,
}

impl LeaderElectionConfiguration {
    /// Validates the durations, and the name and namespace of the lease. Without an election, nothing is validated.
    pub(crate) fn validate(&self, names: &SettingNames, problems: &mut Vec<String>) {
        if !self.leader_elect {
            return;
        }
        let (lease, deadline, period) = (self.lease_duration, self.renew_deadline, self.retry_period);
        let SettingNames {
            lease_duration: lease_name, renew_deadline: deadline_name, retry_period: period_name, ..
        } = names;
        for (name, _) in [(lease_name, lease), (deadline_name, deadline), (period_name, period)]
            .iter()
            .filter(|(_, time)| time.is_zero())
        {
            problems.push(format!("{name} must be longer than 0"));
        }
        if lease <= deadline {
            problems.push(format!("{lease_name} must be longer than {deadline_name}"));
        }
        if deadline <= period * JITTER_TENTHS / 10 {
            problems.push(format!("{deadline_name} must be longer than 1.2 times {period_name}"));
        }
        let is_subdomain = |text: &str| dns_subdomain_problems(text).is_empty();
        let is_label = |text: &str| is_subdomain(text) && !text.contains('.') && text.len() <= LABEL_LENGTH;
        problems.extend(problem_of_name(
            names.name,
            &self.name,
            is_subdomain(&self.name),
            "a lease has a name of at most 253 lower case letters, digits, `-` and `.`, such as `my-scheduler`",
        ));
        problems.extend(problem_of_name(
            names.namespace,
            &self.namespace,
            is_label(&self.namespace),
            "a namespace has a name of at most 63 lower case letters, digits and `-`, such as `kube-system`",
        ));
    }
}

fn problem_of_name(setting: &str, value: &str, is_valid: bool, rule: &str) -> Option<String> {
    match value {
        _ if is_valid => None,
        "" => Some(format!("{setting} must not be empty; leave it out for the default")),
        _ => Some(format!("{setting}: `{}` is not a valid name; {rule}", shortened(value, 200))),
    }
}
