//! Scenarios with many attempts, and requests with late or no responses. Most are those of kube-scheduler's own
//! integration tests (`test/integration/scheduler`); each file lists them.
//!
//! A scenario runs on a [`Harness`](harness::Harness): a scheduler with the default profile, an API server whose
//! responses the scenario can hold, and a clock that the scenario advances. The scenario also starts each attempt.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

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
