//! Pools: generations, numbers of slices, validity, order.

use crate::cluster::Cluster;
use crate::{NONE, all, request};

fn pool(generation: u32, count: u32, node: &str) -> String {
    format!("pool: {{name: p, generation: {generation}, resourceSliceCount: {count}}}, nodeName: {node}")
}

#[test]
fn slices_of_a_pool_are_tried_by_name() {
    let mut cluster = Cluster::with_class();
    cluster.slice_of("z", &pool(1, 2, "n1"), "{name: a}");
    cluster.slice_of("w", &pool(1, 2, "n1"), "{name: b}");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=b");
}

#[test]
fn pools_with_binding_conditions_come_last() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b, bindingConditions: [ready], bindingFailureConditions: [failed]}");
    cluster.slice("q", "{name: c}");
    assert_eq!(cluster.devices(&[&request(3, "")]), "r=c r=a r=b");
}

#[test]
fn only_the_highest_generation_counts() {
    let mut cluster = Cluster::with_class();
    cluster.slice_of("old", &pool(1, 1, "n1"), "{name: a}");
    cluster.slice_of("new", &pool(2, 1, "n1"), "{name: b}");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=b");
    cluster.remove("ResourceSlice", "new");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=a");
}

#[test]
fn a_newer_generation_elsewhere_hides_an_incomplete_pool() {
    let mut cluster = Cluster::with_class();
    cluster.slice_of("here", &pool(1, 2, "n1"), "{name: a}");
    cluster.slice_of("there", &pool(2, 1, "m1"), "{name: b}");
    assert_eq!(cluster.devices(&[&all("")]), NONE, "the pool is hidden, so it is no error");
    cluster.slice_of("here", &pool(1, 1, "n1"), "{name: a}");
    assert_eq!(cluster.devices(&[&all("")]), "r=a", "the pool is complete, so slices of other nodes are not checked");
}

#[test]
fn an_incomplete_pool_is_skipped_but_fails_a_request_for_all_devices() {
    let mut cluster = Cluster::with_class();
    cluster.slice_of("a", &pool(1, 2, "n1"), "{name: a}");
    cluster.slice("q", "{name: b}");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=b");
    let message =
        "claim default/c0, request r: asks for all devices, but resource pool gpu/p is currently being updated";
    assert_eq!(cluster.devices(&[&all("")]), message);
    cluster.slice_of("b", &pool(1, 2, "m1"), "{name: c}");
    assert_eq!(cluster.devices(&[&all("")]), "r=a r=b", "slices of other nodes complete the pool");
}

#[test]
fn duplicate_names_make_a_pool_invalid() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: a}");
    assert_eq!(cluster.devices(&[&request(1, "")]), "invalid resource pools were encountered");
    let message = "claim default/c0, request r: asks for all devices, but resource pool gpu/p is currently invalid";
    assert_eq!(cluster.devices(&[&all("")]), message);
    cluster.slice("q", "{name: b}");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=b");
}

#[test]
fn incomplete_shared_counters_concern_all_nodes() {
    let mut cluster = Cluster::with_class();
    let counters = "sharedCounters: [{name: s, counters: {c: {value: \"1\"}}}]";
    cluster.slice_of("counters", &format!("{}, {counters}", pool(1, 2, "elsewhere")), "");
    cluster.slice("q", "{name: a}");
    let message =
        "claim default/c0, request r: asks for all devices, but resource pool gpu/p is currently being updated";
    assert_eq!(cluster.devices(&[&all("")]), message);
    cluster.slice_of("devices", &pool(1, 2, "elsewhere"), "{name: b}");
    assert_eq!(cluster.devices(&[&all("")]), "r=a");
}
