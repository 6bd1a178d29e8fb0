//! Tests of the whole scheduler in an in-memory cluster.

use schedc_testing::{Options, Simulator};

use crate::scheduler::Profiles;

fn node(name: &str, rack: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Node
metadata: {{ name: {name}, labels: {{ example.com/rack: {rack} }} }}
status: {{ allocatable: {{ cpu: '8', memory: 16Gi, pods: '10' }} }}
"
    )
}

fn pod(name: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ name: {name}, labels: {{ example.com/team: shop }} }}
spec:
  schedulerName: @NAME@
  containers: [{{ name: c, image: i, resources: {{ requests: {{ cpu: '1' }} }} }}]
"
    )
}

#[test]
fn the_pods_of_a_team_are_spread_over_racks() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(&[node("a1", "a"), node("a2", "a"), node("b1", "b")].concat());
    for name in ["p1", "p2", "p3", "p4"] {
        cluster.apply(&pod(name));
        cluster.run();
    }
    let pods = cluster.pods();
    assert_eq!(pods.matches(" on b1").count(), 2, "two of four are in rack b: {pods}");
}

#[test]
fn pods_move_to_another_rack_with_their_node() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(&node("a1", "a"));
    cluster.apply(&pod("first"));
    cluster.run();
    cluster.apply(&[node("a2", "a"), node("b1", "b")].concat());
    // The node moves to rack b while its pod is running.
    cluster.apply(&node("a1", "b"));
    cluster.apply(&pod("second"));
    cluster.run();
    assert_eq!(cluster.node_of("default/second"), Some("a2"));
}
