//! VolumeAttachments and CSINodes, by node.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{CsiNode, CsiVolume, NodeIndex, VolumeAttachment};

use super::{AttachedVolumes, CountedVolume};

/// State of a node name, kept while the node, its CSINode or its VolumeAttachments exist.
#[derive(Debug, Default)]
pub(super) struct NodeNameState {
    pub(super) slot: Option<NodeIndex>,
    pub(super) csi: Option<Arc<CsiNode>>,
    /// The volumes that VolumeAttachments attach to the node, with the number of VolumeAttachments.
    pub(super) attached: Map<CountedVolume, u32>,
}

impl AttachedVolumes {
    pub(super) fn change_named(&mut self, name: Symbol, change: impl FnOnce(&mut NodeNameState)) {
        let named = self.named.entry(name).or_default();
        change(named);
        if named.slot.is_none() && named.csi.is_none() && named.attached.is_empty() {
            self.named.remove(&name);
        }
    }

    /// Returns the volume that a VolumeAttachment attaches, if it is known (`getNodeVolumeAttachmentInfo`).
    fn attached_by(&self, attachment: &VolumeAttachment) -> Option<CountedVolume> {
        let csi = self.volumes.get(&attachment.volume?)?.volume.as_ref()?.csi?;
        let volume = CsiVolume { driver: attachment.driver, handle: csi.handle };
        (attachment.driver != Symbol::EMPTY).then_some(CountedVolume::Csi(volume))
    }

    pub(super) fn attach(&mut self, attachment: &VolumeAttachment) {
        let Some(volume) = self.attached_by(attachment) else { return };
        let named = self.named.entry(attachment.node).or_default();
        let count = named.attached.entry(volume).or_default();
        *count += 1;
        if let (1, Some(slot)) = (*count, named.slot)
            && !self.nodes[slot.get()].used.contains_key(&volume)
        {
            self.limits.attach(volume.driver(), slot);
        }
    }

    pub(super) fn detach(&mut self, attachment: &VolumeAttachment) {
        let Some(volume) = self.attached_by(attachment) else { return };
        let Some(named) = self.named.get_mut(&attachment.node) else { return };
        let Some(count) = named.attached.get_mut(&volume) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        if let Some(slot) = named.slot
            && !self.nodes[slot.get()].used.contains_key(&volume)
        {
            self.limits.detach(volume.driver(), slot);
        }
        self.change_named(attachment.node, |named| _ = named.attached.remove(&volume));
    }

    pub(super) fn set_attachment(&mut self, old: Option<&Arc<VolumeAttachment>>, new: Option<&Arc<VolumeAttachment>>) {
        if let Some(old) = old {
            self.detach(old);
            if let Some(volume) = old.volume {
                self.change_volume(volume, |entry| entry.attachments.retain(|other| other.name != old.name));
            }
        }
        if let Some(new) = new {
            if let Some(volume) = new.volume {
                self.change_volume(volume, |entry| entry.attachments.push(new.clone()));
            }
            self.attach(new);
        }
    }

    pub(super) fn set_csi_node(&mut self, name: Symbol, new: Option<&Arc<CsiNode>>) {
        let named = self.named.entry(name).or_default();
        let old = std::mem::replace(&mut named.csi, new.cloned());
        if let Some(slot) = named.slot {
            self.limits.replace(slot, old.as_deref(), new.map(|new| &**new));
        }
        self.change_named(name, |_| ());
    }
}
