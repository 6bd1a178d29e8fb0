//! Tests of the whole scheduler in an in-memory cluster.

use schedc_testing::{Options, Simulator};

use crate::scheduler::Profiles;

const NODES: &str = "
apiVersion: v1
kind: Node
metadata: { name: old, labels: { example.com/generation: '1' } }
status: { allocatable: { cpu: '8', pods: '10' } }
---
apiVersion: v1
kind: Node
metadata: { name: new, labels: { example.com/generation: '3' } }
status: { allocatable: { cpu: '8', pods: '10' } }
";

fn pod(name: &str, labels: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ name: {name}, labels: {{ {labels} }} }}
spec:
  schedulerName: @NAME@
  containers: [{{ name: c, image: i, resources: {{ requests: {{ cpu: '1' }} }} }}]
"
    )
}

#[test]
fn a_pod_needs_hardware_of_its_generation() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(NODES);
    // The profile sets generation 2 for pods without the label.
    cluster.apply(&pod("a", ""));
    cluster.apply(&pod("b", "example.com/generation: '1'"));
    cluster.run();
    assert_eq!(cluster.pods(), "default/a on new\ndefault/b on old\n");

    cluster.apply(&pod("c", "example.com/generation: '4'"));
    cluster.run();
    let pods = cluster.pods();
    assert!(pods.contains("2 node(s) were older than generation 4"), "{pods}");
}

#[test]
fn a_pod_is_retried_when_a_new_enough_node_appears() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(NODES);
    cluster.apply(&pod("a", "example.com/generation: '4'"));
    cluster.run();
    assert_eq!(cluster.node_of("default/a"), None);

    cluster.apply(&NODES.replace("'3'", "'4'"));
    cluster.run();
    assert_eq!(cluster.node_of("default/a"), Some("new"));
}
