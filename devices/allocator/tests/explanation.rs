//! Reasons per device.

use schedc_device_allocator::DeviceReason;

use crate::cluster::Cluster;
use crate::{request, selector};

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
    assert_eq!(reasons[0], Some(DeviceReason::InUse));
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
