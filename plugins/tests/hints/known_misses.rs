//! Events that make an unschedulable pod schedulable without queueing it, here as in kube-scheduler.
//! docs/differences.md lists them.

use schedc_core::events::EventResource::{
    self, CsiDriver, CsiNode, DeviceClass, Node, PersistentVolumeClaim, Pod, ResourceClaim, ResourceSlice,
    StorageClass, Wildcard,
};

use crate::hints::history::{Miss, Step, wakes};

type When = fn(&Miss) -> bool;

/// The known misses in random histories. Each has the plugin, the changed resource, and a condition.
const KNOWN: [(&str, EventResource, When); 8] = [
    ("InterPodAffinity", Node, |miss| miss.pods().any(|pod| has_terms(pod, "podAntiAffinity"))),
    ("InterPodAffinity", Pod, |miss| has_terms(&miss.pod, "podAffinity")),
    ("VolumeRestrictions", Pod, |miss| miss.old().contains("namespace: far")),
    ("NodeVolumeLimits", Node, |miss| miss.step.manifest.is_some()),
    ("NodeVolumeLimits", CsiNode, |miss| miss.step.manifest.as_ref().is_none_or(|limits| !limits.contains("count"))),
    ("NodeVolumeLimits", Pod, |miss| miss.step.manifest.is_some()),
    ("NodeVolumeLimits", StorageClass, |miss| miss.step.manifest.is_none()),
    ("VolumeBinding", CsiDriver, |_| true),
];

/// Returns whether the miss is known.
pub(crate) fn is_known(miss: &Miss) -> bool {
    KNOWN
        .iter()
        .any(|(plugin, resource, matches)| miss.by.contains(plugin) && miss.step.resource == *resource && matches(miss))
}

fn has_terms(manifest: &str, kind: &str) -> bool {
    manifest.contains(&format!("{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{"))
}

impl Miss {
    fn pods(&self) -> impl Iterator<Item = &String> {
        self.known.iter().filter(|(name, _)| name.starts_with('p')).map(|(_, manifest)| manifest)
    }

    /// Returns the object before the step.
    fn old(&self) -> &str {
        self.known.get(&self.step.name).map_or("", String::as_str)
    }
}

/// Checks that the last step makes the pod schedulable and does not queue it. A step with the manifest `-` deletes the
/// object.
fn check(pod: &str, steps: &[(EventResource, &str, &str)], rejected_by: &str) {
    let step = |&(resource, name, manifest): &(EventResource, &str, &str)| {
        let manifest = Some(manifest.to_owned()).filter(|manifest| manifest != "-");
        Step { resource, name: name.to_owned(), manifest }
    };
    let steps: Vec<Step> = steps.iter().map(step).collect();
    let (last, others) = steps.split_last().expect("a step");
    match wakes(pod, others, std::slice::from_ref(last), |_| false) {
        Err(miss) => assert!(miss.by.contains(&rejected_by), "{last:?} {:?}", miss.by),
        Ok(woken) => panic!("{last:?} has no effect, or queues the pod ({woken})"),
    }
}

const N1: &str = "{metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {pods: 9}}}";
const N2: &str = "{metadata: {name: n2, labels: {zone: b}}, status: {allocatable: {pods: 9}}}";
const CORDONED: &str =
    "{metadata: {name: n2, labels: {zone: b}}, spec: {unschedulable: true}, status: {allocatable: {pods: 9}}}";

/// Returns the manifest of a pod with required terms of one kind.
fn pod(meta: &str, node: &str, kind: &str, terms: &[&str]) -> String {
    let terms = terms.join(", ");
    format!(
        "{{metadata: {{{meta}}}, spec: {{nodeName: {node},
           affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{terms}]}}}}}}}}"
    )
}

const WEB: &str = "{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}";
const DB: &str = "{topologyKey: zone, labelSelector: {matchLabels: {app: db}}}";

#[test]
fn nodes_outside_the_anti_affinity_of_running_pods() {
    let pending = "metadata: {name: me, labels: {app: web}}";
    let neighbour = pod("name: p0", "n1", "podAntiAffinity", &[WEB]);
    let plugin = "InterPodAffinity";
    check(pending, &[(Node, "n1", N1), (Pod, "p0", &neighbour), (Node, "n2", N2)], plugin);
    let without_labels = "{metadata: {name: n1}, status: {allocatable: {pods: 9}}}";
    check(pending, &[(Node, "n1", N1), (Pod, "p0", &neighbour), (Node, "n1", without_labels)], plugin);
    // The deletion of n1 makes the pod schedulable, but only the later deletion of n1's pod queues it.
    let other_node = "{metadata: {name: n2, labels: {zone: a}}, status: {allocatable: {pods: 9}}}";
    check(pending, &[(Node, "n1", N1), (Node, "n2", other_node), (Pod, "p0", &neighbour), (Node, "n1", "-")], plugin);
}

#[test]
fn the_last_matching_pod_is_deleted_and_the_pending_pod_matches_itself() {
    let pending = pod("name: me, labels: {app: web}", "''", "podAffinity", &[WEB]);
    let web = "{metadata: {name: p0, labels: {app: web}}, spec: {nodeName: n2}}";
    let other = "{metadata: {name: p0, labels: {app: db}}, spec: {nodeName: n2}}";
    for last in ["-", other] {
        let steps = [(Node, "n1", N1), (Node, "n2", CORDONED), (Pod, "p0", web), (Pod, "p0", last)];
        check(&pending, &steps, "InterPodAffinity");
    }
}

#[test]
fn a_pod_matching_one_of_several_anti_affinity_terms_is_deleted() {
    let pending = pod("name: me", "''", "podAntiAffinity", &[WEB, DB]);
    let web = "{metadata: {name: p0, labels: {app: web}}, spec: {nodeName: n1}}";
    check(&pending, &[(Node, "n1", N1), (Pod, "p0", web), (Pod, "p0", "-")], "InterPodAffinity");
}

#[test]
fn a_pod_is_added_to_a_namespace_selected_by_labels() {
    let near =
        "{topologyKey: zone, namespaceSelector: {matchLabels: {team: x}}, labelSelector: {matchLabels: {app: web}}}";
    let pending = pod("name: me", "''", "podAffinity", &[near]);
    let web = "{metadata: {name: p0, namespace: far, labels: {app: web}}, spec: {nodeName: n1}}";
    let namespace = "{kind: Namespace, metadata: {name: far, labels: {team: x}}}";
    check(&pending, &[(Node, "n1", N1), (Wildcard, "far", namespace), (Pod, "p0", web)], "InterPodAffinity");
}

#[test]
fn a_counted_pod_is_terminating() {
    let pending = "{metadata: {name: me, labels: {app: web}}, spec: {topologySpreadConstraints: [
        {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}";
    let web = "{metadata: {name: p0, labels: {app: web}}, spec: {nodeName: n1}}";
    let terminating =
        "{metadata: {name: p0, labels: {app: web}, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {nodeName: n1}}";
    let steps = [(Node, "n1", N1), (Node, "n2", CORDONED), (Pod, "p0", web), (Pod, "p0", terminating)];
    check(pending, &steps, "PodTopologySpread");
}

#[test]
fn a_pod_of_another_namespace_releases_a_disk() {
    let pending = "{metadata: {name: me}, spec: {volumes: [{name: d, gcePersistentDisk: {pdName: disk}}]}}";
    let other = "{metadata: {name: p0, namespace: far}, spec: {nodeName: n1, volumes: [{name: d, gcePersistentDisk: {pdName: disk}}]}}";
    check(pending, &[(Node, "n1", N1), (Pod, "p0", other), (Pod, "p0", "-")], "VolumeRestrictions");
}

/// Returns the manifest of a claim of the class `fast`.
fn claim(name: &str) -> String {
    format!(
        "{{kind: PersistentVolumeClaim, metadata: {{name: {name}, uid: {name}}},
           spec: {{storageClassName: fast, resources: {{requests: {{storage: 1Gi}}}}}}}}"
    )
}

const FAST: &str =
    "{kind: StorageClass, metadata: {name: fast}, provisioner: csi, volumeBindingMode: WaitForFirstConsumer}";
const WITH_DATA: &str =
    "{metadata: {name: me}, spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: data}}]}}";

#[test]
fn a_volume_limit_is_removed() {
    let limited =
        "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: csi, nodeID: x, allocatable: {count: 1}}]}}";
    let unlimited = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: csi, nodeID: x}]}}";
    let other =
        "{metadata: {name: p0}, spec: {nodeName: n1, volumes: [{name: a, persistentVolumeClaim: {claimName: more}}]}}";
    let claims = ["data", "more"].map(claim);
    // A new node has no limits until it has a CSINode.
    for last in [(CsiNode, "csi-n1", unlimited), (CsiNode, "csi-n1", "-"), (Node, "n2", N2)] {
        let steps = [
            (StorageClass, "fast", FAST),
            (PersistentVolumeClaim, "data", claims[0].as_str()),
            (PersistentVolumeClaim, "more", claims[1].as_str()),
            (Node, "n1", N1),
            (CsiNode, "csi-n1", limited),
            (Pod, "p0", other),
            last,
        ];
        check(WITH_DATA, &steps, "NodeVolumeLimits");
    }
}

#[test]
fn a_pod_attaches_the_needed_volume_to_a_full_node() {
    let limited =
        "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: csi, nodeID: x, allocatable: {count: 1}}]}}";
    let claims = ["data", "more"].map(claim);
    let with = |name: &str, claim: &str| {
        let volume = format!("{{name: a, persistentVolumeClaim: {{claimName: {claim}}}}}");
        format!("{{metadata: {{name: {name}}}, spec: {{nodeName: n1, volumes: [{volume}]}}}}")
    };
    let steps = [
        (StorageClass, "fast", FAST),
        (PersistentVolumeClaim, "data", claims[0].as_str()),
        (PersistentVolumeClaim, "more", claims[1].as_str()),
        (Node, "n1", N1),
        (CsiNode, "csi-n1", limited),
        (Pod, "p0", &with("p0", "more")),
        // Another scheduler placed this pod, beyond the limit.
        (Pod, "p1", &with("p1", "data")),
    ];
    check(WITH_DATA, &steps, "NodeVolumeLimits");
}

#[test]
fn a_driver_stops_reporting_its_capacity() {
    let with_capacity_tracking = "{kind: CSIDriver, metadata: {name: csi}, spec: {storageCapacity: true}}";
    let without_capacity_tracking = "{kind: CSIDriver, metadata: {name: csi}, spec: {storageCapacity: false}}";
    let data = claim("data");
    for last in [without_capacity_tracking, "-"] {
        let steps = [
            (StorageClass, "fast", FAST),
            (CsiDriver, "csi", with_capacity_tracking),
            (PersistentVolumeClaim, "data", data.as_str()),
            (Node, "n1", N1),
            (CsiDriver, "csi", last),
        ];
        check(WITH_DATA, &steps, "VolumeBinding");
    }
}

#[test]
fn an_allocated_resource_claim_is_deleted() {
    let request =
        "devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}";
    let claim =
        |name: &str| format!("{{kind: ResourceClaim, metadata: {{name: {name}, uid: {name}}}, spec: {{{request}}}");
    let allocation = "allocation: {devices: {results: [{request: r, driver: d, pool: n1, device: gpu-0}]}}";
    let (mine, other) = (claim("mine") + "}", claim("other") + &format!(", status: {{{allocation}}}}}"));
    let slice = "{kind: ResourceSlice, metadata: {name: a}, spec: {driver: d, nodeName: n1,
        pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}";
    let steps = [
        (DeviceClass, "gpu", "{kind: DeviceClass, metadata: {name: gpu}, spec: {}}"),
        (ResourceSlice, "a", slice),
        (ResourceClaim, "mine", &mine),
        (ResourceClaim, "other", &other),
        (Node, "n1", N1),
        (ResourceClaim, "other", "-"),
    ];
    let pod = "{metadata: {name: me}, spec: {resourceClaims: [{name: gpu, resourceClaimName: mine}]}}";
    check(pod, &steps, "DynamicResources");
}
