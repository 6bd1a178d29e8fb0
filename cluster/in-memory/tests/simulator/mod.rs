//! A scheduler with the default profile in an in-memory cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod attempts;
mod devices;
mod preemption;
mod specs;
mod time;
mod volumes;

use std::time::Duration;

use default_profile::Profiles;
use schedc_core::scheduler;
use schedc_in_memory::{ApiServerOptions, Options, SimulationEnd, Simulator};

const SECOND: i64 = 1_000_000_000;

/// Returns a cluster in which deleted pods are removed immediately.
fn cluster(manifests: &str) -> Simulator {
    let server = ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() };
    let scheduler = scheduler::Options { tie_break: scheduler::TieBreak::First, ..Default::default() };
    let mut cluster = Simulator::of::<Profiles>(Options { server, scheduler, ..Options::default() }).unwrap();
    cluster.apply(manifests);
    cluster
}

fn node(name: &str, cpu: u32) -> String {
    format!(
        "---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: a}}}}
status: {{allocatable: {{cpu: {cpu}, memory: 8Gi, pods: 110}}}}
"
    )
}

fn pod(name: &str, cpu: u32, more: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}], {more}}}
"
    )
}
