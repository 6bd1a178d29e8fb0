//! Conversion of changes to events: the events have kube-scheduler's names, and the scheduler records each of them.

use schedc_core::events::{ClusterEvent, EventPod, node_changed, object_changed, pod_updated};
use schedc_core::scheduler::Change;
use schedc_objects::testing;

use crate::framework::places::scheduler::Profiles;
use crate::framework::plugins::stage::{Answer, set_answer};
use crate::framework::test_cluster::TestCluster;

/// Makes a cluster with a pod that waits in Permit: the queue keeps events for it.
fn cluster() -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    test_cluster.node("first", "");
    set_answer("A permit", Answer::Wait(600));
    test_cluster.pending("web", "");
    assert!(test_cluster.cluster.step().is_none());
    test_cluster
}

/// Applies a change, and returns the number of its events.
fn events_of(test_cluster: &mut TestCluster<Profiles>, change: Option<Change>) -> usize {
    let before = test_cluster.cluster.scheduler.in_progress().events;
    change.into_iter().for_each(|change| test_cluster.cluster.change(change));
    test_cluster.cluster.scheduler.in_progress().events - before
}

fn describe(events: impl IntoIterator<Item = ClusterEvent>) -> String {
    events.into_iter().map(|event| event.to_string()).collect::<Vec<_>>().join(" ")
}

/// The manifest of an object before the change (empty: the object is added) and after it (empty: it is removed), and
/// the names of the events.
type Row = (&'static str, &'static str, &'static str);

fn yaml<T>(manifest: &str, read: impl FnOnce(&str) -> T) -> Option<T> {
    (!manifest.is_empty()).then(|| read(manifest))
}

#[test]
fn changes_of_nodes_have_kube_schedulers_events() {
    const PLAIN: &str = "metadata: {name: m}";
    const CORDONED: &str = "{metadata: {name: m}, spec: {unschedulable: true}}";
    let rows: [Row; 15] = [
        ("", PLAIN, "NodeAdd"),
        (PLAIN, "", "NodeDelete"),
        (PLAIN, PLAIN, ""),
        (PLAIN, CORDONED, ""),
        (CORDONED, PLAIN, "NodeUpdateNodeTaint"),
        (PLAIN, "{metadata: {name: m}, status: {allocatable: {cpu: 1}}}", "NodeUpdateNodeAllocatable"),
        (PLAIN, "metadata: {name: m, labels: {a: b}}", "NodeUpdateNodeLabel"),
        (PLAIN, "{metadata: {name: m}, spec: {taints: [{key: a, effect: NoSchedule}]}}", "NodeUpdateNodeTaint"),
        (
            PLAIN,
            "{metadata: {name: m}, status: {conditions: [{type: Ready, status: 'True'}]}}",
            "NodeUpdateNodeCondition",
        ),
        (
            "{metadata: {name: m}, status: {conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z'}]}}",
            "{metadata: {name: m}, status: {conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-01T00:00:09Z'}]}}",
            "",
        ),
        (PLAIN, "metadata: {name: m, annotations: {a: b}}", "NodeUpdateNodeAnnotation"),
        (PLAIN, "{metadata: {name: m}, status: {declaredFeatures: [F]}}", "NodeUpdateNodeDeclaredFeature"),
        (PLAIN, "{metadata: {name: m}, status: {images: [{names: [i], sizeBytes: 1}]}}", ""),
        (
            PLAIN,
            "{metadata: {name: m, labels: {a: b}}, spec: {taints: [{key: a, effect: NoSchedule}]}}",
            "NodeUpdateNodeLabel NodeUpdateNodeTaint",
        ),
        (
            CORDONED,
            "{metadata: {name: m}, spec: {taints: [{key: a, effect: NoSchedule}]}}",
            "NodeUpdateNodeTaint NodeUpdateNodeTaint",
        ),
    ];
    for (old, new, expected) in rows {
        let mut test_cluster = cluster();
        let interner = test_cluster.cluster.interner();
        let name = interner.intern("m");
        let [old_node, new_node] =
            [old, new].map(|manifest| yaml(manifest, |manifest| testing::node(manifest, interner)));
        assert_eq!(describe(node_changed(old_node.as_ref(), new_node.as_ref())), expected, "{old} {new}");
        events_of(&mut test_cluster, old_node.map(Change::Node));
        let change = new_node.map_or(Change::NodeDeleted(name), Change::Node);
        assert_eq!(events_of(&mut test_cluster, Some(change)), expected.split_whitespace().count(), "{old} {new}");
    }
}

#[test]
fn changes_of_pods_have_kube_schedulers_events() {
    const ON_M: &str = "{metadata: {name: p, uid: p}, spec: {nodeName: m}}";
    const WAITS: &str = "{metadata: {name: p, uid: p}, spec: {schedulerName: binding}}";
    const NOMINATED: &str =
        "{metadata: {name: p, uid: p}, spec: {schedulerName: binding}, status: {nominatedNodeName: m}}";
    const LARGE: &str =
        "{metadata: {name: p, uid: p}, spec: {nodeName: m, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}";
    const SMALL: &str =
        "{metadata: {name: p, uid: p}, spec: {nodeName: m, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}";
    let updates: [Row; 7] = [
        (ON_M, "{metadata: {name: p, uid: p, labels: {a: b}}, spec: {nodeName: m}}", "AssignedPodUpdatePodLabel"),
        (LARGE, SMALL, "AssignedPodUpdatePodScaleDown"),
        (SMALL, LARGE, "AssignedPodUpdate"),
        (
            "{metadata: {name: p, uid: p}, spec: {nodeName: m, schedulingGates: [{name: g}]}}",
            ON_M,
            "AssignedPodUpdatePodSchedulingGatesEliminated",
        ),
        (
            ON_M,
            "{metadata: {name: p, uid: p}, spec: {nodeName: m, tolerations: [{operator: Exists}]}}",
            "AssignedPodUpdatePodToleration",
        ),
        (
            ON_M,
            "{metadata: {name: p, uid: p}, spec: {nodeName: m}, status: {resourceClaimStatuses: [{name: a, resourceClaimName: b}]}}",
            "AssignedPodUpdatePodGeneratedResourceClaim",
        ),
        (
            ON_M,
            "{metadata: {name: p, uid: p, labels: {a: b}}, spec: {nodeName: m, tolerations: [{operator: Exists}]}}",
            "AssignedPodUpdatePodLabel AssignedPodUpdatePodToleration",
        ),
    ];
    // Pods that are added to a node, or removed from it or from their nominated node; other pending pods cause no
    // events.
    let others: [Row; 8] = [
        ("", ON_M, "AssignedPodAdd"),
        (WAITS, ON_M, "AssignedPodAdd"),
        (ON_M, "", "AssignedPodDelete"),
        ("", WAITS, ""),
        (WAITS, "", ""),
        (NOMINATED, "", "AssignedPodDelete"),
        (NOMINATED, WAITS, "AssignedPodDelete"),
        ("", "{metadata: {name: p, uid: p}, spec: {schedulerName: another}}", ""),
    ];
    for (at, (old, new, expected)) in updates.into_iter().chain(others).enumerate() {
        let mut test_cluster = cluster();
        let interner = test_cluster.cluster.interner();
        let [old_pod, new_pod] = [old, new].map(|manifest| yaml(manifest, |manifest| testing::pod(manifest, interner)));
        if let (Some(old), Some(new), true) = (&old_pod, &new_pod, at < 7) {
            assert_eq!(describe(pod_updated(EventPod::new(old), EventPod::new(new))), expected, "{old:?}");
        }
        events_of(&mut test_cluster, old_pod.clone().map(Change::Pod));
        let change = match (new_pod, old_pod) {
            (Some(new), _) => Some(Change::Pod(new)),
            (None, old) => old.map(|old| Change::PodDeleted(old.uid)),
        };
        assert_eq!(events_of(&mut test_cluster, change), expected.split_whitespace().count(), "{old} {new}");
    }
}

#[test]
fn changes_of_other_objects_have_kube_schedulers_events() {
    for (kind, spec, name) in [
        ("PersistentVolume", "spec: {}", "PersistentVolume"),
        ("PersistentVolumeClaim", "spec: {}", "PersistentVolumeClaim"),
        ("StorageClass", "provisioner: p", "storage.k8s.io/StorageClass"),
        ("CSINode", "spec: {drivers: []}", "storage.k8s.io/CSINode"),
        ("CSIDriver", "spec: {}", "storage.k8s.io/CSIDriver"),
        ("CSIStorageCapacity", "storageClassName: c", "storage.k8s.io/CSIStorageCapacity"),
        ("VolumeAttachment", "spec: {attacher: a, nodeName: m, source: {}}", "storage.k8s.io/VolumeAttachment"),
        ("ResourceClaim", "spec: {}", "resource.k8s.io/ResourceClaim"),
        (
            "ResourceSlice",
            "spec: {driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}}",
            "resource.k8s.io/ResourceSlice",
        ),
        ("DeviceClass", "spec: {}", "resource.k8s.io/DeviceClass"),
        ("Namespace", "spec: {}", ""),
        ("Service", "spec: {}", ""),
        ("PodDisruptionBudget", "spec: {}", ""),
    ] {
        let mut test_cluster = cluster();
        let yaml = format!("{{kind: {kind}, metadata: {{name: o}}, {spec}}}");
        let object = testing::object(&yaml, test_cluster.cluster.interner());
        let key = object.key();
        for (old, new, action) in
            [(None, Some(&object), "Add"), (Some(&object), Some(&object), "Update"), (Some(&object), None, "Delete")]
        {
            let expected = if name.is_empty() { String::new() } else { format!("{name}{action}") };
            assert_eq!(describe(object_changed(old, new)), expected);
        }
        let events = usize::from(!name.is_empty());
        assert_eq!(events_of(&mut test_cluster, Some(Change::Object(object.clone()))), events, "{kind} is added");
        assert_eq!(events_of(&mut test_cluster, Some(Change::Object(object))), 0, "{kind} is repeated");
        assert_eq!(events_of(&mut test_cluster, Some(Change::ObjectDeleted(key))), events, "{kind} is removed");
    }
}
