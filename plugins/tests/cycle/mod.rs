//! Scheduling cycles with small profiles, for plugins that keep state or read objects other than nodes and
//! pods.

mod common_verdicts;
mod device_history;
mod device_scores;
mod dynamic_resources;
mod missing_pre_filter;
mod node_volume_limits;
mod pod_topology_spread;
mod preemption;
mod preemption_cache;
mod shared_answers;
mod test_cluster;
mod undo;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

mod scheduler {
    schedc_macros::profile!(
        "tests/cycle/profiles/claims.toml",
        "tests/cycle/profiles/device-scores.toml",
        "tests/cycle/profiles/one-candidate.toml",
        "tests/cycle/profiles/limits.toml",
        "tests/cycle/profiles/own-volumes.toml",
        "tests/cycle/profiles/preempting-volumes.toml",
        "tests/cycle/profiles/preemption.toml",
        "tests/cycle/profiles/spreading.toml",
        "tests/cycle/profiles/storage.toml",
        "tests/cycle/profiles/unprepared.toml",
        "tests/cycle/profiles/volumes.toml",
        "tests/cycle/profiles/zones.toml"
    );
}
