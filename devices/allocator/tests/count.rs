//! Counts of the devices of a class on a node, in total and in use.

use crate::cluster::Cluster;
use crate::{models, request};

/// Returns the number of devices of class `gpu` on a node, and how many of them are in use.
fn count(cluster: &mut Cluster, node: &str) -> (i64, i64) {
    let class = cluster.interner.get("gpu").expect("the class");
    let count = cluster.inventory.count(class, &cluster.nodes[node], &cluster.interner);
    (count.allocatable, count.used)
}

#[test]
fn only_devices_of_the_class_and_of_the_node_are_counted() {
    let mut cluster = Cluster::with_class();
    cluster.node("n2", "zone: a");
    cluster.class("gpu", r#"device.attributes["gpu"].model == "T4""#);
    cluster.slice("p", &models(&[("a", "T4"), ("b", "A100"), ("c", "T4")]));
    let zone = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}";
    let pool = "pool: {name: q, generation: 1, resourceSliceCount: 1}";
    cluster.slice_of("q", &format!("{pool}, {zone}"), &models(&[("d", "T4")]));
    assert_eq!(["n1", "n2"].map(|node| count(&mut cluster, node)), [(2, 0), (1, 0)]);
    assert_eq!(cluster.hold(&request(1, "")), "r=a");
    assert_eq!(count(&mut cluster, "n1"), (2, 1));
    cluster.release(1);
    assert_eq!(count(&mut cluster, "n1"), (2, 0));
}

#[test]
fn obsolete_slices_and_incomplete_pools_are_counted() {
    let mut cluster = Cluster::with_class();
    let pool = |generation| format!("pool: {{name: p, generation: {generation}, resourceSliceCount: 3}}, nodeName: n1");
    cluster.slice_of("old", &pool(1), "{name: a}");
    cluster.slice_of("new", &pool(2), "{name: a}, {name: b}");
    assert_eq!(count(&mut cluster, "n1"), (3, 0));
}

#[test]
fn each_device_may_have_its_nodes() {
    let mut cluster = Cluster::with_class();
    let pool = "pool: {name: p, generation: 1, resourceSliceCount: 1}, perDeviceNodeSelection: true";
    cluster.slice_of("s", pool, "{name: a, nodeName: n1}, {name: b, nodeName: n2}, {name: c, allNodes: true}");
    assert_eq!(count(&mut cluster, "n1"), (2, 0));
}

#[test]
fn no_device_is_counted_if_a_selector_fails_on_one() {
    let mut cluster = Cluster::with_class();
    cluster.class("gpu", r#"device.attributes["gpu"].model == "T4""#);
    cluster.slice("p", &format!("{}, {{name: b}}", models(&[("a", "T4")])));
    assert_eq!(count(&mut cluster, "n1"), (0, 0));
}
