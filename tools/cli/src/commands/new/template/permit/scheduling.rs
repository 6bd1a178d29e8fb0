//! Tests of the whole scheduler in an in-memory cluster.

use std::time::Duration;

use schedc_testing::{Options, Simulator};

use crate::scheduler::Profiles;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: { name: n1 }
status: { allocatable: { cpu: '2', pods: '10' } }
";

fn pod(name: &str, pair: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ name: {name}, labels: {{ example.com/pair: {pair} }} }}
spec:
  schedulerName: @NAME@
  containers: [{{ name: c, image: i, resources: {{ requests: {{ cpu: '1' }} }} }}]
"
    )
}

#[test]
fn a_pod_waits_for_its_partner() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(NODE);
    cluster.apply(&pod("front", "web"));
    cluster.run_for(Duration::from_secs(20));
    assert_eq!(cluster.node_of("default/front"), None, "reserved, but not bound");

    cluster.apply(&pod("back", "web"));
    cluster.run_for(Duration::from_secs(1));
    assert_eq!(cluster.pods(), "default/back on n1\ndefault/front on n1\n");
}

#[test]
fn a_pod_without_partner_releases_its_node() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(NODE);
    cluster.apply(&pod("single", "web"));
    // The profile sets a wait of 60 seconds.
    cluster.run_for(Duration::from_secs(70));
    // The node has room for two pods.
    cluster.apply(&(pod("front", "other") + &pod("back", "other")));
    cluster.run();
    assert_eq!(cluster.node_of("default/front"), Some("n1"));
    assert_eq!(cluster.node_of("default/back"), Some("n1"));
    assert_eq!(cluster.node_of("default/single"), None);
}
