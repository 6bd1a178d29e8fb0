use expect_test::expect;
use schedc_core::model::CustomKind;
use serde_json::json;

use super::*;

#[test]
fn kinds_are_read_by_their_api_versions() {
    let kinds = [
        ("v1", "Node", ""),
        ("v1", "Pod", "shop"),
        ("v1", "Namespace", ""),
        ("v1", "Service", "shop"),
        ("v1", "ReplicationController", "shop"),
        ("apps/v1", "ReplicaSet", "shop"),
        ("apps/v1", "StatefulSet", "shop"),
        ("apps/v1", "Deployment", "shop"),
        ("v1", "PersistentVolume", ""),
        ("v1", "PersistentVolumeClaim", "shop"),
        ("storage.k8s.io/v1", "StorageClass", ""),
        ("storage.k8s.io/v1", "CSINode", ""),
        ("storage.k8s.io/v1", "CSIDriver", ""),
        ("storage.k8s.io/v1", "CSIStorageCapacity", "shop"),
        ("storage.k8s.io/v1", "VolumeAttachment", ""),
        ("policy/v1", "PodDisruptionBudget", "shop"),
        ("scheduling.k8s.io/v1", "PriorityClass", ""),
        ("resource.k8s.io/v1", "ResourceClaim", "shop"),
        ("resource.k8s.io/v1", "ResourceClaimTemplate", "shop"),
        ("resource.k8s.io/v1", "ResourceSlice", ""),
        ("resource.k8s.io/v1", "DeviceClass", ""),
    ];
    let samples = samples();
    assert_eq!(kinds.map(|(_, kind, _)| kind)[..], samples.iter().map(AnyObject::kind).collect::<Vec<_>>());
    for (version, kind, namespace) in kinds {
        let spec = match kind {
            "VolumeAttachment" => json!({"attacher": "x", "nodeName": "n", "source": {}}),
            "CSINode" => json!({"drivers": []}),
            "ResourceSlice" => json!({"driver": "x", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}),
            _ => json!({}),
        };
        let value = json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "a", "namespace": "shop"},
            "spec": spec, "provisioner": "x", "storageClassName": "fast", "value": 1,
        });
        let object = AnyObject::from_json(version, kind, value).unwrap().unwrap();
        assert_eq!((object.kind(), object.namespace(), object.name()), (kind, namespace, "a"));
    }
}

#[test]
fn other_kinds_are_ignored() {
    for (version, kind) in [("apps/v1", "DaemonSet"), ("example.com/v1", "Node"), ("extensions/v1beta1", "ReplicaSet")]
    {
        assert_eq!(AnyObject::from_json(version, kind, json!({"spec": 5})), Ok(None), "{kind}");
    }
}

#[test]
fn a_missing_namespace_is_the_default_one() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    assert_eq!(AnyObject::from_json("v1", "Service", service).unwrap().unwrap().namespace(), "default");
}

#[test]
fn errors_name_object_and_field() {
    let rows = [
        ("policy/v1beta1", "PodDisruptionBudget", json!({})),
        ("v1", "PersistentVolume", json!({"capacity": {"storage": "10GB"}})),
        ("v1", "PersistentVolumeClaim", json!({"resources": {"requests": {"storage": "ten"}}})),
        ("v1", "Service", json!({"selector": {"app": 1}})),
    ];
    let errors: Vec<_> = rows
        .into_iter()
        .map(|(version, kind, spec)| {
            let value = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
            AnyObject::from_json(version, kind, value).unwrap_err().to_string()
        })
        .collect();
    expect![[r#"
        PodDisruptionBudget default/a: apiVersion: is `policy/v1beta1`, but a PodDisruptionBudget is `policy/v1`
        PersistentVolume a: spec.capacity[storage]: `10GB` is not a quantity; did you mean `10G` or `10Gi`?
        PersistentVolumeClaim default/a: spec.resources.requests[storage]: `ten` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`
        Service default/a: spec.selector.app: is integer `1`, but must be text; put it in quotes"#]].assert_eq(&errors.join("\n"));
}

const POD_GROUP: CustomKind = CustomKind {
    name: "podgroups.v1alpha1.scheduling.x-k8s.io",
    api_version: "scheduling.x-k8s.io/v1alpha1",
    kind: "PodGroup",
    plural: "podgroups",
    is_namespaced: true,
};
const SERVICE: CustomKind = CustomKind {
    name: "services.v1.serving.knative.dev",
    api_version: "serving.knative.dev/v1",
    kind: "Service",
    plural: "services",
    is_namespaced: true,
};

#[test]
fn declared_kinds_are_read_by_api_version_and_name() {
    let kinds = Kinds::from(&[POD_GROUP, SERVICE][..]);
    let group = json!({"apiVersion": POD_GROUP.api_version, "kind": "PodGroup", "metadata": {"name": "g"},
        "spec": {"minMember": 3}});
    assert_eq!(AnyObject::from_json(POD_GROUP.api_version, "PodGroup", group.clone()), Ok(None));
    let read = kinds.read(POD_GROUP.api_version, "PodGroup", group.clone()).unwrap().unwrap();
    assert_eq!((read.kind(), read.namespace(), read.name()), (POD_GROUP.name, "default", "g"));
    assert_eq!(read.to_json().unwrap(), group);
    // Kinds with equal names in two groups are different.
    let api = |version: &str| {
        let object = json!({"apiVersion": version, "kind": "Service", "metadata": {"name": "s"}});
        kinds.read(version, "Service", object).unwrap().map(|object| object.kind())
    };
    assert_eq!(["v1", SERVICE.api_version].map(api), [Some("Service"), Some(SERVICE.name)]);
    assert_eq!(kinds.named("PodGroup").map(|kind| kind.kind), Some(POD_GROUP.name));
    assert_eq!(kinds.named("Service").map(|kind| kind.kind), Some("Service"));
    let wrong = kinds.read(POD_GROUP.api_version, "PodGroup", json!({"metadata": {"name": "g", "labels": {"a": 1}}}));
    let error = "PodGroup g: metadata.labels.a: is integer `1`, but must be text; put it in quotes";
    assert_eq!(wrong.unwrap_err().to_string(), error);
}
