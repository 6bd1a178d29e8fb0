//! Requests for all devices.

use crate::cluster::Cluster;
use crate::{NONE, all, models, part, request, selector};

#[test]
fn all_matching_devices_are_taken() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "big"), ("b", "small"), ("c", "big")]));
    assert_eq!(cluster.devices(&[&all(&selector(r#"device.attributes["gpu"].model == "big""#))]), "r=a r=c");
}

#[test]
fn at_least_one_device_is_needed() {
    let mut cluster = Cluster::with_class();
    assert_eq!(cluster.devices(&[&all("")]), NONE);
    cluster.slice("p", "{name: a}");
    assert_eq!(cluster.devices(&[&all(&selector("false"))]), NONE);
}

#[test]
fn a_device_in_use_or_with_a_taint_prevents_the_allocation() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b}");
    cluster.hold(&request(1, ""));
    assert_eq!(cluster.devices(&[&all("")]), NONE);
    cluster.release(1);
    cluster.slice("q", "{name: c, taints: [{key: k, effect: NoSchedule}]}");
    assert_eq!(cluster.devices(&[&all("")]), NONE);
}

#[test]
fn a_constraint_that_excludes_a_device_is_an_error() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "big"), ("b", "small")]));
    let claim = format!("{}, constraints: [{{matchAttribute: gpu/model}}]", all(""));
    let message =
        "claim default/c0, request r: cannot add device gpu/p/b because a claim constraint would not be satisfied";
    assert_eq!(cluster.devices(&[&claim]), message);
}

#[test]
fn a_selector_fails_on_any_device_even_one_in_use() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    cluster.hold(&request(1, ""));
    let message = cluster.devices(&[&all(&selector(r#"device.attributes["gpu"].model == "big""#))]);
    assert!(message.starts_with("claim default/c0: selector #0: CEL runtime error: "), "{message}");
}

#[test]
fn an_earlier_request_leaves_the_devices_that_a_request_for_all_devices_needs() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "big"), ("b", "small")]));
    let big = all(&selector(r#"device.attributes["gpu"].model == "big""#)).replacen("name: r", "name: all", 1);
    let claim = big.replacen("requests: [", &format!("requests: [{}, ", part("one", 1, "")), 1);
    assert_eq!(cluster.devices(&[&claim]), "one=b all=a");
}
