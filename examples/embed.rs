//! A scheduler in a program of one's own, without a build script, a runtime or a Kubernetes client.
//!
//! `cargo run --example embed`

use std::error::Error;

use schedc_core::embedded::Embedded;
use schedc_objects::testing;

mod scheduler {
    schedc_macros::profile!("profiles/edge.toml");
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cluster = Embedded::<scheduler::Profiles>::new(0).map_err(|errors| errors[0].to_string())?;
    let strings = cluster.interner();
    let small = testing::node(
        "{ metadata: { name: small }, status: { allocatable: { cpu: '1', memory: 1Gi, pods: '10' } } }",
        strings,
    );
    let pods: Vec<_> = ["a", "b", "c"]
        .map(|name| format!("{{ metadata: {{ name: {name} }}, spec: {{ schedulerName: edge, containers: [{{ name: main, resources: {{ requests: {{ cpu: 400m }} }} }}] }} }}"))
        .iter()
        .map(|yaml| testing::pod(yaml, strings))
        .collect();
    cluster.node(small);
    for pod in pods {
        cluster.pod(pod);
    }
    while let Some(outcome) = cluster.step() {
        match outcome.result {
            Ok(placed) => println!("{} goes to {}", outcome.pod.name, placed.node),
            Err(failure) => println!("{} goes nowhere: {}", outcome.pod.name, failure.message()),
        }
    }
    Ok(())
}
