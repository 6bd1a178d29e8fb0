//! The disks that pods of a node have mounted and that exclude each other.

use schedc_core::column::Column;
use schedc_core::intern::Interner;
use schedc_core::map::Map;
use schedc_core::model::{Node, Pod, Volume};

/// GCE disks, EBS volumes, iSCSI targets and RBD images in use by pods that name them without a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDisks {
    /// Each with the number of times that it is mounted.
    disks: Map<Volume, u32>,
}

impl NodeDisks {
    /// Whether a disk cannot be mounted beside those in use (`isVolumeConflict`).
    #[inline(always)]
    pub fn conflicts(&self, wanted: &Volume) -> bool {
        !self.disks.is_empty() && self.disks.keys().any(|used| exclude_each_other(wanted, used))
    }
}

/// Whether a volume can exclude others on its node.
pub(crate) fn is_disk(volume: &Volume) -> bool {
    match volume {
        Volume::GcePersistentDisk { .. }
        | Volume::AwsElasticBlockStore { .. }
        | Volume::Iscsi { .. }
        | Volume::Rbd { .. } => true,
        Volume::Claim { .. } | Volume::Ephemeral { .. } | Volume::InlineCsi { .. } | Volume::InTree { .. } => false,
    }
}

/// Whether two volumes cannot be mounted on one node by two pods.
pub(crate) fn exclude_each_other(a: &Volume, b: &Volume) -> bool {
    use Volume::{AwsElasticBlockStore as Aws, GcePersistentDisk as Gce, Iscsi, Rbd};
    match (a, b) {
        (Gce { name, read_only }, Gce { name: other, read_only: also }) => name == other && !(*read_only && *also),
        (Aws { id }, Aws { id: other }) => id == other,
        (Iscsi { iqn, read_only }, Iscsi { iqn: other, read_only: also }) => iqn == other && !(*read_only && *also),
        (
            Rbd { monitors, pool, image, read_only },
            Rbd { monitors: other_monitors, pool: other_pool, image: other_image, read_only: also },
        ) => {
            (pool, image) == (other_pool, other_image)
                && !(*read_only && *also)
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
