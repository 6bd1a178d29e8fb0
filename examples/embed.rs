//! A scheduler in another program, without a build script, a runtime or a Kubernetes client.
//!
//! `cargo run --example embed`

use std::error::Error;

use schedc_core::minimal_cluster::MinimalCluster;
use schedc_objects::{Manifests, convert_node, convert_pod, default};

mod scheduler {
    schedc_macros::profile!("profiles/edge.toml");
}

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: { name: small }
status: { allocatable: { cpu: '1', memory: 1Gi, pods: '10' } }
---
apiVersion: v1
kind: Pod
metadata: { name: a }
spec: { schedulerName: edge, containers: [{ name: main, image: app, resources: { requests: { cpu: 400m } } }] }
---
apiVersion: v1
kind: Pod
metadata: { name: b }
spec: { schedulerName: edge, containers: [{ name: main, image: app, resources: { requests: { cpu: 700m } } }] }
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut manifests = Manifests::parse("cluster.yaml", CLUSTER)?;
    default::complete(&mut manifests)?;

    let mut cluster = MinimalCluster::<scheduler::Profiles>::new(0)?;
    for node in &manifests.nodes {
        let node = convert_node(&node.object, cluster.interner());
        cluster.node(node);
    }
    for pod in &manifests.pods {
        let pod = convert_pod(&pod.object, cluster.interner());
        cluster.pod(pod);
    }
    while let Some(outcome) = cluster.step() {
        match outcome.result {
            Ok(placed) => println!("{} on {}", outcome.pod.name, placed.node),
            Err(failure) => println!("{}: {}", outcome.pod.name, failure.message()),
        }
    }
    Ok(())
}
