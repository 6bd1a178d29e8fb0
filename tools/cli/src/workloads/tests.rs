use schedc_objects::{Manifests, Options};
use serde_json::{Value, json};

use super::*;

fn cluster() -> Objects {
    let text = "
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {disk: ssd}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {disk: ssd}}, spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: c, labels: {disk: ssd}}, spec: {taints: [{key: gpu, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: d}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db-1}, spec: {nodeName: a, containers: [{name: c}]}}
";
    let manifests = Manifests::parse("cluster.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn workload(version: &str, kind: &str, mut spec: Value) -> Value {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}});
    match kind {
        "CronJob" => spec["jobTemplate"]["spec"]["template"] = template,
        _ => spec["template"] = template,
    }
    if !["Job", "CronJob"].contains(&kind) {
        spec["selector"] = match kind {
            "ReplicationController" => json!({"app": "web"}),
            _ => json!({"matchLabels": {"app": "web"}}),
        };
    }
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

/// Returns the pods of the only workload in a manifest.
fn pods(manifest: &Value) -> Result<Vec<NewPod>, String> {
    let cluster = cluster();
    let mut submission =
        Submission::parse("new.json", &manifest.to_string(), &cluster).map_err(|error| error.to_string())?;
    let nodes = cluster.nodes.iter().map(|node| &node.object);
    submission.pods(0, nodes).map_err(|problem| problem.to_string())
}

fn names(pods: &[NewPod]) -> Vec<&str> {
    pods.iter().filter_map(|new| new.pod.metadata.name.as_deref()).collect()
}

#[test]
fn each_controller_has_its_number_of_pods() {
    let number = |version, kind, spec| pods(&workload(version, kind, spec)).unwrap().len();
    assert_eq!(number("apps/v1", "Deployment", json!({"replicas": 3})), 3);
    assert_eq!(number("apps/v1", "ReplicaSet", json!({})), 1);
    assert_eq!(number("apps/v1", "StatefulSet", json!({"replicas": 0})), 0);
    assert_eq!(number("v1", "ReplicationController", json!({"replicas": 2})), 2);
    assert_eq!(number("batch/v1", "Job", json!({"parallelism": 4, "completions": 3})), 3);
    assert_eq!(number("batch/v1", "Job", json!({"parallelism": 4, "suspend": true})), 0);
    assert_eq!(number("batch/v1", "CronJob", json!({"jobTemplate": {"spec": {"parallelism": 2}}})), 2);
    assert_eq!(number("batch/v1", "CronJob", json!({"jobTemplate": {"spec": {"suspend": true}}})), 0);
}

#[test]
fn pods_have_the_labels_and_the_owner_of_their_controller() {
    let new_pods = pods(&workload("apps/v1", "Deployment", json!({"replicas": 1}))).unwrap();
    let metadata = &new_pods[0].pod.metadata;
    let owner = &metadata.owner_references.as_ref().unwrap()[0];
    let hash = &metadata.labels.as_ref().unwrap()["pod-template-hash"];
    assert_eq!((owner.kind.as_str(), &owner.name), ("ReplicaSet", &format!("web-{hash}")));
    assert!(metadata.name.as_ref().unwrap().starts_with(&format!("web-{hash}-")));
    assert_eq!(new_pods[0].before[0].name(), "shop", "the namespace is missing in the cluster");
    let indexed = json!({"completionMode": "Indexed"});
    for (kind, spec) in [("Job", indexed.clone()), ("CronJob", json!({"jobTemplate": {"spec": indexed}}))] {
        let new_pods = pods(&workload("batch/v1", kind, spec)).unwrap();
        assert_eq!(new_pods[0].pod.metadata.labels.as_ref().unwrap()["batch.kubernetes.io/job-completion-index"], "0");
    }
}

#[test]
fn pods_of_a_stateful_set_have_fixed_names_and_claims() {
    let claim = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let spec = json!({"replicas": 2, "ordinals": {"start": 5}, "serviceName": "web", "volumeClaimTemplates": [claim]});
    let new_pods = pods(&workload("apps/v1", "StatefulSet", spec)).unwrap();
    assert_eq!(names(&new_pods), ["web-5", "web-6"]);
    let claims: Vec<&str> = new_pods[1].before.iter().map(AnyObject::name).collect();
    assert_eq!(claims, ["data-web-6"]);
    let volumes = new_pods[1].pod.spec.as_ref().unwrap().volumes.as_ref().unwrap();
    assert_eq!(volumes[0].persistent_volume_claim.as_ref().unwrap().claim_name, "data-web-6");
}

#[test]
fn a_daemon_set_has_a_pod_on_each_node_that_it_selects() {
    let mut manifest = workload("apps/v1", "DaemonSet", json!({}));
    manifest["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    let new_pods = pods(&manifest).unwrap();
    let node = |new: &NewPod| {
        let affinity = new.pod.spec.clone()?.affinity?.node_affinity?;
        let terms = affinity.required_during_scheduling_ignored_during_execution?.node_selector_terms;
        terms[0].match_fields.as_ref()?[0].values.as_ref()?.first().cloned()
    };
    // The pods tolerate the cordoned node `b`, but not the taint of node `c`.
    assert_eq!(new_pods.iter().filter_map(node).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn wrong_workloads_are_reported_with_field_and_line() {
    let error = |manifest: Value| pods(&manifest).unwrap_err();
    let mut wrong = workload("batch/v1", "Job", json!({"parallelism": -1}));
    wrong["spec"]["template"]["spec"]["nodeSelecter"] = json!({});
    expect_test::expect![[r#"
        new.json:1: Job shop/web: spec.template.spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
        new.json:1: Job shop/web: spec.parallelism: is `-1`, but must be a number from 0"#]]
    .assert_eq(&error(wrong));
    for (version, kind, path) in [
        ("apps/v1", "Deployment", "/spec/template"),
        ("apps/v1", "DaemonSet", "/spec/template"),
        ("batch/v1", "CronJob", "/spec/jobTemplate/spec/template"),
    ] {
        let mut placed = workload(version, kind, json!({}));
        placed.pointer_mut(path).unwrap()["spec"]["nodeName"] = json!("a");
        let field = format!("{}.spec.nodeName", path[1..].replace('/', "."));
        let message = format!("new.json:1: {kind} shop/web: {field}: is set: the pod would skip the scheduler");
        assert_eq!(error(placed), message);
    }
    let huge = workload("apps/v1", "Deployment", json!({"replicas": 2_000_000_000}));
    assert_eq!(
        error(huge),
        "new.json:1: Deployment shop/web: spec.replicas: 2000000000 pods are too many; 100000 is the maximum for all workloads together"
    );
    let mut taken = workload("apps/v1", "StatefulSet", json!({"replicas": 2, "serviceName": "db"}));
    taken["metadata"] = json!({"name": "db"});
    let message = "the cluster has pod default/db-1 already; remove one of them or rename it";
    assert_eq!(error(taken), format!("new.json:1: StatefulSet default/db: metadata.name: {message}"));
}
