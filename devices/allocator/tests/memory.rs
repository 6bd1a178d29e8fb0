//! Memory of an evaluation.

use crate::cluster::Cluster;
use crate::{part, request};

#[test]
fn evaluations_that_are_repeated_allocate_no_memory() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b}");
    let fits = cluster.spec(&request(2, ""));
    let fails = cluster.spec(&format!("requests: [{}, {}]", part("r", 1, ""), part("s", 2, "")));
    let Cluster { inventory, interner, nodes, .. } = &mut cluster;
    let prepared = [fits, fails].map(|spec| inventory.prepare(&[spec], interner));
    let mut evaluate =
        || prepared.each_ref().map(|prepared| inventory.evaluate(prepared, &nodes["n1"], interner, || false).is_ok());
    assert_eq!(evaluate(), [true, false]);
    let allocations = allocation_counter::measure(|| assert_eq!(evaluate(), [true, false]));
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn nodes_that_no_longer_exist_are_forgotten() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    let spec = cluster.spec(&request(1, ""));
    for number in 0..200 {
        let name = format!("other-{number}");
        cluster.node(&name, "");
        // A node is evaluated, and removed.
        assert!(cluster.allocate_on(&name, std::slice::from_ref(&spec)).is_err());
        cluster.nodes.remove(&name);
        let remaining = cluster.interner.get("n1");
        cluster.inventory.forget_nodes(1, |name| Some(name) == remaining);
        assert!(cluster.inventory.cached_nodes() <= 66, "{number}");
    }
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=a");
}
