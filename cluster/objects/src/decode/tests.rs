use std::io::{BufRead, BufReader};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use k8s_openapi::jiff::Timestamp;
use schedc_core::intern::Interner;
use serde_json::{Value, json};

use super::*;
use crate::{KINDS, convert_node, convert_object, convert_pod, is_finished};

/// Decodes the selected fields of an object from JSON.
fn decode_json(value: &Value) -> AnyObject {
    let text = value.to_string();
    let kind = value["kind"].as_str().unwrap();
    KindReader::Known(kind).read_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Decodes the selected fields of an object from protobuf.
fn decode_protobuf(value: &Value) -> AnyObject {
    let bytes = encode(value).unwrap();
    let envelope = protobuf::Envelope::open(&bytes).unwrap();
    read_protobuf(envelope.kind, envelope.object).unwrap_or_else(|error| panic!("{error}\n{value}"))
}

/// Returns the model of an object as text, with all its strings. For a pod, the text also has whether it is finished.
fn model_text(object: &AnyObject) -> String {
    let interner = &mut Interner::default();
    let model = match object {
        AnyObject::Pod(pod) => format!("{} {:#?}", is_finished(pod), convert_pod(pod, interner)),
        AnyObject::Node(node) => format!("{:#?}", convert_node(node, interner)),
        other => format!("{:#?}", convert_object(other, interner)),
    };
    // The model shows symbols as numbers. The interner lists their strings, in the order of the numbers.
    format!("{model}{interner:?}")
}

/// Adds all objects of decoded kinds inside a value to `found`.
fn objects(value: &Value, found: &mut Vec<Value>) {
    if let Some(kind) = value["kind"].as_str()
        && value["apiVersion"].is_string()
        && !["PriorityClass", "ResourceClaimTemplate"].contains(&kind)
        && KINDS.contains(&kind)
    {
        found.push(value.clone());
    }
    match value {
        Value::Array(list) => list.iter().for_each(|value| objects(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| objects(value, found)),
        _ => {}
    }
}

#[test]
fn selected_fields_give_the_same_model_as_all_fields() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/corpora");
    let mut compared = 0;
    let mut kinds = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(corpora).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "gz") {
            continue;
        }
        let lines = BufReader::new(flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())).lines();
        // Every twentieth scenario is enough for the numbers of objects and kinds below.
        for line in lines.step_by(20) {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let mut found = Vec::new();
            objects(&line["scenario"], &mut found);
            for value in found {
                let kind = value["kind"].as_str().unwrap();
                let version = value["apiVersion"].as_str().unwrap();
                let complete = AnyObject::from_json(version, kind, value.clone()).unwrap().unwrap();
                assert_eq!(model_text(&decode_json(&value)), model_text(&complete), "{value}");
                assert_eq!(model_text(&decode_protobuf(&value)), model_text(&complete), "{value}");
                kinds.insert(kind.to_owned());
                compared += 1;
            }
        }
    }
    assert!(compared > 2_000, "{compared}");
    assert!(kinds.len() > 10, "{kinds:?}");
}

/// Objects of all kinds, as Kubernetes 1.36 returns them in JSON and in protobuf.
#[test]
fn recorded_objects_are_the_same_in_protobuf() {
    let mut kinds = std::collections::BTreeSet::new();
    for line in include_str!("recorded.jsonl").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let bytes = BASE64_STANDARD.decode(line["protobuf"].as_str().unwrap()).unwrap();
        let envelope = protobuf::Envelope::open(&bytes).unwrap();
        assert_eq!(envelope.kind, line["json"]["kind"]);
        let (object, by_json) = (read_protobuf(envelope.kind, envelope.object).unwrap(), decode_json(&line["json"]));
        assert_eq!(model_text(&object), model_text(&by_json));
        assert_eq!(object, by_json);
        kinds.insert(envelope.kind.to_owned());
    }
    assert_eq!(kinds.len(), 18, "{kinds:?}");
}

/// Covers every field that a conversion reads.
#[test]
fn selected_fields_are_kept() {
    for yaml in [
        "
        kind: Pod
        metadata: {name: p, namespace: ns, uid: u, labels: {a: b, c: d}, creationTimestamp: '2026-01-01T00:00:00Z',
          deletionTimestamp: '2026-01-02T00:00:00Z',
          ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: o, controller: true}]}
        spec:
          nodeName: n1
          schedulerName: s
          priority: 7
          preemptionPolicy: Never
          nodeSelector: {e: f}
          schedulingGates: [{name: g}]
          tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 1}, {key: l, value: w}]
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: a, operator: In, values: [b]}]},
                {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}
              preferredDuringSchedulingIgnoredDuringExecution: [
                {weight: 3, preference: {matchExpressions: [{key: h, operator: Gt, values: ['1']}]}}]
            podAffinity:
              requiredDuringSchedulingIgnoredDuringExecution: [
                {topologyKey: zone, namespaces: [o], labelSelector: {matchLabels: {i: j}}}]
              preferredDuringSchedulingIgnoredDuringExecution: [
                {weight: 4, podAffinityTerm: {topologyKey: rack, labelSelector: {matchLabels: {l: m}}}}]
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, namespaceSelector: {matchExpressions:
                [{key: q, operator: NotIn, values: [r]}]}, labelSelector: {}}]
              preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: {topologyKey: row}}]
          topologySpreadConstraints:
          - {maxSkew: 2, minDomains: 3, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [c],
            nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {s: t}}}
          overhead: {cpu: 1}
          hostNetwork: true
          hostUsers: false
          resources: {requests: {cpu: 2}, limits: {cpu: 3}}
          resourceClaims: [{name: a, resourceClaimName: b}, {name: c, resourceClaimTemplateName: d}]
          initContainers: [{name: i, image: x, restartPolicy: Always, resources: {requests: {cpu: 1}}}]
          containers:
          - {name: c, image: img, ports: [{containerPort: 1, hostPort: 2, hostIP: 1.2.3.4, protocol: UDP}],
            restartPolicyRules: [{action: RestartAllContainers}], env: [{name: A, value: B}]}
          volumes:
          - {name: a, persistentVolumeClaim: {claimName: c}}
          - {name: b, ephemeral: {volumeClaimTemplate: {spec: {}}}}
          - {name: c, csi: {driver: d, fsType: f}}
          - {name: d, image: {reference: r, pullPolicy: Always}}
          - {name: e, iscsi: {iqn: i, targetPortal: t, lun: 1, readOnly: true}}
          - {name: f, rbd: {monitors: [m], pool: p, image: i, readOnly: true}}
          - {name: g, gcePersistentDisk: {pdName: d, readOnly: true}}
          - {name: h, awsElasticBlockStore: {volumeID: v}}
          - {name: i, azureDisk: {diskURI: u, diskName: n1, kind: Shared}}
          - {name: j, azureFile: {secretName: s, shareName: n1}}
          - {name: k, cinder: {volumeID: v}}
          - {name: l, portworxVolume: {volumeID: v}}
          - {name: m, vsphereVolume: {volumePath: v}}
        status:
          phase: Failed
          startTime: '2026-01-01T00:00:01Z'
          nominatedNodeName: n1
          conditions:
          - {type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}
          - {type: PodResizePending, status: 'True', reason: Infeasible}
          containerStatuses: [{name: c, image: x, imageID: id, ready: true, restartCount: 0,
            resources: {requests: {cpu: 4}}, allocatedResources: {cpu: 5}}]
          initContainerStatuses: [{name: i, image: x, imageID: id, ready: true, restartCount: 0,
            resources: {requests: {cpu: 4}}, allocatedResources: {cpu: 5}}]
          resources: {requests: {cpu: 6}}
          allocatedResources: {cpu: 7}
          resourceClaimStatuses: [{name: a, resourceClaimName: b}]
          extendedResourceClaimStatus: {resourceClaimName: x, requestMappings:
            [{containerName: c, requestName: r, resourceName: s}]}",
        "
        kind: Node
        metadata: {name: n1, uid: u, labels: {a: b}, annotations: {a: b}}
        spec: {unschedulable: true, taints: [{key: a, value: b, effect: NoSchedule}]}
        status:
          allocatable: {cpu: 4, pods: '110'}
          conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-01T00:00:01Z'}]
          declaredFeatures: [A]
          images: [{names: [a], sizeBytes: 7}]",
        "
        kind: PersistentVolume
        metadata: {name: v, labels: {topology.kubernetes.io/zone: a}, deletionTimestamp: '2026-01-02T00:00:00Z',
          annotations: {volume.beta.kubernetes.io/storage-class: old}}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          volumeMode: Block
          storageClassName: new
          volumeAttributesClassName: gold
          claimRef: {namespace: a, name: b, uid: c}
          csi: {driver: d, volumeHandle: h, fsType: f}
          nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}
        status: {phase: Available}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {azureDisk: {diskURI: u, diskName: n1, kind: Managed}}}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {cinder: {volumeID: v}}}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {portworxVolume: {volumeID: v}}}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {awsElasticBlockStore: {volumeID: v}}}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {gcePersistentDisk: {pdName: d}}}",
        "
        kind: PersistentVolumeClaim
        metadata: {name: c, uid: u, deletionTimestamp: '2026-01-02T00:00:00Z',
          annotations: {pv.kubernetes.io/bind-completed: 'yes', volume.kubernetes.io/selected-node: n1},
          ownerReferences: [{apiVersion: v1, kind: Pod, name: r, uid: o, controller: true}]}
        spec: {volumeName: v, storageClassName: s, volumeAttributesClassName: g, accessModes: [ReadOnlyMany],
          volumeMode: Block, selector: {matchLabels: {a: b}}, resources: {requests: {storage: 1Gi}}}
        status: {phase: Lost}",
        "{kind: StorageClass, metadata: {name: s}, provisioner: p, volumeBindingMode: WaitForFirstConsumer,
          allowedTopologies: [{matchLabelExpressions: [{key: a, values: [b]}]}]}",
        "{kind: CSINode, metadata: {name: n1, annotations: {storage.alpha.kubernetes.io/migrated-plugins: a}},
          spec: {drivers: [{name: d, nodeID: n1, allocatable: {count: 3}}]}}",
        "{kind: CSIDriver, metadata: {name: d}, spec: {storageCapacity: true, attachRequired: true}}",
        "{kind: CSIStorageCapacity, metadata: {name: d}, storageClassName: s, nodeTopology: {matchLabels: {a: b}},
          capacity: 1Gi, maximumVolumeSize: 1Mi}",
        "{kind: CSIStorageCapacity, metadata: {name: d}, storageClassName: s, capacity: 1Gi}",
        "{kind: VolumeAttachment, metadata: {name: d}, spec: {attacher: a, nodeName: n1, source: {persistentVolumeName: v}}}",
        "{kind: PodDisruptionBudget, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, minAvailable: 1},
          status: {disruptionsAllowed: 2, disruptedPods: {a: '2026-01-01T00:00:00Z'}, currentHealthy: 1}}",
        "
        kind: ResourceClaim
        metadata: {name: d, uid: u, resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z',
          deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: [resource.kubernetes.io/delete-protection],
          annotations: {resource.kubernetes.io/extended-resource-claim: 'true'},
          ownerReferences: [{apiVersion: v1, kind: Pod, name: r, uid: o, controller: true}]}
        spec:
          devices:
            requests:
            - name: r
              exactly: {deviceClassName: c, selectors: [{cel: {expression: 'true'}}], allocationMode: ExactCount, count: 2,
                adminAccess: false, tolerations: [{key: k, operator: Exists, effect: None}],
                capacity: {requests: {a/b: 1Gi}}}
            - name: s
              firstAvailable: [{name: t, deviceClassName: c, selectors: [{cel: {expression: 'false'}}], allocationMode: All,
                tolerations: [{value: v}], capacity: {requests: {b: 2}}}, {name: u, deviceClassName: d, count: 3}]
            constraints: [{requests: [r, s/t], matchAttribute: a/b}, {distinctAttribute: c/d}]
            config: [{requests: [s], opaque: {driver: d, parameters: {any: 1}}}]
        status:
          reservedFor: [{apiGroup: g, resource: pods, name: p, uid: u}]
          allocation:
            allocationTimestamp: '2026-01-01T00:00:00Z'
            nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}
            devices:
              config: [{source: FromClass, requests: [r], opaque: {driver: d, parameters: {any: [thing, 1]}}}]
              results: [{request: r, driver: d, pool: p, device: e, adminAccess: true, shareID: s, bindingConditions: [b],
                bindingFailureConditions: [f], consumedCapacity: {memory: 1Gi},
                tolerations: [{key: k, operator: Equal, value: v, effect: NoExecute, tolerationSeconds: 2}]}]
          devices: [{driver: d, pool: p, device: e, shareID: s, data: {any: thing},
            networkData: {interfaceName: eth0, ips: [1.2.3.4/8], hardwareAddress: h},
            conditions: [{type: Ready, status: 'True', reason: r, message: m, observedGeneration: 1,
              lastTransitionTime: '2026-01-01T00:00:00Z'}]}]",
        "{kind: DeviceClass, metadata: {name: d, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {extendedResourceName: a/b,
          selectors: [{cel: {expression: 'true'}}], config: [{opaque: {driver: d, parameters: [1]}}]}}",
        "
        kind: ResourceSlice
        metadata: {name: d}
        spec:
          driver: d
          pool: {name: p, generation: 2, resourceSliceCount: 3}
          perDeviceNodeSelection: true
          sharedCounters: [{name: c, counters: {m: {value: 1Gi}}}]
          devices:
          - name: a
            attributes: {i: {int: 0}, b: {bool: false}, a/s: {string: x}, v: {version: 1.2.3}}
            capacity:
              memory: {value: 1Gi, requestPolicy: {default: 1, validValues: [1, 2]}}
              cores: {value: 5, requestPolicy: {default: 1, validRange: {min: 1, max: 4, step: 1}}}
            consumesCounters: [{counterSet: c, counters: {m: {value: 512Mi}}}]
            nodeName: n1
            taints: [{key: k, value: v, effect: NoSchedule, timeAdded: '2026-01-01T00:00:00Z'}]
            bindsToNode: true
            bindingConditions: [b]
            bindingFailureConditions: [f]
            allowMultipleAllocations: true
          - {name: b, allNodes: true}
          - {name: c, nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}",
        "{kind: ResourceSlice, metadata: {name: d}, spec: {driver: d, pool: {name: p}, nodeName: n1}}",
        "{kind: ResourceSlice, metadata: {name: d}, spec: {driver: d, pool: {name: p}, allNodes: true}}",
        "{kind: ResourceSlice, metadata: {name: d}, spec: {driver: d, pool: {name: p},
          nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}",
        "{kind: Namespace, metadata: {name: d, labels: {a: b}}, status: {phase: Active}}",
        "{kind: Service, metadata: {name: d}, spec: {selector: {a: b}, ports: [{port: 1}]}}",
        "{kind: ReplicationController, metadata: {name: d}, spec: {selector: {a: b}, replicas: 1}}",
        "{kind: ReplicaSet, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, replicas: 1}}",
        "{kind: StatefulSet, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, serviceName: s}}",
    ] {
        let complete = crate::testing::api_object(yaml);
        let value = complete.to_json().unwrap();
        assert_eq!(model_text(&decode_json(&value)), model_text(&complete), "{yaml}");
        assert_eq!(model_text(&decode_protobuf(&value)), model_text(&complete), "{yaml}");
    }
}

#[test]
fn fields_for_status_patches_are_kept() {
    let pod = decode_json(&json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "p", "generation": 3, "resourceVersion": "7", "managedFields": [{ "manager": "x" }] },
        "spec": { "containers": [{ "name": "c", "env": [{ "name": "A" }], "image": "i" }], "serviceAccount": "s" },
        "status": { "hostIP": "1.2.3.4", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "r", "message": "m", "observedGeneration": 2,
            "lastProbeTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }] },
    }));
    let AnyObject::Pod(pod) = pod else { panic!("a pod") };
    let meta = &pod.metadata;
    assert_eq!((meta.generation, meta.resource_version.as_deref()), (Some(3), Some("7")));
    assert_eq!(meta.managed_fields, None);
    let status = pod.status.as_ref().unwrap();
    let condition = &status.conditions.as_ref().unwrap()[0];
    let probed = condition.last_probe_time.as_ref().map(|time| time.0);
    assert_eq!(probed, Some("2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap()));
    assert_eq!((condition.observed_generation, condition.message.as_deref()), (Some(2), Some("m")));
    assert_eq!((&condition.last_transition_time, &status.host_ip), (&None, &None));
    let spec = pod.spec.as_ref().unwrap();
    assert_eq!((&spec.service_account, &spec.containers[0].env), (&None, &None));
    assert_eq!(spec.containers[0].image.as_deref(), Some("i"));
}

#[test]
fn null_equals_absent() {
    let absent = decode_json(&json!({ "kind": "Pod", "spec": { "containers": [{ "name": "c" }] } }));
    let null = json!({
        "kind": "Pod",
        "metadata": { "name": null, "labels": null, "creationTimestamp": null, "ownerReferences": null },
        "spec": {
            "containers": [{ "name": "c", "image": null, "resources": null, "ports": null }],
            "affinity": null, "priority": null, "nodeSelector": null, "volumes": null, "managedBy": null,
        },
        "status": null,
    });
    assert_eq!(decode_json(&null), absent);
    let no_list = json!({ "kind": "Pod", "metadata": null, "spec": { "containers": null } });
    assert_eq!(decode_json(&no_list), decode_json(&json!({ "kind": "Pod", "spec": {} })));
}

#[test]
fn malformed_objects_are_errors() {
    let error = |kind: &str, text: &str| KindReader::Known(kind).read_json(text).unwrap_err();
    assert_eq!(error("Lease", "{}").to_string(), "schedulers ignore objects of kind Lease");
    for (text, expected) in [
        ("7", "invalid type: integer `7`, expected an object at line 1 column 1"),
        ("null", "invalid type: null, expected an object at line 1 column 4"),
        (r#"{"spec":7}"#, "invalid type: integer `7`, expected an object at line 1 column 9"),
        (r#"{"spec":{"containers":7}}"#, "invalid type: integer `7`, expected a list at line 1 column 23"),
        (r#"{"spec":{"nodeSelector":[]}}"#, "invalid type: sequence, expected a map at line 1 column 24"),
        (r#"{"spec":{"nodeName":7}}"#, "invalid type: integer `7`, expected a string at line 1 column 21"),
        (r#"{"spec":{"priority":"7"}}"#, "invalid type: string \"7\", expected i32 at line 1 column 23"),
        (r#"{"spec":{"nodeName":"a"#, "EOF while parsing a string at line 1 column 22"),
        (r#"{"spec":{"serviceAccount":"a"#, "EOF while parsing a string at line 1 column 28"),
    ] {
        assert_eq!(error("Pod", text).to_string(), expected, "{text}");
    }
}
