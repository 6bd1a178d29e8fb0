//! Reasons why a request cannot have a device, and conflicts between requests.

use schedc_device_allocator::{Conflict, DeviceReason};

use crate::cluster::Cluster;
use crate::partitions::board;
use crate::{all, models, part, request, selector};

#[test]
fn every_device_has_its_first_reason() {
    let mut cluster = Cluster::with_class();
    cluster.slice(
        "p",
        "{name: used, attributes: {m: {int: 1}}}, {name: small, attributes: {m: {int: 0}}}, {name: broken}, \
         {name: tainted, attributes: {m: {int: 1}}, taints: [{key: k, effect: NoSchedule}]}, \
         {name: free, attributes: {m: {int: 1}, k: {int: 1}}}, {name: unlike, attributes: {m: {int: 1}}}",
    );
    cluster.hold(&request(1, ""));
    let selector = selector(r#"device.attributes["gpu"].m == 1"#);
    let claim = format!("{}, constraints: [{{matchAttribute: gpu/k}}]", request(1, &selector));
    let explanation = cluster.explain(&claim);
    let reasons: Vec<_> = explanation.requests[0].devices.iter().map(|(_, reason)| reason.clone()).collect();
    assert_eq!(explanation.requests[0].devices[0].0, "gpu/p/used");
    assert_eq!(reasons[0], Some(DeviceReason::InUse(Some("/held-1".to_owned()))));
    assert_eq!(reasons[1], Some(DeviceReason::Selector(false, 0)));
    assert!(matches!(&reasons[2], Some(DeviceReason::SelectorFails(text)) if text.contains("no such key")));
    assert_eq!(reasons[3], Some(DeviceReason::Taint));
    assert_eq!(reasons[4], None);
    assert!(matches!(reasons[5], Some(DeviceReason::Attribute(_))));
}

#[test]
fn unusable_pools_are_named() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: a}");
    assert_eq!(cluster.explain(&request(1, "")).unusable_pools, [("gpu/p".to_owned(), false)]);
}

#[test]
fn a_device_in_use_that_a_selector_excludes_has_the_selector_as_reason() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "T4")]));
    cluster.hold(&request(1, ""));
    let claim = request(1, &selector(r#"device.attributes["gpu"].model == "A100""#));
    assert_eq!(cluster.explain(&claim).requests[0].devices[0].1, Some(DeviceReason::Selector(false, 0)));
}

#[test]
fn a_selector_of_a_request_for_all_devices_fails_on_a_device_in_use() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    cluster.hold(&request(1, ""));
    let selector = selector(r#"device.attributes["gpu"].model == "big""#);
    let mut reason = |claim: &str| cluster.explain(claim).requests[0].devices[0].1.clone();
    assert!(matches!(reason(&all(&selector)), Some(DeviceReason::SelectorFails(text)) if text.contains("no such key")));
    assert_eq!(reason(&request(1, &selector)), Some(DeviceReason::InUse(Some("/held-1".to_owned()))));
}

#[test]
fn used_up_counters_are_named() {
    let mut cluster = board(&[("half", 2), ("whole", 4)]);
    assert_eq!(cluster.hold(&request(1, "")), "r=half");
    let explanation = cluster.explain(&request(1, ""));
    let reasons: Vec<_> = explanation.requests[0].devices.iter().map(|(_, reason)| reason.clone()).collect();
    let counter = DeviceReason::Counters("board/memory".to_owned());
    assert_eq!(reasons, [Some(DeviceReason::InUse(Some("/held-1".to_owned()))), Some(counter)]);
    assert!(!explanation.requests[0].has_enough());
}

#[test]
fn a_request_for_all_devices_lacks_one_that_is_in_use() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b}");
    cluster.hold(&request(1, ""));
    let explanation = cluster.explain(&all(""));
    assert_eq!((explanation.requests[0].available(), explanation.requests[0].has_enough()), (1, false));
}

#[test]
fn a_constraint_that_prevents_a_solution_is_named() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &models(&[("a", "T4"), ("b", "A100")]));
    let claim = format!("{}, constraints: [{{matchAttribute: gpu/model}}]", request(2, ""));
    let explanation = cluster.explain(&claim);
    assert!(explanation.requests[0].has_enough());
    assert!(matches!(explanation.conflict, Some(Conflict::Constraint { claim: 0, is_distinct: false, .. })));
}

#[test]
fn the_first_request_that_lacks_devices_after_earlier_requests_is_named() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}, {name: b}");
    let claim = format!("requests: [{}, {}]", part("one", 1, ""), part("two", 2, ""));
    let explanation = cluster.explain(&claim);
    assert!(explanation.requests.iter().all(|request| request.has_enough()));
    let request = cluster.interner.get("two").expect("a known name");
    assert_eq!(explanation.conflict, Some(Conflict::Request { claim: 0, request }));
}

#[test]
fn a_claim_with_a_solution_has_no_conflict() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    assert_eq!(cluster.explain(&request(1, "")).conflict, None);
}
