//! What client-go refuses.

use std::time::Duration;

/// How much later than planned a retry may come, in tenths: client-go's `JitterFactor`.
const JITTER_TENTHS: u32 = 12;

/// How long the lease lasts, how long it is renewed, and how often that is tried, each as messages call it.
pub(crate) fn leader_election(times: [(&str, Duration); 3], problems: &mut Vec<String>) {
    for (name, _) in times.iter().filter(|(_, time)| time.is_zero()) {
        problems.push(format!("{name} must be longer than 0"));
    }
    let [(lease_name, lease), (deadline_name, deadline), (period_name, period)] = times;
    if lease <= deadline {
        problems.push(format!("{lease_name} must be longer than {deadline_name}"));
    }
    if deadline <= period * JITTER_TENTHS / 10 {
        problems.push(format!("{deadline_name} must be longer than {period_name} by a fifth"));
    }
}
