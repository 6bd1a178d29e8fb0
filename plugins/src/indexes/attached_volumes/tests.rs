//! Counts after events equal counts of a rebuilt index.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schedc_core::intern::Interner;
use schedc_core::model::ObjectKey;
use schedc_core::node_mask::NodeMask;
use schedc_objects::testing::{node, object, pod};

use super::*;

/// The state of an index of two nodes, in comparable form.
#[derive(Debug, PartialEq)]
struct Facts {
    counts: BTreeMap<(Symbol, u32), (i64, Option<i64>)>,
    uses: BTreeMap<(u32, CountedVolume), u32>,
    failures: Vec<NodeIndex>,
    claims: BTreeMap<ClaimKey, Option<CountedVolume>>,
}

const NODES: u32 = 2;

impl Facts {
    fn of(index: &AttachedVolumes) -> Self {
        let mut counts = BTreeMap::new();
        let mut uses = BTreeMap::new();
        for slot in 0..NODES {
            let node = NodeIndex(slot);
            for driver in index.limits.names() {
                let nodes = index.driver(driver).unwrap();
                let count = (nodes.attached(node), nodes.limit(node));
                for additional in [1, 2, 4, 5] {
                    let mut full = NodeMask::default();
                    full.resize(NODES as usize);
                    nodes.add_full_nodes(additional, &mut full);
                    assert_eq!(full.contains(node), count.1.is_some_and(|limit| count.0 + additional > limit));
                }
                if count != (0, None) {
                    counts.insert((driver, slot), count);
                }
            }
            for (volume, count) in index.nodes.get(node.get()).iter().flat_map(|entry| &entry.used) {
                uses.insert((slot, *volume), *count);
                assert!(index.users(volume).contains(&node));
            }
        }
        assert_eq!(index.users.values().map(|nodes| nodes.len()).sum::<usize>(), uses.len());
        let known = index.claims.iter().filter(|(_, entry)| entry.claim.is_some());
        Facts {
            counts,
            uses,
            failures: index.nodes_with_failures().collect(),
            claims: known.map(|(key, entry)| (*key, entry.counted)).collect(),
        }
    }
}

/// The current objects, and the index that received all events.
#[derive(Default)]
struct TestCluster {
    interner: Interner,
    index: AttachedVolumes,
    nodes: [Option<Node>; NODES as usize],
    pods: BTreeMap<(usize, usize), Pod>,
    objects: BTreeMap<ObjectKey, Object>,
}

impl TestCluster {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Node(slot) => {
                let pods: Vec<_> = self.pods.keys().copied().filter(|(at, _)| at == slot).collect();
                pods.iter()
                    .for_each(|key| self.index.remove_pod(NodeIndex(*slot as u32), &self.pods.remove(key).unwrap()));
                let new = match &self.nodes[*slot] {
                    Some(_) => None,
                    None => Some(node(&format!("metadata: {{name: n{slot}}}"), &mut self.interner)),
                };
                let old = std::mem::replace(&mut self.nodes[*slot], new);
                self.index.set_node(NodeIndex(*slot as u32), old.as_ref(), self.nodes[*slot].as_ref());
            }
            Event::Pod(slot, name, volumes) => {
                if self.nodes[*slot].is_none() {
                    return;
                }
                let index = NodeIndex(*slot as u32);
                if let Some(pod) = self.pods.remove(&(*slot, *name)) {
                    self.index.remove_pod(index, &pod);
                    return;
                }
                let yaml = format!("{{metadata: {{name: p{name}}}, spec: {{volumes: [{}]}}}}", volumes.join(", "));
                let pod = pod(&yaml, &mut self.interner);
                self.index.add_pod(index, &pod);
                self.pods.insert((*slot, *name), pod);
            }
            Event::Object(yaml, is_added) => {
                let object = object(yaml, &mut self.interner);
                let key = object.key();
                let old = if *is_added { self.objects.insert(key, object) } else { self.objects.remove(&key) };
                self.index.set_object(old.as_ref(), self.objects.get(&key));
            }
        }
    }

    /// Rebuilds the index with pods first or with objects first.
    fn rebuilt(&self, objects_first: bool) -> AttachedVolumes {
        let mut index = AttachedVolumes::default();
        let objects = |index: &mut AttachedVolumes| {
            self.objects.values().for_each(|object| index.set_object(None, Some(object)));
        };
        if objects_first {
            objects(&mut index);
        }
        for (slot, node) in self.nodes.iter().enumerate() {
            index.set_node(NodeIndex(slot as u32), None, node.as_ref());
        }
        for ((slot, _), pod) in &self.pods {
            index.add_pod(NodeIndex(*slot as u32), pod);
        }
        if !objects_first {
            objects(&mut index);
        }
        index
    }
}

#[derive(Clone, Debug)]
enum Event {
    /// A node is added, or removed with its pods.
    Node(usize),
    /// A pod is added to a node, or removed.
    Pod(usize, usize, Vec<String>),
    /// An object is added, changed or removed.
    Object(String, bool),
}

fn any_volume() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..3).prop_map(|claim| format!("{{name: v, persistentVolumeClaim: {{claimName: c{claim}}}}}")),
        Just("{name: v, persistentVolumeClaim: {claimName: ''}}".to_owned()),
        Just("{name: v, ephemeral: {}}".to_owned()),
        (0..2).prop_map(|disk| format!("{{name: v, gcePersistentDisk: {{pdName: d{disk}}}}}")),
        Just("{name: v, awsElasticBlockStore: {volumeID: 'aws://z/x'}}".to_owned()),
    ]
}

fn any_object() -> impl Strategy<Value = String> {
    let claim = (0..4, 0..3, 0..3, any::<bool>()).prop_map(|(claim, volume, class, owned)| {
        let name = if claim == 3 { "p0-v".to_owned() } else { format!("c{claim}") };
        let owner = "ownerReferences: [{apiVersion: v1, kind: Pod, name: p0, uid: default/p0, controller: true}]";
        let owner = if owned { owner } else { "labels: {}" };
        let volume = if volume == 2 { "''".to_owned() } else { format!("v{volume}") };
        format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: {name}, {owner}}}, spec: {{volumeName: {volume}, storageClassName: s{class}}}}}"
        )
    });
    let volume = (0..2, 0..3).prop_map(|(volume, source)| {
        let source = match source {
            0 => "csi: {driver: d0, volumeHandle: h0}",
            1 => "csi: {driver: d1, volumeHandle: h1}",
            _ => "gcePersistentDisk: {pdName: d0}",
        };
        format!("{{kind: PersistentVolume, metadata: {{name: v{volume}}}, spec: {{{source}}}}}")
    });
    let class = (0..2, 0..2).prop_map(|(class, driver)| {
        format!("{{kind: StorageClass, metadata: {{name: s{class}}}, provisioner: d{driver}}}")
    });
    let csi_node = (0..2, 0..2, 0..3).prop_map(|(node, driver, limit)| {
        let drivers =
            format!("{{name: d{driver}, nodeID: x, allocatable: {{count: {limit}}}}}, {{name: d9, nodeID: x}}");
        format!("{{kind: CSINode, metadata: {{name: n{node}}}, spec: {{drivers: [{drivers}]}}}}")
    });
    let attachment = (0..3, 0..2, 0..2, 0..2).prop_map(|(name, driver, node, volume)| {
        let spec = format!("{{attacher: d{driver}, nodeName: n{node}, source: {{persistentVolumeName: v{volume}}}}}");
        format!("{{kind: VolumeAttachment, metadata: {{name: a{name}}}, spec: {spec}}}")
    });
    prop_oneof![3 => claim, 2 => volume, 1 => class, 1 => csi_node, 2 => attachment]
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => (0..NODES as usize).prop_map(Event::Node),
        4 => (0..NODES as usize, 0..2_usize, prop::collection::vec(any_volume(), 0..4))
            .prop_map(|(slot, name, volumes)| Event::Pod(slot, name, volumes)),
        6 => (any_object(), prop::bool::weighted(0.7)).prop_map(|(yaml, is_added)| Event::Object(yaml, is_added)),
    ]
}

proptest! {
    #[test]
    fn counts_follow_events(history in prop::collection::vec(any_event(), 0..60)) {
        let mut cluster = TestCluster::default();
        (0..NODES as usize).for_each(|slot| cluster.apply(&Event::Node(slot)));
        for event in &history {
            cluster.apply(event);
            let facts = Facts::of(&cluster.index);
            prop_assert_eq!(&facts, &Facts::of(&cluster.rebuilt(true)));
            prop_assert_eq!(&facts, &Facts::of(&cluster.rebuilt(false)));
        }
    }
}

#[test]
fn deleting_everything_leaves_nothing() {
    let mut cluster = TestCluster::default();
    let volume = "{name: v, persistentVolumeClaim: {claimName: c}}".to_owned();
    let objects = [
        "{kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: v}}",
        "{kind: PersistentVolume, metadata: {name: v}, spec: {csi: {driver: d, volumeHandle: h}}}",
        "{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n0, source: {persistentVolumeName: v}}}",
        "{kind: CSINode, metadata: {name: n0}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 1}}]}}",
    ];
    cluster.apply(&Event::Node(0));
    cluster.apply(&Event::Pod(0, 0, vec![volume.clone()]));
    objects.iter().for_each(|object| cluster.apply(&Event::Object((*object).to_owned(), true)));
    let driver = cluster.interner.intern("d");
    let nodes = cluster.index.driver(driver).unwrap();
    assert_eq!((nodes.attached(NodeIndex(0)), nodes.limit(NodeIndex(0))), (1, Some(1)));
    objects.iter().for_each(|object| cluster.apply(&Event::Object((*object).to_owned(), false)));
    cluster.apply(&Event::Node(0));
    let index = &cluster.index;
    assert!(index.claims.is_empty() && index.volumes.is_empty() && index.named.is_empty());
    assert_eq!(Facts::of(index), Facts::of(&AttachedVolumes::default()));
}

#[test]
fn a_claim_has_memory_for_its_first_pod() {
    let mut interner = Interner::default();
    let claim = object("kind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default}", &mut interner);
    let mut index = AttachedVolumes::default();
    index.set_object(None, Some(&claim));
    assert!(index.claims.values().all(|entry| entry.uses.capacity() > 0) && index.claims.len() == 1);
}
