//! Autoscaler queries to a compiled scheduler: the pods that fit on no node, the node group that takes most of them,
//! and whether a node can be removed.
//!
//! `cargo run --example autoscale`

use std::error::Error;
use std::sync::Arc;

use schedc_core::model::Pod;
use schedc_core::snapshot::{NodeTemplate, Snapshot};
use schedc_objects::testing;

mod scheduler {
    schedc_macros::profile!("profiles/default.toml");
}
type Cluster = Snapshot<scheduler::default::Pipeline>;

fn node(cluster: &mut Cluster, name: &str, cpu: u32, more: &str) -> NodeTemplate {
    let labels = format!("labels: {{ kubernetes.io/hostname: {name} }}");
    let room = format!("allocatable: {{ cpu: '{cpu}', memory: 16Gi, pods: '110' }}");
    let yaml = format!("{{ metadata: {{ name: {name}, {labels} }}, status: {{ {room} }}, {more} }}");
    NodeTemplate { node: testing::node(&yaml, cluster.interner()), pods: Vec::new() }
}

fn pod(cluster: &mut Cluster, name: &str, cpu: &str, more: &str) -> Arc<Pod> {
    let containers = format!("containers: [{{ name: main, resources: {{ requests: {{ cpu: '{cpu}' }} }} }}]");
    let yaml = format!("{{ metadata: {{ name: {name}, labels: {{ app: web }} }}, spec: {{ {containers}, {more} }} }}");
    Arc::new(testing::pod(&yaml, cluster.interner()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cluster = Cluster::new()?;
    for name in ["n1", "n2"] {
        let node = node(&mut cluster, name, 4, "").node;
        cluster.set_node(node);
    }

    // Place pods on the existing nodes; collect those that do not fit.
    let spread_over_hosts = "topologySpreadConstraints: [{ maxSkew: 1, topologyKey: kubernetes.io/hostname, \
                 whenUnsatisfiable: DoNotSchedule, labelSelector: { matchLabels: { app: web } } }]";
    let pods: Vec<_> = (0..12).map(|n| pod(&mut cluster, &format!("web-{n}"), "1500m", spread_over_hosts)).collect();
    let (mut waiting, mut placed) = (Vec::new(), 0);
    for pod in pods {
        match cluster.schedule_on_any(&pod, |_| true) {
            Ok(_) => placed += 1,
            Err(_) => waiting.push(pod),
        }
    }
    println!("{placed} pods are placed, {} wait", waiting.len());

    // Which group takes most of them, with at most three more nodes?
    let taint = "spec: { taints: [{ key: gpu, effect: NoSchedule }] }";
    let groups =
        [node(&mut cluster, "small", 2, ""), node(&mut cluster, "large", 8, ""), node(&mut cluster, "gpu", 32, taint)];
    for template in &groups {
        let name = cluster.cluster().base.interner.resolve(template.node.name).to_owned();
        let estimate = cluster.estimate(template, &waiting, 3);
        print!("{name}: {} nodes take {} pods", estimate.nodes, estimate.placed.len());
        match estimate.unplaced.iter().find_map(|(_, why)| why.as_ref()) {
            Some(why) => println!("; rejected by {}: {}", why.plugin, why.reasons.join(", ")),
            None => println!(),
        }
    }

    // n1 can be removed if its pods fit on other nodes.
    cluster.fork();
    let n1 = cluster.node("n1").ok_or("n1 does not exist")?;
    let moved = cluster.cluster().base.infos()[n1.get()].pods.clone();
    for pod in &moved {
        cluster.remove_pod(&pod.uid);
    }
    let all_fit = moved.iter().all(|pod| cluster.schedule_on_any(pod, |node| node != n1).is_ok());
    cluster.revert();
    println!("n1 can{} be removed", if all_fit { "" } else { "not" });
    Ok(())
}
