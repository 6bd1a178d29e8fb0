//! Events that can bring volumes and nodes into one zone.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::model::{Object, PersistentVolume, Volume};

use super::VolumeZone;

impl EnqueueExtensions for VolumeZone {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::StorageClass, Action::ADD),
        Registration::always(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_LABEL)),
        Registration::hinted(EventResource::PersistentVolumeClaim, Action::ADD.or(Action::UPDATE)),
        Registration::always(EventResource::PersistentVolume, Action::ADD),
        Registration::hinted(EventResource::PersistentVolume, Action::UPDATE),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        let EventObject::Object(old, Some(new)) = object else { return Ok(QueueingHint::Queue) };
        Ok(QueueingHint::queue_if(match (old, new) {
            (_, Object::StorageClass(class)) => class.wait_for_first_consumer == Some(true),
            (_, Object::PersistentVolumeClaim(claim)) => {
                let volumes = &rejected.spec.volumes;
                claim.namespace == rejected.spec.namespace && volumes.contains(&Volume::Claim { claim: claim.name })
            }
            // The volume need not be one of the pod's volumes.
            (Some(Object::PersistentVolume(old)), Object::PersistentVolume(new)) => !same_zones(old, new),
            _ => true,
        }))
    }
}

/// Returns whether the labels have equal sets of zones and regions, in any order.
fn same_zones(a: &PersistentVolume, b: &PersistentVolume) -> bool {
    let within = |a: &PersistentVolume, b: &PersistentVolume| {
        a.zones.iter().all(|label| {
            let mut others = b.zones.iter();
            let other = others.find(|other| other.key == label.key);
            other.is_some_and(|other| label.values.iter().all(|value| other.values.contains(value)))
        })
    };
    within(a, b) && within(b, a)
}
