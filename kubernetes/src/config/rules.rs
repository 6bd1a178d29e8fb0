//! What client-go refuses.

use super::LeaderElection;

/// How much later than planned a retry may come, in tenths: client-go's `JitterFactor`.
const JITTER_TENTHS: u32 = 12;

/// How long the lease lasts, how long it is renewed, and how often that is tried; `names` are what messages call these. None of
/// it matters without an election.
pub(crate) fn leader_election(election: &LeaderElection, names: [&str; 3], problems: &mut Vec<String>) {
    if !election.leader_elect {
        return;
    }
    let (lease, deadline, period) = (election.lease_duration, election.renew_deadline, election.retry_period);
    let [lease_name, deadline_name, period_name] = names;
    for (name, _) in names.iter().zip([lease, deadline, period]).filter(|(_, time)| time.is_zero()) {
        problems.push(format!("{name} must be longer than 0"));
    }
    if lease <= deadline {
        problems.push(format!("{lease_name} must be longer than {deadline_name}"));
    }
    if deadline <= period * JITTER_TENTHS / 10 {
        problems.push(format!("{deadline_name} must be longer than {period_name} by a fifth"));
    }
}
