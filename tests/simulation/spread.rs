//! Spreading over zones and nodes.

use expect_test::expect;

use crate::simulation::{nodes, outcome, replicas};

const ZONES: [(&str, &str); 3] = [("n1", "a"), ("n2", "a"), ("n3", "b")];

#[test]
fn zones_differ_by_no_more_than_the_skew() {
    let zonal = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,
        whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]";
    // Zone b has capacity for four pods, and the skew allows one more in zone a.
    let names: Vec<String> = (0..10).map(|n| format!("web-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = outcome(&(nodes(&ZONES) + &replicas("7d9f", &names, zonal)));
    let on = |node: &str| text.matches(&format!(" on {node}\n")).count();
    assert_eq!((on("n1") + on("n2"), on("n3")), (5, 4));
    expect!["default/web-9: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."].assert_eq(text.lines().last().unwrap());
}

#[test]
fn a_rollout_is_spread_separately() {
    // The pods of the old ReplicaSet are all in zone a. With matchLabelKeys they do not count.
    let zonal = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,
        whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}]";
    let old = replicas("old", &["old-1", "old-2"], "nodeName: n1");
    let manifests = nodes(&ZONES) + &old + &replicas("new", &["new-1", "new-2"], zonal);
    let text = outcome(&manifests);
    assert_eq!(text.matches(" on n3\n").count(), 1, "{text}");
    let counted = outcome(&manifests.replace("matchLabelKeys: [pod-template-hash]", ""));
    assert_eq!(counted.matches(" on n3\n").count(), 2, "{counted}");
}

#[test]
fn pods_of_a_service_spread_by_default() {
    let service = "---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
";
    let taken = "---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {nodeName: n3, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
";
    // Zone b has the fuller node, which is chosen only because of the spreading.
    let running = replicas("7d9f", &["web-1"], "nodeName: n1");
    let manifests = nodes(&ZONES) + taken + &running + &replicas("7d9f", &["web-2"], "");
    expect![[r#"
        default/web-2 on n3
    "#]]
    .assert_eq(&outcome(&(manifests.clone() + service)));
    expect![[r#"
        default/web-2 on n2
    "#]]
    .assert_eq(&outcome(&manifests));
}
