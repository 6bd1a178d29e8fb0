use expect_test::expect;

use super::{check_refused, load};
use crate::AnyObject;

/// Returns the manifests of one API version, each in one line.
fn documents(api_version: &str, documents: &[&str]) -> String {
    documents.iter().map(|rest| format!("---\n{{apiVersion: {api_version}, {rest}}}\n")).collect()
}

#[test]
fn storage_classes_bind_immediately_by_default() {
    let text = documents(
        "storage.k8s.io/v1",
        &[
            "kind: StorageClass, metadata: {name: a}, provisioner: x",
            "kind: StorageClass, metadata: {name: b}, provisioner: x, volumeBindingMode: WaitForFirstConsumer",
        ],
    );
    let objects = load(&text);
    let modes = objects.others.iter().map(|other| match &other.object {
        AnyObject::StorageClass(class) => class.volume_binding_mode.as_deref().unwrap(),
        object => panic!("{object:?}"),
    });
    assert_eq!(modes.collect::<Vec<_>>(), ["Immediate", "WaitForFirstConsumer"]);
}

#[test]
fn new_volumes_are_available() {
    let spec = "accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}";
    let volume = |name: &str, more: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{{spec}, {more}}}}}\n"
        )
    };
    let text = [
        volume("free", ""),
        volume("reserved", "claimRef: {namespace: shop, name: data}"),
        volume("taken", "claimRef: {namespace: shop, name: data, uid: '1'}"),
        volume("old", "").replace("}}\n", "}, status: {phase: Released}}\n"),
    ];
    let objects = load(&text.concat());
    let phases = objects.others().filter_map(|object| match object {
        AnyObject::PersistentVolume(volume) => volume.status.as_ref()?.phase.as_deref(),
        _ => None,
    });
    assert_eq!(phases.collect::<Vec<_>>(), ["Available", "Available", "Bound", "Released"]);
}

/// Returns the class of a claim with these fields, given these classes (name, additional metadata).
fn class_of_claim(classes: &[(&str, &str)], metadata: &str, spec: &str) -> Option<String> {
    let classes = classes.iter().map(|(name, more)| {
        format!("---\n{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}, {more}}}, provisioner: x}}\n")
    });
    let claim = format!(
        "---\n{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, {metadata}}},
            spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}, {spec}}}}}"
    );
    match load(&(classes.collect::<String>() + &claim)).others.pop().unwrap().object {
        AnyObject::PersistentVolumeClaim(claim) => claim.spec.unwrap().storage_class_name,
        object => panic!("{object:?}"),
    }
}

#[test]
fn claims_without_a_class_get_the_default_one() {
    let standard = ("standard", "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}");
    let old = ("old", "annotations: {storageclass.beta.kubernetes.io/is-default-class: 'true'}");
    let other = ("other", "annotations: {storageclass.kubernetes.io/is-default-class: 'false'}");
    let new = (
        "young",
        "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}, creationTimestamp: '2026-01-01T00:00:00Z'",
    );
    let beta = "annotations: {volume.beta.kubernetes.io/storage-class: slow}";
    for (classes, metadata, spec, expected) in [
        (&[other, standard][..], "", "", Some("standard")),
        (&[standard, old], "", "", Some("old")),
        (&[standard, new, old], "", "", Some("young")),
        (&[other], "", "", None),
        (&[], "", "", None),
        (&[standard], "", "storageClassName: fast", Some("fast")),
        (&[standard], "", "storageClassName: ''", Some("")),
        (&[standard], beta, "", None),
    ] {
        assert_eq!(class_of_claim(classes, metadata, spec).as_deref(), expected, "{metadata} {spec}");
    }
}

#[test]
fn replication_controllers_select_by_their_template() {
    let text = "{apiVersion: v1, kind: ReplicationController, metadata: {name: a, namespace: shop},
        spec: {template: {metadata: {labels: {app: web}}}}}";
    let objects = load(text);
    let AnyObject::ReplicationController(controller) = &objects.others[0].object else { panic!("another kind") };
    assert_eq!(controller.spec.as_ref().unwrap().selector.as_ref().unwrap()["app"], "web");
}

#[test]
fn missing_namespaces_of_pods_are_added() {
    let text = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: web}}}
---
{apiVersion: v1, kind: PodList, items: [
    {metadata: {name: a, namespace: shop}, spec: &spec {containers: [{name: c}]}},
    {metadata: {name: b}, spec: *spec},
    {metadata: {name: c, namespace: caches}, spec: *spec},
    {metadata: {name: d, namespace: caches}, spec: *spec}]}";
    let objects = load(text);
    let labels = |object: &AnyObject| format!("{:?}", object.metadata().labels.as_ref().unwrap());
    expect![[r#"
        {"kubernetes.io/metadata.name": "shop", "team": "web"}
        {"kubernetes.io/metadata.name": "default"}
        {"kubernetes.io/metadata.name": "caches"}"#]]
    .assert_eq(&objects.others().map(labels).collect::<Vec<_>>().join("\n"));
    assert_eq!(objects.others_by_kind()["Namespace"], 1);
}

#[test]
fn names_are_generated_per_kind() {
    let text = documents(
        "v1",
        &[
            "kind: Service, metadata: {generateName: a-}",
            "kind: PersistentVolume, metadata: {name: p, namespace: shop},
            spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}",
        ],
    );
    let objects = load(&text);
    let names: Vec<_> = objects.others.iter().map(|other| (other.object.namespace(), other.object.name())).collect();
    assert_eq!(names, [("default", "a-bbbbb"), ("", "p")]);
    assert_eq!(objects.others[1].object.metadata().namespace, None);
}

#[test]
fn workloads_must_be_right() {
    check_refused(
        &documents(
            "apps/v1",
            &[
                "kind: ReplicaSet, metadata: {name: none}, spec: {selector: {}}",
                "kind: StatefulSet, metadata: {name: odd}, spec: {selector: {matchExpressions: [{key: a, operator: Gt}]}}",
            ],
        ),
        expect![[r#"
            pods.yaml:2: ReplicaSet default/none: spec.selector: is missing; set it to the labels of the pods
            pods.yaml:4: StatefulSet default/odd: spec.selector.matchExpressions[0].operator: is `Gt`, but must be one of `In`, `NotIn`, `Exists`, `DoesNotExist`"#]],
    );
    check_refused(
        &documents(
            "v1",
            &[
                "kind: ReplicationController, metadata: {name: none}, spec: {}",
                "kind: Service, metadata: {name: odd}, spec: {selector: {a: '?'}}",
            ],
        ),
        expect![[r#"
            pods.yaml:2: ReplicationController default/none: spec.selector: is missing; set it to the labels of the pods
            pods.yaml:4: Service default/odd: spec.selector[a]: `?`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#]],
    );
}

#[test]
fn budgets_must_be_right() {
    check_refused(
        &documents(
            "policy/v1",
            &[
                "kind: PodDisruptionBudget, metadata: {name: both}, spec: {minAvailable: 1, maxUnavailable: 1}",
                "kind: PodDisruptionBudget, metadata: {name: odd}, spec: {minAvailable: half, selector: {matchExpressions: [
                    {key: a, operator: In}]}}",
                "kind: PodDisruptionBudget, metadata: {name: much}, spec: {maxUnavailable: 101%}",
                "kind: PodDisruptionBudget, metadata: {name: little}, spec: {maxUnavailable: -1}",
            ],
        ),
        expect![[r#"
            pods.yaml:2: PodDisruptionBudget default/both: spec: may have minAvailable or maxUnavailable, not both
            pods.yaml:4: PodDisruptionBudget default/odd: spec.minAvailable: is `half`, but must be a non-negative whole number, or a percentage from 0% to 100%
            pods.yaml:5: PodDisruptionBudget default/odd: spec.selector.matchExpressions[0].values: must have a value when the operator is In
            pods.yaml:7: PodDisruptionBudget default/much: spec.maxUnavailable: is `101%`, but must be a non-negative whole number, or a percentage from 0% to 100%
            pods.yaml:9: PodDisruptionBudget default/little: spec.maxUnavailable: is -1, but must be a non-negative whole number, or a percentage from 0% to 100%"#]],
    );
}

#[test]
fn volumes_and_claims_must_be_right() {
    check_refused(
        &documents(
            "v1",
            &[
                "kind: PersistentVolume, metadata: {name: empty}, spec: {nodeAffinity: {}}",
                "kind: PersistentVolume, metadata: {name: local}, spec: {local: {path: /mnt}, capacity: {storage: 1Gi},
                    accessModes: [ReadWriteOnce, ReadWriteOncePod], volumeMode: Raw}",
                "kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [RWO], storageClassName: Fast,
                    resources: {requests: {storage: 0}}, selector: {matchLabels: {a: '?'}}}",
            ],
        ),
        expect![[r#"
            pods.yaml:2: PersistentVolume empty: spec.accessModes: is empty; there must be one at least
            pods.yaml:2: PersistentVolume empty: spec.capacity[storage]: is missing; give the number of bytes
            pods.yaml:2: PersistentVolume empty: spec.nodeAffinity.required: is missing; give it, or leave the affinity out
            pods.yaml:5: PersistentVolume local: spec.accessModes: must not have other modes next to `ReadWriteOncePod`
            pods.yaml:5: PersistentVolume local: spec.volumeMode: is `Raw`, but must be one of `Filesystem`, `Block`
            pods.yaml:4: PersistentVolume local: spec.nodeAffinity: is missing; a local volume needs it
            pods.yaml:7: PersistentVolumeClaim default/data: spec.accessModes[0]: is `RWO`, but must be one of `ReadWriteOnce`, `ReadOnlyMany`, `ReadWriteMany`, `ReadWriteOncePod`
            pods.yaml:8: PersistentVolumeClaim default/data: spec.resources.requests[storage]: is 0, but must be more than 0
            pods.yaml:7: PersistentVolumeClaim default/data: spec.storageClassName: `Fast`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
            pods.yaml:8: PersistentVolumeClaim default/data: spec.selector.matchLabels[a]: `?`: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#]],
    );
}

#[test]
fn storage_classes_must_be_right() {
    check_refused(
        &documents(
            "storage.k8s.io/v1",
            &[
                "kind: StorageClass, metadata: {name: a}, volumeBindingMode: Later",
                "kind: StorageClass, metadata: {name: b}, provisioner: a/b/c, allowedTopologies: [
                    {matchLabelExpressions: [{key: zone, values: [a, b]}]}, {matchLabelExpressions: [{key: zone, values: [b, a]}]},
                    {matchLabelExpressions: [{key: zone, values: []}, {key: zone, values: [a, a]}]}]",
            ],
        ),
        expect![[r#"
            pods.yaml:2: StorageClass a: provisioner: is missing; use `kubernetes.io/no-provisioner` for volumes that are created manually
            pods.yaml:2: StorageClass a: volumeBindingMode: is `Later`, but must be one of `Immediate`, `WaitForFirstConsumer`
            pods.yaml:4: StorageClass b: provisioner: `a/b/c`: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character
            pods.yaml:5: StorageClass b: allowedTopologies[1]: is equal to another one; remove one of them
            pods.yaml:6: StorageClass b: allowedTopologies[2].matchLabelExpressions[0].values: is empty; there must be one at least
            pods.yaml:6: StorageClass b: allowedTopologies[2].matchLabelExpressions[1].key: `zone` is a duplicate; remove one of them
            pods.yaml:6: StorageClass b: allowedTopologies[2].matchLabelExpressions[1].values[1]: `a` is a duplicate; remove one of them"#]],
    );
}

#[test]
fn objects_of_csi_drivers_must_be_right() {
    check_refused(
        &documents(
            "storage.k8s.io/v1",
            &[
                "kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: a, nodeID: x, allocatable: {count: -1}},
                    {name: a, nodeID: x}, {name: My_Driver, nodeID: x}, {name: My.Driver, nodeID: x}]}",
                "kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: '', capacity: -1",
                "kind: VolumeAttachment, metadata: {name: v}, spec: {attacher: '', nodeName: N1, source: {}}",
            ],
        ),
        expect![[r#"
            pods.yaml:2: CSINode n1: spec.drivers[0].allocatable.count: is -1, but must not be negative
            pods.yaml:3: CSINode n1: spec.drivers[1].name: `a` is a duplicate; remove one of them
            pods.yaml:3: CSINode n1: spec.drivers[2].name: `My_Driver`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
            pods.yaml:5: CSIStorageCapacity default/c: storageClassName: is missing
            pods.yaml:5: CSIStorageCapacity default/c: capacity: is -1, but must not be negative
            pods.yaml:7: VolumeAttachment v: spec.attacher: is missing
            pods.yaml:7: VolumeAttachment v: spec.nodeName: `N1`: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character
            pods.yaml:7: VolumeAttachment v: spec.source: must have either persistentVolumeName or inlineVolumeSpec"#]],
    );
}

fn resource_claim(requests: &str, more: &str) -> String {
    documents(
        "resource.k8s.io/v1",
        &[&format!(
            "kind: ResourceClaim, metadata: {{name: gpu}}, spec: {{devices: {{requests: [{requests}], {more}}}}}"
        )],
    )
}

#[test]
fn a_request_is_for_one_device_by_default() {
    let requests = "{name: a, exactly: {deviceClassName: c}}, {name: b, exactly: {deviceClassName: c, allocationMode: All}}, \
                    {name: d, firstAvailable: [{name: e, deviceClassName: c}, {name: f, deviceClassName: c, count: 2}]}";
    let object = load(&resource_claim(requests, "")).others.pop().unwrap().object;
    let AnyObject::ResourceClaim(claim) = object else { panic!("{object:?}") };
    let mut amounts = Vec::new();
    for request in claim.spec.devices.unwrap().requests.unwrap() {
        amounts.extend(request.exactly.map(|it| (it.allocation_mode.unwrap(), it.count)));
        let alternatives = request.first_available.into_iter().flatten();
        amounts.extend(alternatives.map(|it| (it.allocation_mode.unwrap(), it.count)));
    }
    let exact = |count| ("ExactCount".to_owned(), Some(count));
    assert_eq!(amounts, [exact(1), ("All".to_owned(), None), exact(1), exact(2)]);
}

#[test]
fn invalid_resource_claims_are_refused() {
    let requests = "{name: a}, {name: a, exactly: {deviceClassName: '', allocationMode: Some}}, \
                    {name: b, exactly: {deviceClassName: c, count: -1, selectors: [{}]}, firstAvailable: [{name: x, deviceClassName: c}]}, \
                    {name: d, exactly: {deviceClassName: c, allocationMode: All, count: 1, tolerations: [{effect: x}]}}";
    let more = "constraints: [{requests: [b/x, b/y]}], config: [{requests: [z]}]";
    check_refused(
        &resource_claim(requests, more),
        expect![[r#"
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[0]: has neither `exactly` nor `firstAvailable`; give one of them
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[1].name: `a` occurs twice
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[1].exactly.deviceClassName: is missing
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[1].exactly.allocationMode: is `Some`, but must be one of `ExactCount`, `All`
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[2]: has both `exactly` and `firstAvailable`; remove one of them
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[2].exactly.count: is -1, but must be more than 0
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[2].exactly.selectors[0].cel: is missing
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[3].exactly.count: must not be given with allocation mode `All`
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.requests[3].exactly.tolerations[0].effect: is `x`, but must be one of `NoSchedule`, `NoExecute`, `None`
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.constraints[0]: has neither `matchAttribute` nor `distinctAttribute`; give one of them
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.constraints[0].requests[1]: is `b/y`, but there is no such request
        pods.yaml:2: ResourceClaim default/gpu: spec.devices.config[0].requests[0]: is `z`, but there is no such request"#]],
    );
}

#[test]
fn invalid_resource_slices_are_refused() {
    let slice = |name: &str, spec: &str| format!("kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{{spec}}}");
    let pool = "driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}";
    let nowhere = slice("a", "driver: '', pool: {name: '', generation: 1, resourceSliceCount: 0}");
    let both = slice(
        "b",
        &format!(
            "{pool}, nodeName: n1, devices: [{{name: x, nodeName: n1}}, {{name: x}}], sharedCounters: [{{name: c}}]"
        ),
    );
    let devices = slice(
        "c",
        &format!(
            "{pool}, perDeviceNodeSelection: true, devices: [{{name: x, taints: [{{key: k, effect: Never}}]}}, {{name: z, allNodes: \
             true, attributes: {{l: {{ints: [1]}}, m: {{}}}}, nodeAllocatableResourceMappings: {{cpu: {{}}}}}}]"
        ),
    );
    check_refused(
        &documents("resource.k8s.io/v1", &[&nowhere, &both, &devices]),
        expect![[r#"
        pods.yaml:2: ResourceSlice a: spec.driver: is missing
        pods.yaml:2: ResourceSlice a: spec.pool.name: is missing
        pods.yaml:2: ResourceSlice a: spec.pool.resourceSliceCount: is 0, but must be more than 0
        pods.yaml:2: ResourceSlice a: spec: must have exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection`
        pods.yaml:4: ResourceSlice b: spec: must not have both `devices` and `sharedCounters`; give them in separate slices
        pods.yaml:4: ResourceSlice b: spec.devices[0]: selects nodes, but `spec.perDeviceNodeSelection` is not true
        pods.yaml:4: ResourceSlice b: spec.devices[1].name: `x` occurs twice
        pods.yaml:6: ResourceSlice c: spec.devices[0]: must have exactly one of `nodeName`, `nodeSelector` and `allNodes`
        pods.yaml:6: ResourceSlice c: spec.devices[0].taints[0].effect: is `Never`, but must be one of `NoSchedule`, `NoExecute`, `None`
        pods.yaml:6: ResourceSlice c: spec.devices[1].attributes[l]: needs the feature gate DRAListTypeAttributes, which is off by default in Kubernetes 1.36; schedc does not support it
        pods.yaml:6: ResourceSlice c: spec.devices[1].attributes[m]: must have exactly one of `int`, `bool`, `string` and `version`
        pods.yaml:6: ResourceSlice c: spec.devices[1].nodeAllocatableResourceMappings: needs the feature gate DRANodeAllocatableResources, which is off by default in Kubernetes 1.36; schedc does not support it"#]],
    );
}
