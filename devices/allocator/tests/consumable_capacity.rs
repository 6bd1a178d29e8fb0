//! Devices that several claims share.

use crate::cluster::Cluster;
use crate::{NONE, request};

fn capacity(amount: u32) -> String {
    format!("capacity: {{requests: {{bandwidth: \"{amount}\"}}}}")
}

fn shared(policy: &str) -> Cluster {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", &format!("{{name: a, allowMultipleAllocations: true, capacity: {{bandwidth: {{value: \"10\", requestPolicy: {{{policy}}}}}}}}}"));
    cluster
}

#[test]
fn claims_share_a_device_until_its_capacity_is_consumed() {
    let mut cluster = shared("");
    assert_eq!(cluster.hold(&request(1, &capacity(6))), "r=a");
    assert_eq!(cluster.devices(&[&request(1, &capacity(5))]), NONE);
    assert_eq!(cluster.devices(&[&request(1, &capacity(2)), &request(1, &capacity(2))]), "r=a r=a");
    assert_eq!(cluster.devices(&[&request(1, &capacity(2)), &request(1, &capacity(3))]), NONE);
    cluster.release(1);
    assert_eq!(cluster.devices(&[&request(1, &capacity(10))]), "r=a");
}

#[test]
fn a_request_without_amount_consumes_the_default_or_everything() {
    let mut cluster = shared("");
    cluster.hold(&request(1, ""));
    assert_eq!(cluster.devices(&[&request(1, &capacity(1))]), NONE);
    let mut cluster = shared("default: \"3\"");
    cluster.hold(&request(1, ""));
    assert_eq!(cluster.devices(&[&request(1, &capacity(7))]), "r=a");
    assert_eq!(cluster.devices(&[&request(1, &capacity(8))]), NONE);
}

#[test]
fn amounts_are_rounded_up_by_the_policy() {
    let consumed = |policy: &str, amount: u32| {
        let mut cluster = shared(policy);
        let spec = cluster.spec(&request(1, &capacity(amount)));
        let allocations = cluster.allocate_on("n1", &[spec]).ok()?;
        Some(allocations[0].results[0].consumed_capacity[0].1.value())
    };
    let range = "validRange: {min: \"2\", max: \"8\", step: \"3\"}";
    assert_eq!([1, 2, 3, 6, 8].map(|amount| consumed(range, amount)), [2, 2, 5, 8, 8].map(Some));
    assert_eq!(consumed(range, 9), None);
    let values = "validValues: [\"2\", \"4\"]";
    assert_eq!([1, 2, 3, 5].map(|amount| consumed(values, amount)), [Some(2), Some(2), Some(4), None]);
}

#[test]
fn an_exclusive_device_needs_the_requested_capacity() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a, capacity: {bandwidth: {value: \"5\"}}}, {name: b}, {name: c, capacity: {bandwidth: {value: \"10\"}}}");
    assert_eq!(cluster.devices(&[&request(1, &capacity(6))]), "r=c");
    assert_eq!(cluster.devices(&[&request(2, &capacity(6))]), NONE);
}

#[test]
fn every_share_has_an_id() {
    let mut cluster = shared("default: \"1\"");
    let spec = cluster.spec(&request(1, ""));
    let allocations = cluster.allocate_on("n1", &[spec.clone(), spec]).unwrap();
    let ids: Vec<_> = allocations.iter().map(|allocation| allocation.results[0].share_id.clone().unwrap()).collect();
    assert_ne!(ids[0], ids[1]);
}
