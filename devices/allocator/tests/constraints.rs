//! Conditions on several devices.

use crate::cluster::Cluster;
use crate::{NONE, models, part, request};

#[test]
fn matching_devices_are_found_by_backtracking() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "x"), ("b", "w"), ("c", "w")]));
    let claim = format!("{}, constraints: [{{matchAttribute: gpu/model}}]", request(2, ""));
    assert_eq!(cluster.devices(&[&claim]), "r=b r=c");
}

#[test]
fn an_attribute_without_domain_belongs_to_the_driver() {
    let mut cluster = Cluster::with_class();
    cluster
        .slice("p", "{name: a, attributes: {other/model: {string: x}}}, {name: b, attributes: {model: {string: x}}}");
    let of_driver = format!("{}, constraints: [{{matchAttribute: gpu/model}}]", request(1, ""));
    let of_other = format!("{}, constraints: [{{matchAttribute: other/model}}]", request(1, ""));
    assert_eq!(cluster.devices(&[&of_driver]), "r=b");
    assert_eq!(cluster.devices(&[&of_other]), "r=a");
}

#[test]
fn a_distinct_attribute_is_compared_with_the_latest_device_of_each_request() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "x"), ("b", "w"), ("c", "x")]));
    let claim = format!("{}, constraints: [{{distinctAttribute: gpu/model}}]", request(3, ""));
    assert_eq!(cluster.devices(&[&claim]), "r=a r=b r=c", "c is not compared with a");
    let requests = format!("requests: [{}, {}, {}]", part("r", 1, ""), part("s", 1, ""), part("t", 1, ""));
    let claim = format!("{requests}, constraints: [{{distinctAttribute: gpu/model}}]");
    assert_eq!(cluster.devices(&[&claim]), NONE);
}

#[test]
fn a_constraint_concerns_the_requests_that_it_names() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "x"), ("b", "w"), ("c", "x")]));
    let requests = format!("requests: [{}, {}, {}]", part("r", 1, ""), part("s", 1, ""), part("t", 1, ""));
    let claim = format!("{requests}, constraints: [{{requests: [r, t], matchAttribute: gpu/model}}]");
    assert_eq!(cluster.devices(&[&claim]), "r=a s=b t=c");
}

#[test]
fn values_of_different_types_do_not_match() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a, attributes: {size: {int: 1}}}, {name: b, attributes: {size: {string: \"1\"}}}");
    let claim = format!("{}, constraints: [{{matchAttribute: gpu/size}}]", request(2, ""));
    assert_eq!(cluster.devices(&[&claim]), NONE);
}
