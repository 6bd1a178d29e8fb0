//! Clusters of ordinary manifests, simulated by the default profile: plugins that look at more than a pod and a node.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod pod_affinity;
mod preemption;
mod spread;
mod volumes;

mod scheduler {
    schedc_macros::profile!("profiles/default.toml");
}

use std::time::Duration;

use schedc::cluster::{Cluster, Routes, pod_name};
use schedc::explanation::Explanation;
use schedc::simulation::{Input, Report, simulate};
use schedc_core::profile::Bundle;
use schedc_objects::{Manifests, Objects, Options};
use scheduler::Profiles;

/// A scheduler with the objects of manifests.
fn cluster(manifests: &str) -> Cluster<Profiles> {
    let manifests = Manifests::parse("cluster.yaml", manifests).unwrap_or_else(|error| panic!("{error}"));
    let objects = Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let nodes = objects.nodes.iter().map(|node| &node.object);
    let pods = objects.pods.iter().map(|pod| &pod.object);
    let routes = Routes::by_scheduler_name::<Profiles>();
    Cluster::new(nodes, objects.others(), pods, &routes, 0).unwrap()
}

/// Explains the first pending pod of manifests.
fn explanation(manifests: &str) -> Explanation {
    let Cluster { mut embedded, pending, .. } = cluster(manifests);
    let (profile, pod) = &pending[0];
    let found = embedded.scheduler.explain(*profile, pod, false);
    let base = &embedded.scheduler.cache.base;
    Explanation::new(pod_name(pod, &base.interner), Profiles::PROFILES[*profile].name, found, base)
}

/// Simulates manifests.
fn report(manifests: &str) -> Report {
    let input = Input { read: Duration::ZERO, ..Input::default() };
    let report = simulate(cluster(manifests), input, |_| ());
    let summary = &report.summary;
    let parts = summary.placed + summary.unschedulable + summary.preempted + summary.skipped;
    assert_eq!(summary.pods, parts, "every pod is counted once");
    report
}

/// What became of the pods, a line each.
fn outcome(manifests: &str) -> String {
    let report = report(manifests);
    let placed = report.placements.iter().map(|pod| format!("{} on {}", pod.pod, pod.node));
    let unschedulable = report.unschedulable.iter().map(|pod| format!("{}: {}", pod.pod, pod.message));
    let preempted = report.preempted.iter().map(|pod| format!("{} left {} to {}", pod.pod, pod.node, pod.by));
    let mut lines: Vec<_> = placed.chain(unschedulable).chain(preempted).collect();
    lines.push(String::new());
    lines.join("\n")
}

/// Nodes in these zones.
fn nodes(zones: &[(&str, &str)]) -> String {
    let node = |(name, zone): &(&str, &str)| {
        format!(
            "---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}, kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: 4, memory: 8Gi, pods: 110}}}}
"
        )
    };
    zones.iter().map(node).collect()
}
