//! Events after which a node may attach more volumes.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::model::{CsiNode, Object, Volume, VolumeAttachment};

use super::NodeVolumeLimits;

impl EnqueueExtensions for NodeVolumeLimits {
    const EVENTS: &'static [Registration] = &[
        Registration::always(EventResource::CsiNode, Action::ADD),
        Registration::hinted(EventResource::CsiNode, Action::UPDATE),
        Registration::hinted(EventResource::Pod, Action::DELETE),
        Registration::hinted(EventResource::PersistentVolumeClaim, Action::ADD),
        Registration::hinted(EventResource::VolumeAttachment, Action::DELETE),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Pod(Some(deleted), _) => deleted.occupies_node() && deleted.spec.volumes.iter().any(may_count),
            EventObject::Object(_, Some(Object::PersistentVolumeClaim(claim))) => {
                claim.namespace == rejected.spec.namespace
                    && rejected.spec.volumes.iter().any(|volume| volume.claim() == Some(claim.name))
            }
            EventObject::Object(Some(Object::CsiNode(old)), Some(Object::CsiNode(new))) => any_limit_grew(old, new),
            EventObject::Object(Some(Object::VolumeAttachment(deleted)), None) => {
                return waits_for(&rejected.spec.volumes, deleted);
            }
            _ => true,
        }))
    }
}

/// Returns whether a volume can count against a limit: it has a claim, or it is an in-tree volume that a driver
/// replaces or that is invalid.
fn may_count(volume: &Volume) -> bool {
    volume.claim().is_some() || matches!(volume, Volume::InTree { csi: Ok(Some(_)) | Err(_) })
}

/// Returns whether a limit increased. A missing limit counts as 0, so removing a limit is no increase.
fn any_limit_grew(old: &CsiNode, new: &CsiNode) -> bool {
    let limit = |node: &CsiNode, driver| {
        let mut drivers = node.drivers.iter().rev();
        drivers.find(|(name, _)| *name == driver).and_then(|(_, limit)| *limit).unwrap_or(0)
    };
    new.drivers.iter().any(|&(driver, count)| count.unwrap_or(0) > limit(old, driver))
}

/// Returns whether the detachment may free capacity for one of the volumes: a named claim, or an in-tree volume of the
/// same driver. An invalid in-tree volume is an error, if it precedes the first such volume.
fn waits_for(volumes: &[Volume], detached: &VolumeAttachment) -> Result<QueueingHint, HintError> {
    for volume in volumes {
        match volume {
            Volume::Claim { .. } => return Ok(QueueingHint::Queue),
            Volume::InTree { csi: Err(error) } => return Err(HintError(error.to_string())),
            Volume::InTree { csi: Ok(Some(csi)) } if csi.driver == detached.driver => return Ok(QueueingHint::Queue),
            _ => {}
        }
    }
    Ok(QueueingHint::Skip)
}
