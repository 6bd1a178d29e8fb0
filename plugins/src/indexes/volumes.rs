//! Volumes, claims, and what CSI drivers say of themselves: the objects behind a pod's volumes.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{
    CsiDriver, CsiNode, CsiStorageCapacity, NodeIndex, Object, PersistentVolume, PersistentVolumeClaim, Pod,
    StorageClass, Volume,
};
use schedc_core::quantity::Quantity;

/// A claim's namespace and name.
pub type ClaimKey = (Symbol, Symbol);

/// The objects behind a pod's volumes, as of the last event.
#[derive(Debug, Default, PartialEq)]
pub struct Volumes {
    volumes: Map<Symbol, Arc<PersistentVolume>>,
    /// By class, then by size; the name keeps volumes of one size apart.
    by_class: Map<Symbol, BTreeMap<(Quantity, Symbol), Arc<PersistentVolume>>>,
    claims: Map<ClaimKey, Arc<PersistentVolumeClaim>>,
    /// How many volumes of running pods name a claim.
    references: Map<ClaimKey, u32>,
    classes: Map<Symbol, Arc<StorageClass>>,
    csi_nodes: Map<Symbol, Arc<CsiNode>>,
    drivers: Map<Symbol, Arc<CsiDriver>>,
    /// By class, then by namespace and name.
    capacities: Map<Symbol, BTreeMap<(Symbol, Symbol), Arc<CsiStorageCapacity>>>,
}

impl Volumes {
    /// The volume of that name.
    pub fn volume(&self, name: Symbol) -> Option<&Arc<PersistentVolume>> {
        self.volumes.get(&name)
    }
    /// The volumes of a class, smallest first.
    pub fn volumes_of_class(&self, class: Symbol) -> impl Iterator<Item = &Arc<PersistentVolume>> {
        self.by_class.get(&class).into_iter().flat_map(BTreeMap::values)
    }
    /// The claim of that name.
    pub fn claim(&self, namespace: Symbol, name: Symbol) -> Option<&Arc<PersistentVolumeClaim>> {
        self.claims.get(&(namespace, name))
    }
    /// How many volumes of pods on nodes name a claim, claims of generic ephemeral volumes left out: kube-scheduler's
    /// `PVCRefCounts` over all nodes. The claim need not exist.
    pub fn references(&self, namespace: Symbol, name: Symbol) -> u32 {
        self.references.get(&(namespace, name)).copied().unwrap_or(0)
    }
    /// The storage class of that name.
    pub fn class(&self, name: Symbol) -> Option<&Arc<StorageClass>> {
        self.classes.get(&name)
    }
    /// All CSINodes, in no particular order.
    pub fn csi_nodes(&self) -> impl Iterator<Item = &Arc<CsiNode>> {
        self.csi_nodes.values()
    }
    /// The CSI driver of that name.
    pub fn driver(&self, name: Symbol) -> Option<&Arc<CsiDriver>> {
        self.drivers.get(&name)
    }
    /// The room that drivers report for a class.
    pub fn capacities(&self, class: Symbol) -> impl Iterator<Item = &Arc<CsiStorageCapacity>> {
        self.capacities.get(&class).into_iter().flat_map(BTreeMap::values)
    }

    fn insert(&mut self, object: &Object) {
        match object {
            Object::PersistentVolume(o) => {
                self.volumes.insert(o.name, o.clone());
                self.by_class.entry(o.class).or_default().insert((o.capacity, o.name), o.clone());
            }
            Object::PersistentVolumeClaim(o) => drop(self.claims.insert((o.namespace, o.name), o.clone())),
            Object::StorageClass(o) => drop(self.classes.insert(o.name, o.clone())),
            Object::CsiNode(o) => drop(self.csi_nodes.insert(o.name, o.clone())),
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
                remove_from(&mut self.by_class, o.class, (o.capacity, o.name));
            }
            Object::PersistentVolumeClaim(o) => drop(self.claims.remove(&(o.namespace, o.name))),
            Object::StorageClass(o) => drop(self.classes.remove(&o.name)),
            Object::CsiNode(o) => drop(self.csi_nodes.remove(&o.name)),
            Object::CsiDriver(o) => drop(self.drivers.remove(&o.name)),
            Object::CsiStorageCapacity(o) => remove_from(&mut self.capacities, o.class, (o.namespace, o.name)),
            _ => {}
        }
    }
}

/// Removes an entry of a group, and the group if nothing is left of it.
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
    fn add_pod(&mut self, _: NodeIndex, pod: &Pod) {
        for claim in named_claims(pod) {
            *self.references.entry(claim).or_default() += 1;
        }
    }

    fn remove_pod(&mut self, _: NodeIndex, pod: &Pod) {
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
    use schedc_objects::testing::{object, pod};

    use super::*;

    /// Some object of one of six names; the class, size, node and so on vary.
    fn any_object() -> impl Strategy<Value = String> {
        (0..7_usize, 0..2, 0..3, 1..3).prop_map(|(kind, name, group, size)| {
            let (kind, rest) = match kind {
                0 => {
                    ("PersistentVolume", format!("spec: {{storageClassName: g{group}, capacity: {{storage: {size}}}}}"))
                }
                1 => ("PersistentVolumeClaim", format!("spec: {{storageClassName: g{group}}}")),
                2 => ("StorageClass", format!("provisioner: d{group}")),
                3 => ("CSINode", format!("spec: {{drivers: [{{name: d{group}, nodeID: w}}]}}")),
                4 => ("CSIDriver", format!("spec: {{storageCapacity: {}}}", size == 1)),
                5 => ("CSIStorageCapacity", format!("storageClassName: g{group}, capacity: {size}")),
                _ => ("VolumeAttachment", format!("spec: {{attacher: d{size}, nodeName: w{group}, source: {{}}}}")),
            };
            format!("{{kind: {kind}, metadata: {{name: o{name}}}, {rest}}}")
        })
    }

    proptest! {
        #[test]
        fn objects_come_change_and_go_without_a_trace(
            history in prop::collection::vec((any_object(), any::<bool>()), 0..40),
        ) {
            let mut interner = Interner::default();
            let mut kept = Volumes::default();
            let mut objects = BTreeMap::new();
            for (yaml, is_there) in history {
                let object = object(&yaml, &mut interner);
                let key = object.key();
                let old = if is_there { objects.insert(key, object) } else { objects.remove(&key) };
                kept.set_object(old.as_ref(), objects.get(&key));
                let mut rebuilt = Volumes::default();
                objects.values().for_each(|object| rebuilt.set_object(None, Some(object)));
                prop_assert_eq!(&kept, &rebuilt);
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
        let names: Vec<_> = volumes.volumes_of_class(Symbol::EMPTY).map(|v| interner.resolve(v.name)).collect();
        assert_eq!(names, ["small", "middle", "big"]);
    }
}
