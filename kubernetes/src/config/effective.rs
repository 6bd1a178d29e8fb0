//! What holds, as kube-scheduler would say it.

use std::time::Duration;

use schedc_core::profile::ProfileInfo;
use serde_json::{Map, Value, json};

use super::Settings;
use super::arguments::{arguments, camel};
use super::file::VERSION;

/// What holds, as a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1`, with nothing left to defaults. A negative
/// `qps` is no limit.
pub fn effective(settings: &Settings, profiles: &[ProfileInfo]) -> Value {
    let election = &settings.leader_election;
    let (initial, max) = settings.seconds(profiles);
    let percentage = profiles.first().map_or(0, |profile| profile.percentage_of_nodes_to_score);
    let (qps, burst) = settings.pace.map_or((-1.0, 0), |pace| (pace.qps, pace.burst));
    json!({
        "apiVersion": VERSION,
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 1,
        "leaderElection": {
            "leaderElect": election.leader_elect,
            "leaseDuration": duration(election.lease_duration),
            "renewDeadline": duration(election.renew_deadline),
            "retryPeriod": duration(election.retry_period),
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
        "profiles": profiles.iter().map(|info| profile(info, percentage)).collect::<Vec<_>>(),
    })
}

/// A profile: what runs at each extension point, in order, and nothing else.
fn profile(info: &ProfileInfo, percentage: u8) -> Value {
    let mut plugins = Map::new();
    plugins.insert("multiPoint".to_owned(), json!({"disabled": [{"name": "*"}]}));
    for point in info.points {
        let enabled = point.plugins.iter().map(|(name, weight)| match weight {
            Some(weight) => json!({"name": name, "weight": weight}),
            None => json!({"name": name}),
        });
        plugins.insert(camel(point.point), json!({"enabled": enabled.collect::<Vec<_>>()}));
    }
    let mut config: Vec<(&str, Value)> = Vec::new();
    for (name, _) in info.points.iter().flat_map(|point| point.plugins) {
        let written = info.args.iter().find(|(plugin, _)| plugin == name);
        let written = written.and_then(|(_, args)| serde_json::from_str(args).ok());
        if let Some(args) = arguments(name, written.as_ref()).filter(|_| config.iter().all(|(other, _)| other != name))
        {
            config.push((name, args));
        }
    }
    config.sort_by_key(|(name, _)| *name);
    let config = config.into_iter().map(|(name, mut args)| {
        args["apiVersion"] = VERSION.into();
        args["kind"] = format!("{name}Args").into();
        json!({"name": name, "args": args})
    });
    let config: Vec<Value> = config.collect();
    let mut profile = json!({"schedulerName": info.scheduler_name, "plugins": plugins, "pluginConfig": config});
    if info.percentage_of_nodes_to_score != percentage {
        profile["percentageOfNodesToScore"] = info.percentage_of_nodes_to_score.into();
    }
    profile
}

/// As Go prints it: `1m30s`.
pub(super) fn duration(time: Duration) -> String {
    let (seconds, nanoseconds) = (time.as_secs(), time.subsec_nanos());
    let fraction = |value: u64, digits: usize| {
        let text = format!("{value:0digits$}");
        let text = text.trim_end_matches('0');
        if text.is_empty() { String::new() } else { format!(".{text}") }
    };
    if seconds == 0 {
        let nanoseconds = u64::from(nanoseconds);
        return match nanoseconds {
            0 => "0s".to_owned(),
            1..1_000 => format!("{nanoseconds}ns"),
            1_000..1_000_000 => format!("{}{}µs", nanoseconds / 1_000, fraction(nanoseconds % 1_000, 3)),
            _ => format!("{}{}ms", nanoseconds / 1_000_000, fraction(nanoseconds % 1_000_000, 6)),
        };
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = format!("{}{}s", seconds % 60, fraction(nanoseconds.into(), 9));
    match (hours, minutes) {
        (0, 0) => rest,
        (0, _) => format!("{minutes}m{rest}"),
        _ => format!("{hours}h{minutes}m{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_go_does() {
        let times = [
            (0, "0s"),
            (15, "15ns"),
            (1_500, "1.5µs"),
            (20_000_000, "20ms"),
            (15_000_000_000, "15s"),
            (90_500_000_000, "1m30.5s"),
            (600_000_000_000, "10m0s"),
            (7_200_000_000_000, "2h0m0s"),
        ];
        for (nanoseconds, expected) in times {
            assert_eq!(duration(Duration::from_nanos(nanoseconds)), expected);
        }
    }
}
