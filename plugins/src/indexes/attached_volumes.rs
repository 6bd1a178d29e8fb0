//! CSI volumes attached to each node, and their limits.

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{CsiVolume, Node, NodeIndex, Object, PersistentVolumeClaim, Pod, Volume};
use smallvec::SmallVec;

mod attachments;
mod claims;
mod limits;

use attachments::NodeNameState;
use claims::{ClaimEntry, ClaimKey, ClaimUse, VolumeEntry};
pub use limits::DriverNodes;
use limits::Limits;

/// A volume that counts against the limit of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CountedVolume {
    /// An existing volume.
    Csi(CsiVolume),
    /// The volume of an unbound claim, which the driver of the claim's class will provision.
    Unbound {
        /// Name of the driver.
        driver: Symbol,
        /// Namespace of the claim.
        namespace: Symbol,
        /// Name of the claim.
        claim: Symbol,
    },
}

impl CountedVolume {
    /// Returns the driver whose limit applies to this volume.
    pub fn driver(&self) -> Symbol {
        match *self {
            CountedVolume::Csi(CsiVolume { driver, .. }) | CountedVolume::Unbound { driver, .. } => driver,
        }
    }
}

/// The counts that NodeVolumeLimits reads. Claims, volumes, classes and attachments may arrive before or
/// after the pods and nodes that refer to them; each event updates the counts.
#[derive(Debug, Default)]
pub struct AttachedVolumes {
    /// By namespace and name.
    claims: Map<ClaimKey, ClaimEntry>,
    /// By name.
    volumes: Map<Symbol, VolumeEntry>,
    /// The driver that provisions the volumes of a class, by class.
    drivers_of_classes: Map<Symbol, Symbol>,
    /// By node slot.
    nodes: Vec<NodeEntry>,
    /// Nodes by name, including nodes that objects name but that do not exist.
    named: Map<Symbol, NodeNameState>,
    limits: Limits,
    /// Number of nodes whose pods have uncountable volumes.
    nodes_with_failures: usize,
    /// For each volume, the nodes with pods that use it, each once. No entry is empty.
    users: Map<CountedVolume, SmallVec<[NodeIndex; 2]>>,
}

#[derive(Debug)]
struct NodeEntry {
    /// Empty in a slot without a node.
    name: Symbol,
    /// Number of uses of each volume by the node's pods.
    used: Map<CountedVolume, u32>,
    /// Number of volumes that cannot be counted, because their claim or in-tree source is invalid.
    failures: u32,
}

impl AttachedVolumes {
    /// Returns the claim with this name.
    pub fn claim(&self, namespace: Symbol, name: Symbol) -> Option<&PersistentVolumeClaim> {
        self.claims.get(&(namespace, name))?.claim.as_deref()
    }

    /// Returns the volume that a claim counts as (`getCSIDriverInfo`); `None` if it does not count.
    pub fn counted(&self, namespace: Symbol, claim: Symbol) -> Option<CountedVolume> {
        self.claims.get(&(namespace, claim))?.counted
    }

    /// Returns a driver's limits and numbers of volumes on all nodes.
    pub fn driver(&self, driver: Symbol) -> Option<&DriverNodes> {
        self.limits.driver(driver)
    }

    /// Returns whether the node has a CSINode.
    pub(crate) fn has_csi_node(&self, node: NodeIndex) -> bool {
        self.named(node).is_some_and(|named| named.csi.is_some())
    }

    /// Returns whether any driver has a limit on the node.
    pub fn is_limited(&self, node: NodeIndex) -> bool {
        let csi = self.named(node).and_then(|named| named.csi.as_ref());
        csi.is_some_and(|csi| csi.drivers.iter().any(|(_, limit)| limit.is_some()))
    }

    /// Returns whether any driver has a limit on any node.
    pub(crate) fn any_limit(&self) -> bool {
        self.limits.any()
    }

    /// Returns how often the pods of a node use a volume.
    pub fn uses(&self, node: NodeIndex, volume: &CountedVolume) -> u32 {
        self.nodes.get(node.get()).and_then(|entry| entry.used.get(volume)).copied().unwrap_or(0)
    }

    /// Returns the nodes with pods that use the volume, each once.
    pub fn users(&self, volume: &CountedVolume) -> &[NodeIndex] {
        self.users.get(volume).map_or(&[], |nodes| nodes)
    }

    /// Returns whether a VolumeAttachment attaches the volume to the node.
    pub(crate) fn has_attachment(&self, node: NodeIndex, volume: &CountedVolume) -> bool {
        self.named(node).is_some_and(|named| named.attached.contains_key(volume))
    }

    /// Returns whether the node has pods with uncountable volumes.
    pub(crate) fn has_failures(&self, node: NodeIndex) -> bool {
        self.nodes.get(node.get()).is_some_and(|entry| entry.failures > 0)
    }

    /// Returns whether any node has pods with uncountable volumes.
    pub(crate) fn any_failures(&self) -> bool {
        self.nodes_with_failures > 0
    }

    /// Returns the nodes with pods with uncountable volumes.
    pub(crate) fn nodes_with_failures(&self) -> impl Iterator<Item = NodeIndex> {
        let any = if self.nodes_with_failures > 0 { &self.nodes[..] } else { &[] };
        any.iter().enumerate().filter(|(_, entry)| entry.failures > 0).map(|(slot, _)| NodeIndex(slot as u32))
    }

    fn named(&self, node: NodeIndex) -> Option<&NodeNameState> {
        self.named.get(&self.nodes.get(node.get())?.name)
    }

    fn use_volume(&mut self, node: NodeIndex, volume: CountedVolume, times: u32) {
        let entry = &mut self.nodes[node.get()];
        let count = entry.used.entry(volume).or_default();
        *count += times;
        let attached = self.named.get(&entry.name).is_some_and(|named| named.attached.contains_key(&volume));
        if *count == times {
            self.users.entry(volume).or_default().push(node);
            if !attached {
                self.limits.attach(volume.driver(), node);
            }
        }
    }

    fn release_volume(&mut self, node: NodeIndex, volume: CountedVolume, times: u32) {
        let entry = &mut self.nodes[node.get()];
        let Some(count) = entry.used.get_mut(&volume) else { return };
        *count -= times;
        if *count > 0 {
            return;
        }
        entry.used.remove(&volume);
        if let Some(nodes) = self.users.get_mut(&volume) {
            nodes.retain(|other| *other != node);
            if nodes.is_empty() {
                self.users.remove(&volume);
            }
        }
        if !self.named.get(&entry.name).is_some_and(|named| named.attached.contains_key(&volume)) {
            self.limits.detach(volume.driver(), node);
        }
    }

    fn add_failures(&mut self, node: NodeIndex, failures: u32) {
        let count = &mut self.nodes[node.get()].failures;
        self.nodes_with_failures += usize::from(*count == 0 && failures > 0);
        *count += failures;
    }

    fn remove_failures(&mut self, node: NodeIndex, failures: u32) {
        let count = &mut self.nodes[node.get()].failures;
        *count -= failures;
        self.nodes_with_failures -= usize::from(*count == 0 && failures > 0);
    }
}

/// Returns the content of an object of this kind.
macro_rules! of_kind {
    ($object:expr, $kind:ident) => {
        match $object {
            Some(Object::$kind(object)) => Some(object),
            _ => None,
        }
    };
}

impl AttachedVolumes {
    /// Counts the volumes of a pod that is added to a node.
    fn add_volumes(&mut self, index: NodeIndex, pod: &Pod) {
        for volume in &pod.spec.volumes {
            match ClaimUse::of(pod, volume) {
                Some(ClaimUse { key, owner }) => {
                    *self.claims.entry(key).or_default().uses.entry((index, owner.cloned())).or_default() += 1;
                    self.add_use(key, index, owner, 1);
                }
                None => match volume {
                    Volume::InTree { csi: Ok(Some(csi)) } => self.use_volume(index, CountedVolume::Csi(*csi), 1),
                    Volume::InTree { csi: Err(_) } => self.add_failures(index, 1),
                    _ => {}
                },
            }
        }
    }

    /// Counts the volumes of a pod that is removed from a node.
    fn remove_volumes(&mut self, index: NodeIndex, pod: &Pod) {
        for volume in &pod.spec.volumes {
            match ClaimUse::of(pod, volume) {
                Some(ClaimUse { key, owner }) => {
                    self.remove_use(key, index, owner, 1);
                    self.change_claim(key, |entry| {
                        let of_node = (index, owner.cloned());
                        if let Some(count) = entry.uses.get_mut(&of_node) {
                            *count -= 1;
                            if *count == 0 {
                                entry.uses.remove(&of_node);
                            }
                        }
                    });
                }
                None => match volume {
                    Volume::InTree { csi: Ok(Some(csi)) } => self.release_volume(index, CountedVolume::Csi(*csi), 1),
                    Volume::InTree { csi: Err(_) } => self.remove_failures(index, 1),
                    _ => {}
                },
            }
        }
    }
}

impl Index for AttachedVolumes {
    fn set_node(&mut self, index: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        if self.nodes.len() <= index.get() {
            let empty = || NodeEntry { name: Symbol::EMPTY, used: Map::default(), failures: 0 };
            self.nodes.resize_with(index.get() + 1, empty);
        }
        match (old, new) {
            (None, Some(new)) => {
                self.nodes[index.get()].name = new.name;
                let named = self.named.entry(new.name).or_default();
                named.slot = Some(index);
                named.attached.keys().for_each(|volume| self.limits.attach(volume.driver(), index));
                self.limits.replace(index, None, named.csi.as_deref());
            }
            (Some(old), None) => {
                self.nodes[index.get()].name = Symbol::EMPTY;
                self.change_named(old.name, |named| named.slot = None);
                if let Some(named) = self.named.get(&old.name) {
                    named.attached.keys().for_each(|volume| self.limits.detach(volume.driver(), index));
                    self.limits.replace(index, named.csi.as_deref(), None);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        if !pod.spec.volumes.is_empty() {
            self.add_volumes(index, pod);
        }
    }

    #[inline]
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        if !pod.spec.volumes.is_empty() {
            self.remove_volumes(index, pod);
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let Some(either) = old.or(new) else { return };
        match either {
            Object::PersistentVolumeClaim(_) => {
                self.set_claim(of_kind!(old, PersistentVolumeClaim), of_kind!(new, PersistentVolumeClaim));
            }
            Object::PersistentVolume(volume) => self.set_volume(volume.name, of_kind!(new, PersistentVolume)),
            Object::StorageClass(class) => self.set_class(class.name, of_kind!(new, StorageClass)),
            Object::VolumeAttachment(_) => {
                self.set_attachment(of_kind!(old, VolumeAttachment), of_kind!(new, VolumeAttachment));
            }
            Object::CsiNode(node) => self.set_csi_node(node.name, of_kind!(new, CsiNode)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
