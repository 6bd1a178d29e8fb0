//! Effective configuration in kube-scheduler's form.

use schedc_core::args::format_duration;
use schedc_core::profile::ProfileInfo;
use schedc_import::{ProfileSummary, export};
use serde_json::{Value, json};

use super::Settings;
use super::file::VERSION;

/// Returns the effective settings as a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1` with all
/// defaults. A negative `qps` means no limit.
pub fn effective(settings: &Settings, profiles: &[ProfileInfo]) -> Value {
    let election = &settings.leader_election;
    let (initial, max) = settings.seconds(profiles);
    let percentage = profiles.first().map_or(0, |profile| profile.percentage_of_nodes_to_score);
    let (qps, burst) = settings.rate_limit.map_or((-1.0, 0), |rate_limit| (rate_limit.qps, rate_limit.burst));
    json!({
        "apiVersion": VERSION,
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 1,
        "leaderElection": {
            "leaderElect": election.leader_elect,
            "leaseDuration": format_duration(election.lease_duration),
            "renewDeadline": format_duration(election.renew_deadline),
            "retryPeriod": format_duration(election.retry_period),
            "resourceLock": "leases",
            "resourceName": election.name,
            "resourceNamespace": election.namespace,
        },
        "clientConnection": {
            "kubeconfig": settings.kubeconfig.as_deref().unwrap_or(std::path::Path::new("")),
            "acceptContentTypes": "application/json",
            "contentType": "application/json",
            "qps": qps,
            "burst": burst,
        },
        "enableProfiling": false,
        "enableContentionProfiling": false,
        "percentageOfNodesToScore": percentage,
        "podInitialBackoffSeconds": initial,
        "podMaxBackoffSeconds": max,
        "profiles": profiles.iter().map(|info| {
            let summary = ProfileSummary::from(info);
            let differs = info.percentage_of_nodes_to_score != percentage;
            json!(export::Profile::new(info.scheduler_name, &summary, differs))
        }).collect::<Vec<_>>(),
    })
}
