//! Tests of the library: what-if clusters, requests, scenarios, and wrong input.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod conformance;
mod forks;
mod input;
mod mutated_input;
mod questions;
mod requests;
mod threads;

use schedc_api::{Cluster, Defaults, Profiles};

/// Returns kube-scheduler's default profile.
fn default_profile() -> Profiles {
    Profiles::parse(&[("default.toml", "")]).unwrap()
}

/// Returns a cluster with the default profile and these objects.
fn cluster(objects: &str) -> Cluster {
    let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
    cluster.apply(objects, Defaults::AsGiven).unwrap();
    cluster
}

/// Returns a node in YAML, with a number of CPUs and more fields.
fn node(name: &str, cpu: u32, more: &str) -> String {
    format!(
        "---\n{{ apiVersion: v1, kind: Node, metadata: {{ name: {name}, labels: {{ kubernetes.io/hostname: {name} }} }}, \
         status: {{ allocatable: {{ cpu: '{cpu}', pods: '10' }} }}, {more} }}\n"
    )
}

/// Returns a pod in YAML that requests a number of CPUs, with more fields in its spec.
fn pod(name: &str, cpu: u32, more: &str) -> String {
    format!(
        "---\n{{ apiVersion: v1, kind: Pod, metadata: {{ name: {name}, labels: {{ app: {name} }} }}, \
         spec: {{ containers: [{{ name: c, resources: {{ requests: {{ cpu: '{cpu}' }} }} }}], {more} }} }}\n"
    )
}
