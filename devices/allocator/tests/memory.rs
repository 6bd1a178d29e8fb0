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
