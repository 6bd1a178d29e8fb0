//! Claims, the volumes that they count as, and their users.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{
    NodeIndex, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Uid, Volume, VolumeAttachment,
};

use super::{AttachedVolumes, CountedVolume};

/// Namespace and name.
pub(super) type ClaimKey = (Symbol, Symbol);

#[derive(Debug, Default)]
pub(super) struct ClaimEntry {
    pub(super) claim: Option<Arc<PersistentVolumeClaim>>,
    /// The volume that the claim counts as.
    pub(super) counted: Option<CountedVolume>,
    /// Number of uses by pods on each node. Pods that must own the claim are counted separately, by uid.
    pub(super) uses: Map<(NodeIndex, Option<Uid>), u32>,
}

#[derive(Debug, Default)]
pub(super) struct VolumeEntry {
    pub(super) volume: Option<Arc<PersistentVolume>>,
    /// The claims that refer to the volume.
    pub(super) claims: Vec<ClaimKey>,
    pub(super) attachments: Vec<Arc<VolumeAttachment>>,
}

impl ClaimEntry {
    /// Returns whether the volumes of a pod that uses the claim cannot be counted.
    fn fails(&self, (_, name): ClaimKey, owner: Option<&Uid>) -> bool {
        match (&self.claim, owner) {
            (Some(claim), Some(owner)) => claim.controller.as_ref() != Some(owner),
            _ => name == Symbol::EMPTY,
        }
    }
}

/// A pod's use of a claim.
pub(super) struct ClaimUse<'a> {
    pub(super) key: ClaimKey,
    /// The pod, if it must own the claim.
    pub(super) owner: Option<&'a Uid>,
}

impl<'a> ClaimUse<'a> {
    pub(super) fn of(pod: &Pod, volume: &'a Volume) -> Option<Self> {
        let owner = match volume {
            Volume::Ephemeral { pod, .. } => Some(pod),
            _ => None,
        };
        Some(ClaimUse { key: (pod.spec.namespace, volume.claim()?), owner })
    }
}

impl AttachedVolumes {
    /// Returns the volume that a claim counts as in the current state.
    fn count_as(&self, claim: &PersistentVolumeClaim) -> Option<CountedVolume> {
        let entry = claim.volume.and_then(|volume| self.volumes.get(&volume));
        if let Some(volume) = entry.and_then(|entry| entry.volume.as_ref()) {
            let migrated = || Some(volume.migration.as_ref()?.volume.as_ref().ok()?.csi);
            let csi = volume.csi.or_else(migrated)?;
            return (csi.driver != Symbol::EMPTY && csi.handle != Symbol::EMPTY).then_some(CountedVolume::Csi(csi));
        }
        let driver = *self.drivers_of_classes.get(&claim.class)?;
        (claim.class != Symbol::EMPTY).then_some(CountedVolume::Unbound {
            driver,
            namespace: claim.namespace,
            claim: claim.name,
        })
    }

    /// Counts uses of a claim.
    pub(super) fn add_use(&mut self, key: ClaimKey, node: NodeIndex, owner: Option<&Uid>, times: u32) {
        let Some(entry) = self.claims.get(&key) else { return };
        let (failed, counted) = (entry.fails(key, owner), entry.counted);
        if failed {
            self.add_failures(node, times);
        }
        if let Some(volume) = counted {
            self.use_volume(node, volume, times);
        }
    }

    pub(super) fn remove_use(&mut self, key: ClaimKey, node: NodeIndex, owner: Option<&Uid>, times: u32) {
        let Some(entry) = self.claims.get(&key) else { return };
        let (failed, counted) = (entry.fails(key, owner), entry.counted);
        if failed {
            self.remove_failures(node, times);
        }
        if let Some(volume) = counted {
            self.release_volume(node, volume, times);
        }
    }

    /// Applies a change that affects claims, and updates the counts of their volumes.
    fn with_claims_uncounted(&mut self, keys: &[ClaimKey], change: impl FnOnce(&mut Self)) {
        let uses = |index: &Self, key: &ClaimKey| -> Vec<_> {
            let entry = index.claims.get(key);
            entry
                .into_iter()
                .flat_map(|entry| &entry.uses)
                .map(|((node, owner), times)| (*node, owner.clone(), *times))
                .collect()
        };
        for key in keys {
            for (node, owner, times) in uses(self, key) {
                self.remove_use(*key, node, owner.as_ref(), times);
            }
        }
        change(self);
        for key in keys {
            let counted = self.claims.get(key).and_then(|entry| self.count_as(entry.claim.as_ref()?));
            if let Some(entry) = self.claims.get_mut(key) {
                entry.counted = counted;
            }
            for (node, owner, times) in uses(self, key) {
                self.add_use(*key, node, owner.as_ref(), times);
            }
        }
    }

    pub(super) fn set_claim(
        &mut self,
        old: Option<&Arc<PersistentVolumeClaim>>,
        new: Option<&Arc<PersistentVolumeClaim>>,
    ) {
        let Some(key) = old.or(new).map(|claim| (claim.namespace, claim.name)) else { return };
        self.with_claims_uncounted(&[key], |index| {
            if let Some(volume) = old.and_then(|old| old.volume) {
                index.change_volume(volume, |entry| entry.claims.retain(|claim| *claim != key));
            }
            if let Some(volume) = new.and_then(|new| new.volume) {
                index.change_volume(volume, |entry| entry.claims.push(key));
            }
            index.change_claim(key, |entry| {
                entry.claim = new.cloned();
                if new.is_some() {
                    // The decision about the first pod that uses the claim then allocates no memory.
                    entry.uses.reserve(1);
                }
            });
        });
    }

    pub(super) fn set_volume(&mut self, name: Symbol, new: Option<&Arc<PersistentVolume>>) {
        let entry = self.volumes.get(&name);
        let (claims, attachments) =
            entry.map(|entry| (entry.claims.clone(), entry.attachments.clone())).unwrap_or_default();
        attachments.iter().for_each(|attachment| self.detach(attachment));
        self.with_claims_uncounted(&claims, |index| index.change_volume(name, |entry| entry.volume = new.cloned()));
        attachments.iter().for_each(|attachment| self.attach(attachment));
    }

    pub(super) fn set_class(&mut self, name: Symbol, new: Option<&Arc<StorageClass>>) {
        let of_class = |entry: &ClaimEntry| entry.claim.as_ref().is_some_and(|claim| claim.class == name);
        let claims: Vec<_> = self.claims.iter().filter(|(_, entry)| of_class(entry)).map(|(key, _)| *key).collect();
        self.with_claims_uncounted(&claims, |index| {
            index.drivers_of_classes.remove(&name);
            index.drivers_of_classes.extend(new.and_then(|class| class.driver).map(|driver| (name, driver)));
        });
    }

    pub(super) fn change_claim(&mut self, key: ClaimKey, change: impl FnOnce(&mut ClaimEntry)) {
        let entry = self.claims.entry(key).or_default();
        change(entry);
        if entry.claim.is_none() && entry.uses.is_empty() {
            self.claims.remove(&key);
        }
    }

    pub(super) fn change_volume(&mut self, name: Symbol, change: impl FnOnce(&mut VolumeEntry)) {
        let entry = self.volumes.entry(name).or_default();
        change(entry);
        if entry.volume.is_none() && entry.claims.is_empty() && entry.attachments.is_empty() {
            self.volumes.remove(&name);
        }
    }
}
