//! Tests of the API server's defaults for pods and nodes. The module `others` tests other objects; the module
//! `validation` tests the errors of pods, nodes and priority classes.

mod others;
mod validation;

use expect_test::{Expect, expect};
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::manifests::Manifests;
use crate::{Objects, Options};

fn load(text: &str) -> Objects {
    let manifests = Manifests::parse("pods.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the first pod of the manifests.
fn pod(text: &str) -> Pod {
    load(text).pods.remove(0).object
}

/// Returns a pod with one container and additional fields in its spec.
fn with_spec(more: &str) -> String {
    format!("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{containers: [{{name: c}}], {more}}}}}")
}

fn spec(more: &str) -> PodSpec {
    pod(&with_spec(more)).spec.unwrap()
}

fn check_refused(text: &str, expected: Expect) {
    let manifests = Manifests::parse("pods.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    let without_defaults =
        Objects::new(manifests.clone(), Options { api_server_defaults: false, ..Options::default() });
    assert!(without_defaults.is_ok(), "no validation without defaults");
    expected.assert_eq(&Objects::new(manifests, Options::default()).unwrap_err().to_string());
}

#[test]
fn errors_have_the_line_of_their_field() {
    let pod = "apiVersion: v1
kind: Pod
metadata:
  name: a
  labels:
    app: 'not valid'
spec:
  containers:
  - name: c
    ports:
    - containerPort: 80
      protocol: ICMP
  volumes:
  - name: v
    csi: {}
";
    check_refused(
        &format!("# two pods\n---\n{pod}---\n{}", pod.replace("name: a", "name: b")),
        expect![[r#"
            pods.yaml:8: Pod default/a: metadata.labels[app]: `not valid`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:14: Pod default/a: spec.containers[0].ports[0].protocol: is `ICMP`, but must be one of `TCP`, `UDP`, `SCTP`
            pods.yaml:17: Pod default/a: spec.volumes[0].csi.driver: is missing; give the name of the CSI driver
            pods.yaml:24: Pod default/b: metadata.labels[app]: `not valid`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:30: Pod default/b: spec.containers[0].ports[0].protocol: is `ICMP`, but must be one of `TCP`, `UDP`, `SCTP`
            pods.yaml:33: Pod default/b: spec.volumes[0].csi.driver: is missing; give the name of the CSI driver"#]],
    );
    let json = "{\"kind\": \"Pod\", \"apiVersion\": \"v1\",
 \"metadata\": {\"name\": \"a\"},
 \"spec\": {\"containers\": [{\"name\": \"c\"}],
  \"preemptionPolicy\": \"Sometimes\"}}";
    check_refused(
        json,
        expect![[
            r#"pods.yaml:4: Pod default/a: spec.preemptionPolicy: is `Sometimes`, but must be one of `PreemptLowerPriority`, `Never`"#
        ]],
    );
    let list = "apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers: [{name: c}]
    preemptionPolicy: Sometimes
";
    check_refused(
        list,
        expect![[
            r#"pods.yaml:9 items[0]: Pod default/a: spec.preemptionPolicy: is `Sometimes`, but must be one of `PreemptLowerPriority`, `Never`"#
        ]],
    );
    let large = format!("# {}\n{pod}", "x".repeat(5 << 20));
    check_refused(
        &large,
        expect![[r#"
            pods.yaml:2: Pod default/a: metadata.labels[app]: `not valid`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:2: Pod default/a: spec.containers[0].ports[0].protocol: is `ICMP`, but must be one of `TCP`, `UDP`, `SCTP`
            pods.yaml:2: Pod default/a: spec.volumes[0].csi.driver: is missing; give the name of the CSI driver"#]],
    );
}

#[test]
fn a_bare_pod_is_completed() {
    let pod = pod(&with_spec(""));
    assert_eq!(pod.metadata.namespace.as_deref(), Some("default"));
    assert_eq!(pod.metadata.uid.as_deref(), Some("default/a"));
    let spec = pod.spec.unwrap();
    assert_eq!(spec.scheduler_name.as_deref(), Some("default-scheduler"));
    assert_eq!((spec.priority, spec.preemption_policy.as_deref()), (Some(0), Some("PreemptLowerPriority")));
    let keys: Vec<_> = spec.tolerations.iter().flatten().map(|t| t.key.as_deref().unwrap()).collect();
    assert_eq!(keys, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]);
}

#[test]
fn defaults_can_be_switched_off() {
    let manifests = Manifests::parse("pods.yaml", &with_spec("")).unwrap();
    let before = manifests.pods.clone();
    assert_eq!(
        Objects::new(manifests, Options { api_server_defaults: false, ..Options::default() }).unwrap().pods,
        before
    );
}

#[test]
fn completing_twice_changes_nothing() {
    let text = with_spec(
        "hostNetwork: true, resources: {limits: {cpu: 2}}, affinity: {podAntiAffinity:
        {requiredDuringSchedulingIgnoredDuringExecution: [
            {topologyKey: zone, labelSelector: {}, matchLabelKeys: [app], mismatchLabelKeys: [team]}]}},
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
            labelSelector: {}, matchLabelKeys: [app]}]",
    )
    .replace("name: a}", "name: a, labels: {app: web, team: x}}");
    let others = "
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],
    storageClassName: fast}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {generateName: c-}, spec: {volumeName: p, accessModes: [ReadWriteOnce],
    resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: x, metadata: {name: fast,
    annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}";
    let mut manifests = Manifests::parse("pods.yaml", &(text + others)).unwrap();
    super::complete(&mut manifests).unwrap();
    let once = manifests.clone();
    super::complete(&mut manifests).unwrap();
    assert_eq!(manifests, once);
}

#[test]
fn missing_requests_equal_the_limits() {
    let text =
        with_spec("").replace("{name: c}", "{name: c, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}");
    let resources = pod(&text).spec.unwrap().containers.remove(0).resources.unwrap();
    let requests: Vec<_> = resources.requests.into_iter().flatten().map(|(name, text)| (name, text.0)).collect();
    assert_eq!(requests, [("cpu".to_owned(), "1".to_owned()), ("memory".to_owned(), "1Gi".to_owned())]);
}

#[test]
fn missing_pod_level_requests_are_completed() {
    let requests = |text: &str| {
        let requests = pod(text).spec.unwrap().resources.unwrap().requests;
        requests.into_iter().flatten().map(|(name, text)| format!("{name} {}", text.0)).collect::<Vec<_>>()
    };
    assert_eq!(requests(&with_spec("resources: {limits: {cpu: 2, memory: 1Gi}}")), ["cpu 2", "memory 1Gi"]);
    let requesting = |own: &str, pod: &str| {
        with_spec(&format!("resources: {{{pod}}}")).replace("{name: c}", &format!("{{name: c, resources: {{{own}}}}}"))
    };
    let text = requesting("requests: {cpu: 500m}", "limits: {cpu: 2, memory: 1Gi}");
    assert_eq!(requests(&text), ["cpu 500m", "memory 1Gi"]);
    let text = requesting("limits: {hugepages-2Mi: 4Mi, memory: 1k}", "requests: {cpu: 1}");
    assert_eq!(requests(&text), ["cpu 1", "hugepages-2Mi 4194304", "memory 1k"]);
}

#[test]
fn ports_of_the_host_network_are_host_ports() {
    let text = with_spec("hostNetwork: true").replace("{name: c}", "{name: c, ports: [{containerPort: 80}]}");
    let port = pod(&text).spec.unwrap().containers.remove(0).ports.unwrap().remove(0);
    assert_eq!((port.host_port, port.protocol.as_deref()), (Some(80), Some("TCP")));
}

#[test]
fn explicit_tolerations_of_failing_nodes_are_kept() {
    let keys = |tolerations: &str| {
        let spec = spec(&format!("tolerations: [{tolerations}]"));
        spec.tolerations.into_iter().flatten().skip(1).map(|t| t.key.unwrap()).collect::<Vec<_>>()
    };
    assert!(keys("{operator: Exists}").is_empty());
    assert_eq!(keys("{operator: Exists, effect: NoSchedule}").len(), 2);
    let own = "{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}";
    assert_eq!(keys(own), ["node.kubernetes.io/unreachable"]);
}

#[test]
fn generated_names_are_the_same_every_time() {
    let generated = "{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, spec: {containers: [{name: c}]}}";
    let taken = with_spec("").replace("name: a", "name: web-bbbbc");
    let text = format!("{generated}\n---\n{taken}\n---\n{generated}\n");
    let names: Vec<_> = load(&text).pods.into_iter().map(|pod| pod.object.metadata.name.unwrap()).collect();
    assert_eq!(names, ["web-bbbbb", "web-bbbbc", "web-bbbbd"]);
}

const CLASSES: &str = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: batch}, value: -5, preemptionPolicy: Never, globalDefault: true}
---
";

#[test]
fn priorities_come_from_classes() {
    for (classes, more, priority, policy) in [
        ("", "", 0, "PreemptLowerPriority"),
        ("", "priority: 7", 7, "PreemptLowerPriority"),
        ("", "priority: 7, priorityClassName: gone", 7, "PreemptLowerPriority"),
        ("", "priorityClassName: system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
        ("", "priorityClassName: system-cluster-critical", 2_000_000_000, "PreemptLowerPriority"),
        (CLASSES, "", -5, "Never"),
        (CLASSES, "priorityClassName: high", 100, "PreemptLowerPriority"),
        (CLASSES, "priorityClassName: batch, priority: -5, preemptionPolicy: Never", -5, "Never"),
        (CLASSES, "priority: 7", 7, "PreemptLowerPriority"),
    ] {
        let spec = pod(&format!("{classes}{}", with_spec(more))).spec.unwrap();
        assert_eq!((spec.priority, spec.preemption_policy.as_deref()), (Some(priority), Some(policy)), "{more}");
    }
}

#[test]
fn label_keys_become_requirements() {
    let text = with_spec(
        "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
            {weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {tier: x}},
                matchLabelKeys: [app, missing], mismatchLabelKeys: [team]}}]}},
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
            labelSelector: {}, matchLabelKeys: [app]}]",
    )
    .replace("name: a}", "name: a, labels: {app: web, team: x}}");
    let spec = pod(&text).spec.unwrap();
    let affinity = spec.affinity.unwrap().pod_affinity.unwrap();
    let term = affinity.preferred_during_scheduling_ignored_during_execution.unwrap().remove(0).pod_affinity_term;
    assert_eq!(expressions(term.label_selector), [r#"app In ["web"]"#, r#"team NotIn ["x"]"#]);
    let constraint = spec.topology_spread_constraints.unwrap().remove(0);
    assert_eq!(expressions(constraint.label_selector), [r#"app In ["web"]"#]);
}

fn expressions(selector: Option<LabelSelector>) -> Vec<String> {
    let expressions = selector.unwrap().match_expressions.into_iter().flatten();
    expressions.map(|e| format!("{} {} {:?}", e.key, e.operator, e.values.unwrap())).collect()
}

#[test]
fn nodes_get_allocatable_amounts_and_namespaces_get_a_label() {
    let objects = load(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true}, status: {capacity: {cpu: 4}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
    );
    let node = &objects.nodes[0].object;
    assert_eq!(node.status.as_ref().unwrap().allocatable.as_ref().unwrap()["cpu"].0, "4");
    assert_eq!(node.spec.as_ref().unwrap().taints, None, "a controller adds the taint of a cordoned node");
    let labels = objects.others[0].object.metadata().labels.as_ref().unwrap();
    assert_eq!(labels["kubernetes.io/metadata.name"], "shop");
}
