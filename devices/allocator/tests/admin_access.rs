//! Requests with admin access.

use crate::cluster::Cluster;
use crate::{NONE, part, request};

const ADMIN: &str = "adminAccess: true";

#[test]
fn admin_access_ignores_use_and_holds_nothing() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    assert_eq!(cluster.hold(&request(1, ADMIN)), "r=a");
    assert_eq!(cluster.hold(&request(1, "")), "r=a");
    assert_eq!(cluster.devices(&[&request(1, ADMIN)]), "r=a");
}

#[test]
fn a_claim_takes_each_device_once() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    let twice = format!("requests: [{}, {}]", part("r", 1, ADMIN), part("s", 1, ADMIN));
    assert_eq!(cluster.devices(&[&twice]), NONE);
    assert_eq!(cluster.devices(&[&request(1, ADMIN), &request(1, ADMIN)]), "r=a r=a");
}

#[test]
fn an_ordinary_request_cannot_take_a_device_after_admin_access() {
    let mut cluster = Cluster::with_class();
    cluster.slice("p", "{name: a}");
    assert_eq!(cluster.devices(&[&request(1, ADMIN), &request(1, "")]), NONE);
    assert_eq!(cluster.devices(&[&request(1, ""), &request(1, ADMIN)]), "r=a r=a");
}
