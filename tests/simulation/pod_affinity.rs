//! Pods that seek or avoid each other.

use expect_test::expect;

use crate::{nodes, outcome};

/// Pods of one Deployment: `names` are those of the pods, `hash` is its `pod-template-hash`.
fn replicas(names: &[&str], hash: &str, affinity: &str) -> String {
    let pod = |name: &&str| {
        format!(
            "---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: shop
  labels: {{app: web, pod-template-hash: {hash}}}
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web-{hash}, uid: '{hash}', controller: true}}]
spec:
  containers: [{{name: web, image: nginx}}]
  affinity: {affinity}
"
        )
    };
    names.iter().map(pod).collect()
}

#[test]
fn replicas_avoid_each_other() {
    let apart = "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + &replicas(&["web-1", "web-2", "web-3"], "7d9f", apart);
    expect![[r#"
        shop/web-1 on n2
        shop/web-2 on n1
        shop/web-3: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn replicas_of_another_roll_out_are_others() {
    // The API server makes `pod-template-hash in (new)` of matchLabelKeys.
    let apart = "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}},
         matchLabelKeys: [pod-template-hash]}]}}";
    let manifests =
        nodes(&[("n1", "a")]) + &replicas(&["old"], "old", apart) + &replicas(&["new-1", "new-2"], "new", apart);
    expect![[r#"
        shop/old on n1
        shop/new-1 on n1
        shop/new-2: 0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn namespaces_are_found_by_their_names() {
    // Every namespace has the label `kubernetes.io/metadata.name`, which an API server adds.
    let near = "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: cache}},
         namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: caches}}}]}}";
    let cache = "---
apiVersion: v1
kind: Pod
metadata: {name: cache, namespace: caches, labels: {app: cache}}
spec: {nodeName: n2, containers: [{name: c}]}
";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + cache + &replicas(&["web"], "7d9f", near);
    expect![[r#"
        shop/web on n2
    "#]]
    .assert_eq(&outcome(&manifests));
}

#[test]
fn a_pod_that_waits_for_another_follows_it() {
    let near = "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: cache}}}]}}";
    let follower = replicas(&["web"], "7d9f", near).replace("spec:", "spec:\n  priority: 100");
    let cache = "---
apiVersion: v1
kind: Pod
metadata: {name: cache, namespace: shop, labels: {app: cache}}
spec: {nodeSelector: {topology.kubernetes.io/zone: b}, containers: [{name: c}]}
";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")]) + &follower + cache;
    expect![[r#"
        shop/cache on n2
        shop/web on n2
    "#]]
    .assert_eq(&outcome(&manifests));
}
