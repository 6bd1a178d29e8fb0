//! Validation rules of client-go and API servers.

use schedc_bounds::text::shortened;
use schedc_core::model::dns_subdomain_problems;

use super::LeaderElection;

/// Maximum jitter of a retry, in tenths of the period: client-go's `JitterFactor`.
const JITTER_TENTHS: u32 = 12;

/// Maximum length of an RFC 1123 label.
const LABEL_LENGTH: usize = 63;

/// Names of the settings, for messages.
pub(crate) struct ElectionNames {
    pub(crate) lease_duration: &'static str,
    pub(crate) renew_deadline: &'static str,
    pub(crate) retry_period: &'static str,
    pub(crate) name: &'static str,
    pub(crate) namespace: &'static str,
}

/// Validates the durations and the names of the lease. They are ignored without an election.
pub(crate) fn leader_election(election: &LeaderElection, names: &ElectionNames, problems: &mut Vec<String>) {
    if !election.leader_elect {
        return;
    }
    let (lease, deadline, period) = (election.lease_duration, election.renew_deadline, election.retry_period);
    let ElectionNames { lease_duration: lease_name, renew_deadline: deadline_name, retry_period: period_name, .. } =
        names;
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
        problems.push(format!("{deadline_name} must be longer than {period_name} by a fifth"));
    }
    let is_subdomain = |text: &str| dns_subdomain_problems(text).is_empty();
    let is_label = |text: &str| is_subdomain(text) && !text.contains('.') && text.len() <= LABEL_LENGTH;
    problems.extend(problem_of_name(
        names.name,
        &election.name,
        is_subdomain(&election.name),
        "a lease has a name of at most 253 lower case letters, digits, `-` and `.`, such as `my-scheduler`",
    ));
    problems.extend(problem_of_name(
        names.namespace,
        &election.namespace,
        is_label(&election.namespace),
        "a namespace has a name of at most 63 lower case letters, digits and `-`, such as `kube-system`",
    ));
}

fn problem_of_name(setting: &str, value: &str, is_valid: bool, rule: &str) -> Option<String> {
    match value {
        _ if is_valid => None,
        "" => Some(format!("{setting} must not be empty; leave it out for the default")),
        _ => Some(format!("{setting}: `{}` is not a valid name; {rule}", shortened(value, 200))),
    }
}
