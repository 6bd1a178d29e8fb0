//! Hints for changes of volumes, of the objects that they depend on, and of their pods.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use schedc_core::events::EventResource;

use crate::hints::history::{Step, wakes};
use crate::hints::known_misses::is_known;

/// A manifest with variable parts: words in capitals in `fixed` are placeholders for their values in `changing`.
#[derive(Clone, Debug)]
struct Template {
    resource: EventResource,
    name: String,
    fixed: String,
    changing: Vec<(&'static str, &'static str)>,
}

impl Template {
    fn manifest(&self) -> String {
        let parts = self.changing.iter();
        let filled = parts.fold(self.fixed.clone(), |text, (part, value)| text.replace(part, value));
        filled.replace("NAME", &self.name)
    }
}

fn template(
    resource: EventResource,
    name: impl Strategy<Value = &'static str>,
    fixed: impl Strategy<Value = String>,
    changing: impl Strategy<Value = Vec<(&'static str, &'static str)>>,
) -> impl Strategy<Value = Template> {
    let parts = (name, fixed, changing);
    parts.prop_map(move |(name, fixed, changing)| Template { resource, name: name.to_owned(), fixed, changing })
}

fn part(part: &'static str, values: &[&'static str]) -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    select(values.to_vec()).prop_map(move |value| vec![(part, value)])
}

fn parts(
    a: impl Strategy<Value = Vec<(&'static str, &'static str)>>,
    b: impl Strategy<Value = Vec<(&'static str, &'static str)>>,
) -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    (a, b).prop_map(|(a, b)| [a, b].concat())
}

fn text(text: &'static str) -> impl Strategy<Value = String> {
    Just(text.to_owned())
}

fn any_object() -> impl Strategy<Value = Template> {
    let node = template(
        EventResource::Node,
        select(vec!["n0", "n1"]),
        text(NODE),
        part("ZONE", &["topology.kubernetes.io/zone: a", "topology.kubernetes.io/zone: b", ""]),
    );
    let limits = template(
        EventResource::CsiNode,
        select(vec!["n0", "n1"]),
        text(LIMITS),
        parts(
            part("LIMIT", &["allocatable: {count: 1}", "allocatable: {count: 2}", ""]),
            part("MIGRATED", &["", "storage.alpha.kubernetes.io/migrated-plugins: kubernetes.io/gce-pd"]),
        ),
    );
    let reach = select(vec![
        "",
        "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
           {key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}, ",
    ]);
    let volume = (reach, select(vec!["fast", "slow", "''"])).prop_map(|(reach, class)| {
        format!(
            "{{kind: PersistentVolume, metadata: {{name: NAME, labels: {{LABEL}}}}, status: {{phase: Available}},
               spec: {{{reach}CLAIM storageClassName: {class}, capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce],
               csi: {{driver: csi, volumeHandle: NAME}}}}}}"
        )
    });
    let volume = template(
        EventResource::PersistentVolume,
        select(vec!["v-data", "v-more", "v-me-own"]),
        volume,
        parts(
            part("LABEL", &["", "topology.kubernetes.io/zone: a", "topology.kubernetes.io/zone: b"]),
            part("CLAIM", &["", "claimRef: {name: data, namespace: default, uid: data},"]),
        ),
    );
    let claim = (select(vec!["fast", "slow", "''", "missing"]), select(vec!["ReadWriteOnce", "ReadWriteOncePod"]));
    let claim = claim.prop_map(|(class, mode)| {
        format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: NAME, uid: NAME,
               ownerReferences: [{{apiVersion: v1, kind: Pod, name: me, uid: me, controller: true}}],
               annotations: {{pv.kubernetes.io/bind-completed: ''}}}}, spec: {{VOLUME accessModes: [{mode}],
               storageClassName: {class}, resources: {{requests: {{storage: 1Gi}}}}}}}}"
        )
    });
    let claim = template(
        EventResource::PersistentVolumeClaim,
        select(vec!["data", "more", "me-own"]),
        claim,
        part("VOLUME", &["", "volumeName: v-NAME,"]),
    );
    let class = template(
        EventResource::StorageClass,
        select(vec!["fast", "slow"]),
        select(vec!["Immediate", "WaitForFirstConsumer", "WaitForFirstConsumer"]).prop_map(|mode| {
            format!(
                "{{kind: StorageClass, metadata: {{name: NAME}}, provisioner: csi, volumeBindingMode: {mode},
                   allowedTopologies: [TOPOLOGY]}}"
            )
        }),
        part("TOPOLOGY", &["", "{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}"]),
    );
    let driver = template(
        EventResource::CsiDriver,
        Just("csi"),
        text("{kind: CSIDriver, metadata: {name: NAME}, spec: {storageCapacity: CAPACITY}}"),
        part("CAPACITY", &["true", "false"]),
    );
    let capacity = template(
        EventResource::CsiStorageCapacity,
        select(vec!["c0", "c1"]),
        select(vec!["fast", "slow"]).prop_map(|class| {
            format!(
                "{{kind: CSIStorageCapacity, metadata: {{name: NAME}}, storageClassName: {class}, capacity: CAPACITY,
                   nodeTopology: {{}}}}"
            )
        }),
        part("CAPACITY", &["1Mi", "1Gi", "2Gi"]),
    );
    let pod = (select(vec!["n0", "n1"]), select(vec!["default", "default", "default", "far"]), pod_volumes());
    let pod = pod.prop_map(|(node, namespace, volumes)| {
        format!("{{metadata: {{name: NAME, uid: NAME, namespace: {namespace}}}, spec: {{nodeName: {node}, volumes: [{volumes}]}}}}")
    });
    let pod = template(EventResource::Pod, select(vec!["p0", "p1"]), pod, Just(Vec::new()));
    prop_oneof![node, limits, volume, claim, class, driver, capacity, pod]
}

fn pod_volumes() -> impl Strategy<Value = String> {
    let volume = select(vec![
        "{name: a, persistentVolumeClaim: {claimName: data}}",
        "{name: b, persistentVolumeClaim: {claimName: more}}",
        "{name: own, ephemeral: {}}",
        "{name: d, gcePersistentDisk: {pdName: disk}}",
    ]);
    prop::collection::btree_set(volume, 1..3).prop_map(|volumes| volumes.into_iter().collect::<Vec<_>>().join(", "))
}

/// Generates steps that an API server and its controllers permit: immutable fields do not change, a bound claim
/// stays bound, claims and volumes are not deleted because they may be in use, and pods are deleted before their node.
fn steps(change: Vec<(Template, bool)>) -> Vec<Step> {
    let mut existing: BTreeMap<(EventResource, String), Template> = BTreeMap::new();
    let mut steps = Vec::new();
    for (mut new, is_deletion) in change {
        let key = (new.resource, new.name.clone());
        let old = existing.remove(&key);
        let step = |of: &Template, manifest| Step { resource: of.resource, name: of.key(), manifest };
        let is_permanent =
            matches!(new.resource, EventResource::PersistentVolumeClaim | EventResource::PersistentVolume);
        if is_deletion && !is_permanent {
            if new.resource == EventResource::Node {
                let assignment = format!("nodeName: {},", new.name);
                for (_, pod) in existing.extract_if(.., |_, pod| pod.fixed.contains(&assignment)) {
                    steps.push(step(&pod, None));
                }
            }
            steps.push(step(&new, None));
            continue;
        }
        if let Some(old) = old {
            let is_bound = old.resource == EventResource::PersistentVolumeClaim && !old.changing[0].1.is_empty();
            new.fixed = old.fixed;
            if is_bound {
                new.changing = old.changing;
            }
        }
        steps.push(step(&new, Some(new.manifest())));
        existing.insert(key, new);
    }
    steps
}

impl Template {
    /// Returns a name that is unique among all kinds. The name of a CSINode gets a prefix, because it is the name of
    /// its node.
    fn key(&self) -> String {
        match self.resource {
            EventResource::CsiNode => format!("csi-{}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// Returns most of the objects that a pod requires, among them a node with an attach limit, and bound claims.
fn base() -> Vec<(Template, bool)> {
    let of = |resource, name: &str, fixed: &str, changing: &[(&'static str, &'static str)]| {
        (Template { resource, name: name.to_owned(), fixed: fixed.to_owned(), changing: changing.to_vec() }, false)
    };
    let volume =
        "{kind: PersistentVolume, metadata: {name: NAME, labels: {LABEL}}, spec: {CLAIM storageClassName: fast,
        capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: csi, volumeHandle: NAME}}}";
    let claim = "{kind: PersistentVolumeClaim, metadata: {name: NAME, uid: NAME, annotations: {pv.kubernetes.io/bind-completed: ''}},
        spec: {VOLUME accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}";
    let in_b = [("LABEL", "topology.kubernetes.io/zone: b"), ("CLAIM", "")];
    let anywhere = [("LABEL", ""), ("CLAIM", "")];
    let bound = [("VOLUME", "volumeName: v-NAME,")];
    vec![
        of(EventResource::Node, "n0", NODE, &[("ZONE", "topology.kubernetes.io/zone: a")]),
        of(EventResource::CsiNode, "n0", LIMITS, &[("LIMIT", "allocatable: {count: 1}"), ("MIGRATED", "")]),
        of(EventResource::PersistentVolume, "v-data", volume, &in_b),
        of(EventResource::PersistentVolume, "v-more", volume, &anywhere),
        of(EventResource::PersistentVolumeClaim, "data", claim, &bound),
        of(EventResource::PersistentVolumeClaim, "more", claim, &bound),
        of(EventResource::Pod, "p0", RUNNING, &[]),
    ]
}

const NODE: &str = "{metadata: {name: NAME, labels: {ZONE}}, status: {allocatable: {pods: 9}}}";
const LIMITS: &str = "{kind: CSINode, metadata: {name: NAME, annotations: {MIGRATED}}, spec: {drivers: [{name: csi, nodeID: x, LIMIT}]}}";
const RUNNING: &str = "{metadata: {name: NAME, uid: NAME, namespace: default}, spec: {nodeName: n0, volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}]}}";

proptest! {
    #[test]
    fn hints_for_volumes_are_complete(
        volumes in pod_volumes(),
        begins_with_base in any::<bool>(),
        change in prop::collection::vec((any_object(), prop::bool::weighted(0.2)), 12..40),
    ) {
        let pod = format!("{{metadata: {{name: me, uid: me}}, spec: {{volumes: [{volumes}]}}}}");
        let (mut changes, initial) = if begins_with_base { (base(), 7) } else { (Vec::new(), 10) };
        changes.extend(change);
        let steps = steps(changes);
        let (initial, steps) = steps.split_at(initial.min(steps.len()));
        let wakes = wakes(&pod, initial, steps, is_known);
        prop_assert!(wakes.is_ok(), "{wakes:#?}");
    }
}
