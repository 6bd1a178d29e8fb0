//! Nodes that changes affect.

use schedc_device_allocator::Affected;

use crate::cluster::Cluster;
use crate::request;

fn affected(cluster: &mut Cluster, change: impl FnOnce(&mut Cluster)) -> Vec<String> {
    let position = cluster.inventory.position();
    change(cluster);
    let name = |affected: &Affected| match affected {
        Affected::Node(name) => cluster.interner.resolve(*name).to_owned(),
        Affected::UseOfShared => "use of shared".to_owned(),
        Affected::All => "all".to_owned(),
    };
    cluster.inventory.changes_since(position).expect("a recent position").iter().map(name).collect()
}

#[test]
fn local_devices_affect_their_node() {
    let mut cluster = Cluster::with_class();
    assert_eq!(affected(&mut cluster, |cluster| cluster.slice("p", "{name: a}")), ["n1"]);
    assert_eq!(affected(&mut cluster, |cluster| cluster.slice("p", "{name: a}")), [""; 0], "it is equal");
    assert_eq!(affected(&mut cluster, |cluster| drop(cluster.hold(&request(1, "")))), ["n1"]);
    assert_eq!(affected(&mut cluster, |cluster| cluster.release(1)), ["n1"]);
}

#[test]
fn network_devices_and_classes_affect_all_nodes() {
    let mut cluster = Cluster::with_class();
    let pool = "pool: {name: p, generation: 1, resourceSliceCount: 1}, allNodes: true";
    assert_eq!(affected(&mut cluster, |cluster| cluster.slice_of("s", pool, "{name: a}")), ["all"]);
    assert_eq!(affected(&mut cluster, |cluster| drop(cluster.hold(&request(1, "")))), ["use of shared"]);
    assert_eq!(affected(&mut cluster, |cluster| cluster.class("gpu", "true")), ["all"]);
}
