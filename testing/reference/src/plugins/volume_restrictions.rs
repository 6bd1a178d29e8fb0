//! VolumeRestrictions: some disks are limited to one pod of a node, and a ReadWriteOncePod claim to one pod.

use schedc_core::model::{AccessMode, Node, Volume};

use super::volume_binding::claim;
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct VolumeRestrictions;

impl Plugin for VolumeRestrictions {
    fn name(&self) -> &'static str {
        "VolumeRestrictions"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        let mut has_disks = false;
        for volume in &cx.pod.spec.volumes {
            match volume {
                Volume::Claim { claim: name } if claim(cx, *name).is_none() => {
                    return PreFilter::Reject(Rejection::unresolvable(format!(
                        "persistentvolumeclaim {:?} not found",
                        cx.text(*name)
                    )));
                }
                Volume::GcePersistentDisk { .. }
                | Volume::AwsElasticBlockStore { .. }
                | Volume::Iscsi { .. }
                | Volume::Rbd { .. } => has_disks = true,
                _ => {}
            }
        }
        if has_disks || claim_is_taken(cx) { PreFilter::Ready } else { PreFilter::Skip }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        for theirs in cx.pods_on(node).flat_map(|placed| &placed.pod.spec.volumes) {
            if cx.pod.spec.volumes.iter().any(|own| conflict(own, theirs)) {
                return Err(Rejection::unschedulable("node(s) had no available disk"));
            }
        }
        if claim_is_taken(cx) {
            return Err(Rejection::unschedulable(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by \
                 another pod",
            ));
        }
        Ok(())
    }
}

fn conflict(own: &Volume, theirs: &Volume) -> bool {
    use Volume::{AwsElasticBlockStore, GcePersistentDisk, Iscsi, Rbd};
    match (own, theirs) {
        (GcePersistentDisk { name: a, read_only: ro_a }, GcePersistentDisk { name: b, read_only: ro_b }) => {
            a == b && !(*ro_a && *ro_b)
        }
        (AwsElasticBlockStore { id: a }, AwsElasticBlockStore { id: b }) => a == b,
        (Iscsi { iqn: a, read_only: ro_a }, Iscsi { iqn: b, read_only: ro_b }) => a == b && !(*ro_a && *ro_b),
        (
            Rbd { monitors: mon_a, pool: pool_a, image: a, read_only: ro_a },
            Rbd { monitors: mon_b, pool: pool_b, image: b, read_only: ro_b },
        ) => mon_a.iter().any(|m| mon_b.contains(m)) && pool_a == pool_b && a == b && !(*ro_a && *ro_b),
        _ => false,
    }
}

/// Returns whether an existing pod uses a ReadWriteOncePod claim of the pod.
fn claim_is_taken(cx: &Cycle<'_>) -> bool {
    let exclusive =
        |name| claim(cx, name).is_some_and(|claim| claim.access_modes.contains(&AccessMode::ReadWriteOncePod));
    let own = cx.pod.spec.volumes.iter().filter_map(|volume| match volume {
        Volume::Claim { claim } if exclusive(*claim) => Some(*claim),
        _ => None,
    });
    let own: Vec<_> = own.collect();
    let in_namespace = cx.cluster.running().filter(|(placed, _)| placed.pod.spec.namespace == cx.pod.spec.namespace);
    in_namespace.flat_map(|(placed, _)| &placed.pod.spec.volumes).any(|volume| match volume {
        Volume::Claim { claim } => own.contains(claim),
        _ => false,
    })
}
