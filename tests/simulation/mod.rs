//! Simulations of plugins that read more than a pod and a node, with the default profile.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod devices;
mod pod_affinity;
mod preemption;
mod spread;
mod volumes;
mod watches;

use std::time::Duration;

use default_profile::Profiles;
use schedc::budgets::Budgets;
use schedc::cluster::{self, Cluster, Routes};
use schedc::explanation::Explanation;
use schedc::simulation::{Options, Report, simulate};
use schedc::timeline::Timeline;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::Bundle;
use schedc_objects::{Manifests, Objects};

/// Parses the objects of manifests.
fn objects(manifests: &str) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", manifests).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, schedc_objects::Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn routes() -> Routes {
    Routes::by_scheduler_name(Profiles::PROFILES)
}

/// Explains the first pending pod of manifests.
fn explanation(manifests: &str) -> Explanation {
    let objects = cluster::objects(objects(manifests));
    let options = cluster::Options { routes: routes(), seed: 0, extenders: Overrides::NONE };
    let Cluster { mut simulator, pending, .. } =
        Cluster::new(&AnyBundle::of::<Profiles>(), objects, &options, ()).unwrap();
    simulator.deliver_changes();
    let scheduler = &mut simulator.scheduler;
    let pod = scheduler.pending(&pending[0]).unwrap().clone();
    let found = scheduler.explain(0, &pod, false);
    let base = scheduler.base_mut();
    Explanation::new(&pod, &Profiles::PROFILES[0], found, &Budgets::default(), base)
}

/// Simulates manifests.
fn report(manifests: &str) -> Report {
    let options = Options {
        routes: routes(),
        seed: 0,
        until: None,
        log: false,
        extenders: Overrides::NONE,
        read: Duration::ZERO,
    };
    let report =
        simulate(&AnyBundle::of::<Profiles>(), objects(manifests), Timeline::default(), options, |_| ()).unwrap();
    let summary = &report.summary;
    let parts = summary.placed + summary.unschedulable + summary.preempted + summary.skipped;
    assert_eq!(summary.pods, parts, "every pod is counted once");
    report
}

/// Returns the outcome of the pods, one line each.
fn outcome(manifests: &str) -> String {
    let report = report(manifests);
    let placed = report.placements.iter().map(|pod| format!("{} on {}", pod.pod, pod.node));
    let unschedulable = report.unschedulable.iter().map(|pod| format!("{}: {}", pod.pod, pod.message));
    let preempted = report.preempted.iter().map(|pod| format!("{} left {} to {}", pod.pod, pod.node, pod.by));
    let mut lines: Vec<_> = placed.chain(unschedulable).chain(preempted).collect();
    lines.push(String::new());
    lines.join("\n")
}

/// Returns nodes, by name and zone.
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

/// Returns pods of the Deployment `web`: `hash` is their `pod-template-hash`.
fn replicas(hash: &str, names: &[&str], spec: &str) -> String {
    let pod = |name: &&str| {
        format!(
            "---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{app: web, pod-template-hash: {hash}}}
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web-{hash}, uid: '{hash}', controller: true}}]
spec:
  containers: [{{name: web, image: nginx, resources: {{requests: {{cpu: 1}}}}}}]
  {spec}
"
        )
    };
    names.iter().map(pod).collect()
}
