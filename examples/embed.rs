//! A scheduler in a program of one's own, without a build script, a runtime or a Kubernetes client.
//!
//! `cargo run --example embed`

use std::error::Error;
use std::sync::Arc;

use schedc_core::embedded::Embedded;
use schedc_core::scheduler::Scheduler;
use schedc_objects::testing;

mod scheduler {
    schedc_macros::profile!("profiles/edge.toml");
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut scheduler = Scheduler::<scheduler::Profiles>::new(0).map_err(|errors| errors[0].to_string())?;
    let strings = &mut scheduler.cache.base.interner;
    let small = testing::node(
        "{ metadata: { name: small }, status: { allocatable: { cpu: '1', memory: 1Gi, pods: '10' } } }",
        strings,
    );
    let pods: Vec<_> = ["a", "b", "c"]
        .map(|name| format!("{{ metadata: {{ name: {name} }}, spec: {{ containers: [{{ name: main, resources: {{ requests: {{ cpu: 400m }} }} }}] }} }}"))
        .iter()
        .map(|yaml| Arc::new(testing::pod(yaml, strings)))
        .collect();
    scheduler.cache.set_node(small);
    for pod in pods {
        scheduler.enqueue(0, pod);
    }
    while let Some(outcome) = scheduler.step(&Embedded, &Embedded) {
        match outcome.result {
            Ok(placed) => println!("{} goes to {}", outcome.pod.name, placed.node),
            Err(failure) => println!("{} goes nowhere: {}", outcome.pod.name, failure.message()),
        }
    }
    Ok(())
}
