//! Pods with equal specs share memory.

use std::sync::Arc;

use schedc_core::model::Uid;

use crate::simulator::{cluster, pod};

#[test]
fn pending_pods_share_equal_specs() {
    let gate = "schedulingGates: [{name: example.com/gate}]";
    let named = |name: &str| pod("a", 1, gate).replace("name: a,", &format!("name: {name},"));
    let mut cluster = cluster(&(named("first") + &named("second") + &pod("other", 1, gate)));
    cluster.run();
    let spec = |name: &str| cluster.scheduler.pending(&Uid(format!("default/{name}").into())).unwrap().spec.clone();
    assert!(Arc::ptr_eq(&spec("first"), &spec("second")));
    assert!(!Arc::ptr_eq(&spec("first"), &spec("other")));
}
