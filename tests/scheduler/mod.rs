//! Scenarios of a scheduler at work: many attempts, with requests that are answered late, or not at all. Most are those of
//! kube-scheduler's own integration tests (`test/integration/scheduler`); each file says which.
//!
//! A scenario is played on a [`Harness`](harness::Harness): a scheduler with the default profile, an API server that answers when
//! the scenario lets it, and a clock that the scenario moves. Pods are tried one by one, when the scenario says so.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod harness;
mod manifests;
mod nominated_node_name;
#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod plugins;
mod preemption;
mod profiles;
mod queueing;
mod server;

mod pipelines {
    schedc_macros::profile!("tests/scheduler/default.toml", "tests/scheduler/second.toml");
}
