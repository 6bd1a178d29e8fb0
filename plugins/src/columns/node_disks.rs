//! Disks that pods of a node mount, to find conflicts with the disks of new pods.

use schedc_core::column::Column;
use schedc_core::intern::Interner;
use schedc_core::map::Map;
use schedc_core::model::{Node, Pod, Volume};

/// GCE disks, EBS volumes, iSCSI targets and RBD images that the node's pods mount without a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDisks {
    /// The number of mounts of each disk.
    disks: Map<Volume, u32>,
}

impl NodeDisks {
    /// Returns whether the disk conflicts with a disk in use (`isVolumeConflict`).
    #[inline(always)]
    pub fn conflicts(&self, wanted: &Volume) -> bool {
        !self.disks.is_empty() && self.disks.keys().any(|used| exclude_each_other(wanted, used))
    }
}

/// Returns whether the volume can conflict with other volumes of its node.
pub(crate) fn is_disk(volume: &Volume) -> bool {
    match volume {
        Volume::GcePersistentDisk { .. }
        | Volume::AwsElasticBlockStore { .. }
        | Volume::Iscsi { .. }
        | Volume::Rbd { .. } => true,
        Volume::Claim { .. } | Volume::Ephemeral { .. } | Volume::InlineCsi { .. } | Volume::InTree { .. } => false,
    }
}

/// Returns whether two pods of one node cannot mount both volumes.
pub(crate) fn exclude_each_other(a: &Volume, b: &Volume) -> bool {
    use Volume::{AwsElasticBlockStore as Aws, GcePersistentDisk as Gce, Iscsi, Rbd};
    match (a, b) {
        (Gce { name, read_only }, Gce { name: other_name, read_only: other_read_only }) => {
            name == other_name && !(*read_only && *other_read_only)
        }
        (Aws { id }, Aws { id: other_id }) => id == other_id,
        (Iscsi { iqn, read_only }, Iscsi { iqn: other_iqn, read_only: other_read_only }) => {
            iqn == other_iqn && !(*read_only && *other_read_only)
        }
        (
            Rbd { monitors, pool, image, read_only },
            Rbd { monitors: other_monitors, pool: other_pool, image: other_image, read_only: other_read_only },
        ) => {
            (pool, image) == (other_pool, other_image)
                && !(*read_only && *other_read_only)
                && monitors.iter().any(|monitor| other_monitors.contains(monitor))
        }
        _ => false,
    }
}

impl NodeDisks {
    fn add_disks(&mut self, pod: &Pod) {
        for volume in pod.spec.volumes.iter().filter(|volume| is_disk(volume)) {
            *self.disks.entry(volume.clone()).or_default() += 1;
        }
    }

    fn remove_disks(&mut self, pod: &Pod) {
        for volume in pod.spec.volumes.iter().filter(|volume| is_disk(volume)) {
            if let Some(count) = self.disks.get_mut(volume) {
                *count -= 1;
                if *count == 0 {
                    self.disks.remove(volume);
                }
            }
        }
    }
}

impl Column for NodeDisks {
    fn build(_: &Node, _: &Interner) -> Self {
        NodeDisks::default()
    }

    #[inline]
    fn add_pod(&mut self, pod: &Pod) {
        if !pod.spec.volumes.is_empty() {
            self.add_disks(pod);
        }
    }

    #[inline]
    fn remove_pod(&mut self, pod: &Pod) {
        if !pod.spec.volumes.is_empty() {
            self.remove_disks(pod);
        }
    }
}
