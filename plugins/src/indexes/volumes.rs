//! The objects behind a pod's volumes: volumes, claims, classes, CSI drivers and CSINodes.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{
    CsiDriver, CsiNode, CsiStorageCapacity, Node, NodeIndex, Object, PersistentVolume, PersistentVolumeClaim, Pod,
    StorageClass, Volume,
};
use schedc_core::node_mask::NodeMask;
use schedc_core::quantity::Quantity;

use super::Epoch;

/// A claim's namespace and name.
pub type ClaimKey = (Symbol, Symbol);

/// Volumes by size. The name distinguishes volumes of equal size.
type BySize = BTreeMap<(Quantity, Symbol), Arc<PersistentVolume>>;

/// The objects behind a pod's volumes, as of the last event.
#[derive(Debug, Default, PartialEq)]
pub struct Volumes {
    volumes: Map<Symbol, Arc<PersistentVolume>>,
    /// Volumes without a claim, by class.
    unclaimed: Map<Symbol, BySize>,
    /// Volumes with a claim, by claim.
    claimed: Map<ClaimKey, BySize>,
    claims: Map<ClaimKey, Arc<PersistentVolumeClaim>>,
    /// For each claim, how many volumes of the pods on nodes name it.
    references: Map<ClaimKey, u32>,
    classes: Map<Symbol, Arc<StorageClass>>,
    csi_nodes: Map<Symbol, Arc<CsiNode>>,
    /// Slots of the nodes, by name.
    nodes: Map<Symbol, NodeIndex>,
    /// The nodes on which an in-tree volume plugin is migrated to CSI, by plugin. No entry is empty.
    migrated: Map<Symbol, NodeMask>,
    labels_epoch: Epoch,
    drivers: Map<Symbol, Arc<CsiDriver>>,
    /// By class, then by namespace and name.
    capacities: Map<Symbol, BTreeMap<(Symbol, Symbol), Arc<CsiStorageCapacity>>>,
}

impl Volumes {
    /// Returns the volume with this name.
    pub fn volume(&self, name: Symbol) -> Option<&Arc<PersistentVolume>> {
        self.volumes.get(&name)
    }
    /// Returns the unclaimed volumes of a class, smallest first.
    pub(crate) fn unclaimed(&self, class: Symbol) -> impl Iterator<Item = &Arc<PersistentVolume>> {
        self.unclaimed.get(&class).into_iter().flat_map(BTreeMap::values)
    }
    /// Returns the volumes that name this claim, regardless of their class, smallest first.
    pub(crate) fn claimed_by(&self, namespace: Symbol, name: Symbol) -> impl Iterator<Item = &Arc<PersistentVolume>> {
        self.claimed.get(&(namespace, name)).into_iter().flat_map(BTreeMap::values)
    }
    /// Returns the claim with this name.
    pub fn claim(&self, namespace: Symbol, name: Symbol) -> Option<&Arc<PersistentVolumeClaim>> {
        self.claims.get(&(namespace, name))
    }
    /// Returns how many volumes of the pods on nodes name a claim: the sum of kube-scheduler's `PVCRefCounts` over all
    /// nodes. Generic ephemeral volumes do not count. The claim need not exist.
    pub fn references(&self, namespace: Symbol, name: Symbol) -> u32 {
        self.references.get(&(namespace, name)).copied().unwrap_or(0)
    }
    /// Returns the storage class with this name.
    pub fn class(&self, name: Symbol) -> Option<&Arc<StorageClass>> {
        self.classes.get(&name)
    }
    /// Returns the nodes on which an in-tree volume plugin is migrated to its CSI driver; `None` if it is migrated on
    /// no node.
    pub fn migrated(&self, plugin: Symbol) -> Option<&NodeMask> {
        self.migrated.get(&plugin)
    }
    /// Returns the epoch, which changes when a node is added or removed, or when its labels change.
    pub(crate) fn labels_epoch(&self) -> &Epoch {
        &self.labels_epoch
    }
    /// Returns the CSI driver with this name.
    pub fn driver(&self, name: Symbol) -> Option<&Arc<CsiDriver>> {
        self.drivers.get(&name)
    }
    /// Returns the capacities that drivers report for a class.
    pub fn capacities(&self, class: Symbol) -> impl Iterator<Item = &Arc<CsiStorageCapacity>> {
        self.capacities.get(&class).into_iter().flat_map(BTreeMap::values)
    }

    fn insert(&mut self, object: &Object) {
        match object {
            Object::PersistentVolume(o) => {
                self.volumes.insert(o.name, o.clone());
                let list = match &o.claim {
                    Some(claim) => self.claimed.entry((claim.namespace, claim.name)).or_default(),
                    None => self.unclaimed.entry(o.class).or_default(),
                };
                list.insert((o.capacity, o.name), o.clone());
            }
            Object::PersistentVolumeClaim(o) => drop(self.claims.insert((o.namespace, o.name), o.clone())),
            Object::StorageClass(o) => drop(self.classes.insert(o.name, o.clone())),
            Object::CsiNode(o) => {
                self.csi_nodes.insert(o.name, o.clone());
                self.set_migrated(o.name, o, true);
            }
            Object::CsiDriver(o) => drop(self.drivers.insert(o.name, o.clone())),
            Object::CsiStorageCapacity(o) => {
                self.capacities.entry(o.class).or_default().insert((o.namespace, o.name), o.clone());
            }
            _ => {}
        }
    }

    fn remove(&mut self, object: &Object) {
        match object {
            Object::PersistentVolume(o) => {
                self.volumes.remove(&o.name);
                match &o.claim {
                    Some(claim) => {
                        remove_from(&mut self.claimed, (claim.namespace, claim.name), (o.capacity, o.name));
                    }
                    None => remove_from(&mut self.unclaimed, o.class, (o.capacity, o.name)),
                }
            }
            Object::PersistentVolumeClaim(o) => drop(self.claims.remove(&(o.namespace, o.name))),
            Object::StorageClass(o) => drop(self.classes.remove(&o.name)),
            Object::CsiNode(o) => {
                self.csi_nodes.remove(&o.name);
                self.set_migrated(o.name, o, false);
            }
            Object::CsiDriver(o) => drop(self.drivers.remove(&o.name)),
            Object::CsiStorageCapacity(o) => remove_from(&mut self.capacities, o.class, (o.namespace, o.name)),
            _ => {}
        }
    }
}

impl Volumes {
    /// Adds (`is_added`) or removes the migrated plugins of a CSINode, if its node exists.
    fn set_migrated(&mut self, node: Symbol, csi_node: &CsiNode, is_added: bool) {
        let Some(&slot) = self.nodes.get(&node) else { return };
        for &plugin in &csi_node.migrated_plugins {
            let nodes = self.migrated.entry(plugin).or_default();
            nodes.extend([slot]);
            if !is_added {
                nodes.remove(slot);
                nodes.trim();
                if nodes.is_empty() {
                    self.migrated.remove(&plugin);
                }
            }
        }
    }

    fn set_node_name(&mut self, index: NodeIndex, name: Symbol, exists: bool) {
        let csi_node = self.csi_nodes.get(&name).cloned();
        if exists {
            self.nodes.insert(name, index);
        }
        if let Some(csi_node) = csi_node {
            self.set_migrated(name, &csi_node, exists);
        }
        if !exists {
            self.nodes.remove(&name);
        }
    }
}

/// Removes an entry of a group. Removes the group, too, if no entry is left.
fn remove_from<G: Eq + Hash, K: Ord, V>(groups: &mut Map<G, BTreeMap<K, V>>, group: G, key: K) {
    if let Some(entries) = groups.get_mut(&group) {
        entries.remove(&key);
        if entries.is_empty() {
            groups.remove(&group);
        }
    }
}

fn named_claims(pod: &Pod) -> impl Iterator<Item = ClaimKey> {
    let namespace = pod.spec.namespace;
    pod.spec.volumes.iter().filter_map(Volume::named_claim).map(move |claim| (namespace, claim))
}

impl Index for Volumes {
    fn set_node(&mut self, index: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        match (old, new) {
            (Some(old), Some(new)) if old.labels == new.labels => return,
            (None, Some(new)) => self.set_node_name(index, new.name, true),
            (Some(old), None) => self.set_node_name(index, old.name, false),
            _ => {}
        }
        self.labels_epoch.advance();
    }

    #[inline]
    fn add_pod(&mut self, _: NodeIndex, pod: &Pod) {
        if pod.spec.volumes.is_empty() {
            return;
        }
        for claim in named_claims(pod) {
            *self.references.entry(claim).or_default() += 1;
        }
    }

    #[inline]
    fn remove_pod(&mut self, _: NodeIndex, pod: &Pod) {
        if pod.spec.volumes.is_empty() {
            return;
        }
        for claim in named_claims(pod) {
            if let Some(count) = self.references.get_mut(&claim) {
                *count -= 1;
                if *count == 0 {
                    self.references.remove(&claim);
                }
            }
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(old) = old {
            self.remove(old);
        }
        if let Some(new) = new {
            self.insert(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_objects::testing::{self, object, pod};

    use super::*;

    /// Returns a strategy for objects of several kinds with two names; the class, size, node and other fields vary.
    fn any_object() -> impl Strategy<Value = String> {
        (0..7_usize, 0..2, 0..3, 1..3).prop_map(|(kind, name, group, size)| {
            let mut annotations = String::new();
            let (kind, fields) = match kind {
                0 => {
                    let claim = if name == 0 { "" } else { ", claimRef: {namespace: ns, name: c}" };
                    let spec = format!("storageClassName: g{group}, capacity: {{storage: {size}}}");
                    ("PersistentVolume", format!("spec: {{{spec}{claim}}}"))
                }
                1 => ("PersistentVolumeClaim", format!("spec: {{storageClassName: g{group}}}")),
                2 => ("StorageClass", format!("provisioner: d{group}")),
                3 => {
                    annotations =
                        format!(", annotations: {{storage.alpha.kubernetes.io/migrated-plugins: 'p0,p{group}'}}");
                    ("CSINode", format!("spec: {{drivers: [{{name: d{group}, nodeID: w}}]}}"))
                }
                4 => ("CSIDriver", format!("spec: {{storageCapacity: {}}}", size == 1)),
                5 => ("CSIStorageCapacity", format!("storageClassName: g{group}, capacity: {size}")),
                _ => ("VolumeAttachment", format!("spec: {{attacher: d{size}, nodeName: w{group}, source: {{}}}}")),
            };
            format!("{{kind: {kind}, metadata: {{name: o{name}{annotations}}}, {fields}}}")
        })
    }

    proptest! {
        #[test]
        fn removed_objects_leave_no_trace(
            history in prop::collection::vec((any_object(), any::<bool>(), 0..8_usize), 0..40),
        ) {
            let mut interner = Interner::default();
            let mut updated = Volumes::default();
            let mut objects = BTreeMap::new();
            let mut nodes: [Option<Node>; 2] = [None, None];
            for (yaml, exists, slot) in history {
                if let Some(node) = nodes.get_mut(slot) {
                    let new = exists.then(|| testing::node(&format!("metadata: {{name: o{slot}}}"), &mut interner));
                    let old = std::mem::replace(node, new);
                    updated.set_node(NodeIndex(slot as u32), old.as_ref(), node.as_ref());
                }
                let object = object(&yaml, &mut interner);
                let key = object.key();
                let old = if exists { objects.insert(key, object) } else { objects.remove(&key) };
                updated.set_object(old.as_ref(), objects.get(&key));
                let mut rebuilt = Volumes::default();
                for (slot, node) in nodes.iter().enumerate() {
                    rebuilt.set_node(NodeIndex(slot as u32), None, node.as_ref());
                }
                objects.values().for_each(|object| rebuilt.set_object(None, Some(object)));
                prop_assert_eq!(&updated, &rebuilt);
            }
        }
    }

    #[test]
    fn volumes_of_pods_are_counted_by_claim() {
        let mut interner = Interner::default();
        let volume = |name: &str| format!("{{name: {name}, persistentVolumeClaim: {{claimName: c}}}}");
        let spec = format!("spec: {{volumes: [{}, {}, {{name: c, ephemeral: {{}}}}]}}", volume("a"), volume("b"));
        let pods = ["p1", "p2"].map(|name| pod(&format!("metadata: {{name: {name}}}\n{spec}"), &mut interner));
        let mut volumes = Volumes::default();
        let (namespace, claim) = (interner.intern("default"), interner.intern("c"));
        volumes.add_pod(NodeIndex(0), &pods[0]);
        volumes.add_pod(NodeIndex(1), &pods[1]);
        assert_eq!(volumes.references(namespace, claim), 4);
        pods.iter().for_each(|pod| volumes.remove_pod(NodeIndex(0), pod));
        assert_eq!(volumes, Volumes::default());
    }

    #[test]
    fn volumes_of_a_class_come_smallest_first() {
        let mut interner = Interner::default();
        let mut volumes = Volumes::default();
        for (name, size) in [("big", "1Ti"), ("small", "1500m"), ("middle", "2")] {
            let yaml = format!(
                "{{kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: {size}}}}}}}"
            );
            volumes.set_object(None, Some(&object(&yaml, &mut interner)));
        }
        let names: Vec<_> = volumes.unclaimed(Symbol::EMPTY).map(|v| interner.resolve(v.name)).collect();
        assert_eq!(names, ["small", "middle", "big"]);
    }
}
