//! Tests of the whole scheduler in an in-memory cluster.

use schedc_testing::{Options, Simulator};

use crate::scheduler::Profiles;

const NODES: &str = "
apiVersion: v1
kind: Node
metadata: { name: free }
status: { allocatable: { cpu: '1', memory: 4Gi, pods: '10' } }
---
apiVersion: v1
kind: Node
metadata: { name: kept, labels: { example.com/kept-for: research } }
status: { allocatable: { cpu: '4', memory: 16Gi, pods: '10' } }
";

fn pod(namespace: &str, name: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{ namespace: {namespace}, name: {name} }}
spec:
  schedulerName: @NAME@
  containers: [{{ name: c, image: i, resources: {{ requests: {{ cpu: '1' }} }} }}]
"
    )
}

#[test]
fn a_node_is_kept_for_its_namespace() {
    let mut cluster = Simulator::of::<Profiles>(Options::default()).expect("plugins start");
    cluster.apply(NODES);
    cluster.apply(&pod("shop", "a"));
    cluster.apply(&pod("research", "b"));
    cluster.run();
    assert_eq!(cluster.pods(), "research/b on kept\nshop/a on free\n");

    cluster.apply(&pod("shop", "c"));
    cluster.run();
    let pods = cluster.pods();
    assert!(pods.contains("1 node(s) were kept for another namespace"), "{pods}");
}
