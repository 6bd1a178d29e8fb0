//! Affinity and anti-affinity between pods.

use expect_test::expect;

use crate::simulation::{nodes, outcome, replicas};

#[test]
fn replicas_avoid_each_other() {
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + &replicas("7d9f", &["web-1", "web-2", "web-3"], apart);
    expect![[r#"
        default/web-1 on n2
        default/web-2 on n1
        default/web-3: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn replicas_of_another_rollout_do_not_count() {
    // The API server converts matchLabelKeys to `pod-template-hash in (new)`.
    let apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}},
         matchLabelKeys: [pod-template-hash]}]}}";
    let manifests =
        nodes(&[("n1", "a")]) + &replicas("old", &["old"], apart) + &replicas("new", &["new-1", "new-2"], apart);
    expect![[r#"
        default/old on n1
        default/new-1 on n1
        default/new-2: 0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn namespaces_are_found_by_their_names() {
    // Every namespace has the label `kubernetes.io/metadata.name`, which an API server adds.
    let near = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: cache}},
         namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: caches}}}]}}";
    let cache = "---
apiVersion: v1
kind: Pod
metadata: {name: cache, namespace: caches, labels: {app: cache}}
spec: {nodeName: n2, containers: [{name: c}]}
";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + cache + &replicas("7d9f", &["web"], near);
    expect![[r#"
        default/web on n2
    "#]]
    .assert_eq(&outcome(&manifests));
}

#[test]
fn a_pod_that_waits_for_another_follows_it() {
    let near = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: cache}}}]}}";
    let follower = replicas("7d9f", &["web"], near).replace("spec:", "spec:\n  priority: 100");
    let cache = "---
apiVersion: v1
kind: Pod
metadata: {name: cache, labels: {app: cache}}
spec: {nodeSelector: {topology.kubernetes.io/zone: b}, containers: [{name: c}]}
";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + &follower + cache;
    expect![[r#"
        default/cache on n2
        default/web on n2
    "#]]
    .assert_eq(&outcome(&manifests));
}
