//! Events that make claims bindable.

use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::model::{Object, Volume};

use super::{VolumeBinding, VolumeBindingArgs};

impl EnqueueExtensions for VolumeBinding {
    const EVENTS: &'static [Registration] = &[
        Registration::always(EventResource::StorageClass, Action::ADD),
        Registration::hinted(EventResource::StorageClass, Action::UPDATE),
        Registration::hinted(EventResource::PersistentVolumeClaim, Action::ADD.or(Action::UPDATE)),
        Registration::always(EventResource::PersistentVolume, Action::ADD.or(Action::UPDATE)),
        Registration::always(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_LABEL)),
        Registration::always(EventResource::CsiNode, Action::ADD),
        Registration::hinted(EventResource::CsiNode, Action::UPDATE),
        Registration::hinted(EventResource::CsiDriver, Action::UPDATE),
        Registration::always(EventResource::CsiStorageCapacity, Action::ADD),
        Registration::hinted(EventResource::CsiStorageCapacity, Action::UPDATE),
    ];

    fn queueing_hint(&self, _: &VolumeBindingArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        let EventObject::Object(old, Some(new)) = object else { return Ok(QueueingHint::Queue) };
        Ok(QueueingHint::queue_if(match (old, new) {
            (_, Object::PersistentVolumeClaim(claim)) => {
                claim.namespace == rejected.spec.namespace
                    && rejected.spec.volumes.iter().any(|volume| volume.claim() == Some(claim.name))
            }
            (Some(Object::StorageClass(old)), Object::StorageClass(new)) => {
                old.allowed_topologies != new.allowed_topologies
            }
            (Some(Object::CsiNode(old)), Object::CsiNode(new)) => old.migrated_plugins != new.migrated_plugins,
            (Some(Object::CsiStorageCapacity(old)), Object::CsiStorageCapacity(new)) => {
                // A missing value is less than any number.
                new.largest_volume.is_some() && new.largest_volume > old.largest_volume
            }
            (Some(Object::CsiDriver(old)), Object::CsiDriver(new)) => {
                let is_inline = |volume: &Volume| *volume == Volume::InlineCsi { driver: new.name };
                old.storage_capacity && !new.storage_capacity && rejected.spec.volumes.iter().any(is_inline)
            }
            _ => true,
        }))
    }
}
