//! Conversion of the volumes of a pod.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{Uid, Volume};

use super::in_tree;
use crate::convert::uid;

/// Converts the volumes of a pod that matter for scheduling, in their order.
pub(in crate::convert) fn volumes(pod: &api::Pod, interner: &mut Interner) -> Box<[Volume]> {
    let meta = &pod.metadata;
    let name = meta.name.as_deref().unwrap_or_default();
    let mut volumes = Vec::new();
    for volume in pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
        if let Some(claim) = &volume.persistent_volume_claim {
            volumes.push(Volume::Claim { claim: interner.intern(&claim.claim_name) });
        } else if volume.ephemeral.is_some() {
            volumes.push(Volume::Ephemeral {
                claim: interner.intern(&format!("{name}-{}", volume.name)),
                pod: Uid(uid("Pod", meta)),
                pod_name: interner.intern(name),
            });
        }
        volumes.extend(volume.csi.as_ref().map(|csi| Volume::InlineCsi { driver: interner.intern(&csi.driver) }));
        volumes.extend(disk(volume, interner));
        volumes.extend(in_tree::inline(volume, interner).map(|csi| Volume::InTree { csi }));
    }
    volumes.into()
}

/// Converts a disk that pods on one node cannot share, at least not for writing.
fn disk(volume: &api::Volume, interner: &mut Interner) -> Option<Volume> {
    if let Some(disk) = &volume.gce_persistent_disk {
        let name = interner.intern(&disk.pd_name);
        return Some(Volume::GcePersistentDisk { name, read_only: disk.read_only.unwrap_or(false) });
    }
    if let Some(disk) = &volume.aws_elastic_block_store {
        return Some(Volume::AwsElasticBlockStore { id: interner.intern(&disk.volume_id) });
    }
    if let Some(disk) = &volume.iscsi {
        return Some(Volume::Iscsi { iqn: interner.intern(&disk.iqn), read_only: disk.read_only.unwrap_or(false) });
    }
    let disk = volume.rbd.as_ref()?;
    Some(Volume::Rbd {
        monitors: disk.monitors.iter().map(|monitor| interner.intern(monitor)).collect(),
        pool: interner.intern(disk.pool.as_deref().unwrap_or_default()),
        image: interner.intern(&disk.image),
        read_only: disk.read_only.unwrap_or(false),
    })
}
