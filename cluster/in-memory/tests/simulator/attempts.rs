//! Simulations that stop before an attempt.

use super::*;

#[test]
fn a_simulation_stops_before_an_attempt() {
    let waits = pod("waits", 9, "priority: 10");
    let mut cluster =
        cluster(&(node("n1", 4) + &pod("first", 1, "priority: 20") + &waits + &pod("last", 1, "priority: 0")));
    let mut next = Vec::new();
    let mut is_last = |pod: &schedc_core::model::Pod| {
        next.push(pod.name.to_string());
        &*pod.name == "last"
    };
    assert!(cluster.run_to_attempt(&mut is_last));
    assert_eq!(next, ["first", "waits", "last"]);
    assert_eq!([cluster.node_of("first"), cluster.node_of("last")], [Some("n1"), None]);
    assert!(!cluster.run_to_attempt(|_| false));
    assert_eq!(cluster.node_of("last"), Some("n1"));
}

#[test]
fn a_pod_that_is_deleted_gets_no_attempt() {
    let mut cluster = cluster(&(node("n1", 4) + &pod("goes", 1, "priority: 20") + &pod("stays", 1, "priority: 10")));
    cluster.patch("Pod", "goes", serde_json::json!({"metadata": {"finalizers": ["example.com/waits"]}}));
    cluster.delete("Pod", "goes");
    let mut next = Vec::new();
    cluster.run_to_attempt(|pod| {
        next.push(pod.name.to_string());
        false
    });
    assert_eq!(next, ["stays"]);
}
