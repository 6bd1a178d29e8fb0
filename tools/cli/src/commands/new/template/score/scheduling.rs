//! Tests of the whole scheduler in an in-memory cluster.

use schedc_testing::{Options, Simulator};

use crate::scheduler::Profiles;

fn node(name: &str, labels: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Node
metadata: {{ name: {name}, labels: {{ {labels} }} }}
status: {{ allocatable: {{ cpu: '2', memory: 4Gi, pods: '10' }} }}
"
    )
}

fn pod(name: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ name: {name} }}
spec:
  schedulerName: @NAME@
  containers: [{{ name: c, image: i, resources: {{ requests: {{ cpu: '2' }} }} }}]
"
    )
}

#[test]
fn cheap_nodes_are_filled_first() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(&node("expensive", "example.com/price: '1.5'"));
    // The profile sets a price of 0.8 for nodes without the label.
    cluster.apply(&node("unknown", ""));
    cluster.apply(&node("cheap", "example.com/price: '0.25'"));
    for (name, expected) in [("a", "cheap"), ("b", "unknown"), ("c", "expensive")] {
        cluster.apply(&pod(name));
        cluster.run();
        assert_eq!(cluster.node_of(&format!("default/{name}")), Some(expected));
    }
}

#[test]
fn a_changed_price_takes_effect_immediately() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(&node("a", "example.com/price: '1'"));
    cluster.apply(&node("b", "example.com/price: '2'"));
    cluster.apply(&node("b", "example.com/price: '0.5'"));
    cluster.apply(&pod("web"));
    cluster.run();
    assert_eq!(cluster.node_of("default/web"), Some("b"));
}
