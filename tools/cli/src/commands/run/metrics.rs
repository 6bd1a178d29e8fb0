//! Metrics of `schedc run`.

use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::election::LeaderElectionConfiguration;
use schedc_kubernetes::flags::Flags;
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::{Metrics, MetricsSettings};

use super::leader;

/// Returns the metrics of the scheduler, of its election, and of its requests to the API server at `host`.
pub(super) fn metrics(
    flags: &Flags,
    profiles: &[ProfileInfo],
    election: &LeaderElectionConfiguration,
    host: String,
    health: Health,
) -> Metrics {
    Metrics::new(MetricsSettings {
        profiles: profiles.iter().map(|profile| profile.scheduler_name).collect(),
        host,
        lease: leader::lease_name(election),
        health,
        disabled: flags.disabled_metrics.iter().cloned().collect(),
    })
}
